package file_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/memory/file"
	"github.com/org/foreman-action/memory/memorytest"
)

func open(t testing.TB, dir string) *file.Store {
	t.Helper()
	f, err := file.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// tree lists the files below dir, slash-separated and sorted.
func tree(t testing.TB, dir string) []string {
	t.Helper()
	var list []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(dir, path)
			list = append(list, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(list)
	return list
}

func TestFile(t *testing.T) {
	t.Parallel()
	memorytest.Run(t, func(t *testing.T) memory.Store { return open(t, filepath.Join(t.TempDir(), "deep", "memory")) })
}

func TestOpen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	write(t, plain, "")
	bad := []string{"", plain}
	if runtime.GOOS != "windows" { // on Windows a path below a file is missing
		bad = append(bad, filepath.Join(plain, "below"))
	}
	for _, bad := range bad {
		if _, err := file.Open(bad); err == nil {
			t.Errorf("Open(%q): got no error", bad)
		}
	}
	missing := filepath.Join(dir, "missing")
	f := open(t, missing)
	if _, err := f.Load(t.Context(), "org/repo", 7); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("Load: got %v, want ErrNotFound", err)
	}
	if _, err := os.Stat(missing); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("opening and loading made the directory: %v", err)
	}
}

// TestFileLayout pins file names and modes, because other programs may read the files.
func TestFileLayout(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "m")
	if err := open(t, dir).Save(t.Context(), memorytest.Sample("Org/Re.po", 7)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{".lock", "org/re.po/7.json"}, tree(t, dir)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	for path, want := range map[string]fs.FileMode{"": 0o755, "org/re.po": 0o755, "org/re.po/7.json": 0o644} {
		info, err := os.Stat(filepath.Join(dir, path))
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); runtime.GOOS != "windows" && (got&^want != 0 || got&0o700 != want&0o700) {
			t.Errorf("%s: got mode %o, want %o", path, got, want)
		}
	}
}

// TestFileBroken checks a file that is not a record: Load returns ErrBroken, and Save keeps the
// file under another name.
func TestFileBroken(t *testing.T) {
	t.Parallel()
	good := string(read(t, "../testdata/record.json"))
	tests := map[string]string{
		"empty":     "",
		"truncated": good[:len(good)/2],
		"foreign":   strings.Replace(good, `"org/repo"`, `"org/other"`, 1),
		"too large": good + strings.Repeat(" ", memory.MaxSize),
	}
	for name, content := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			file := filepath.Join(dir, "org/repo/42.json")
			write(t, file, content)
			f := open(t, dir)
			if _, err := f.Load(t.Context(), "org/repo", 42); !errors.Is(err, memory.ErrBroken) || !strings.Contains(err.Error(), "org/repo/42.json") {
				t.Errorf("Load: got %v, want ErrBroken and the file's name", err)
			}
			stale := memorytest.Sample("org/repo", 42)
			stale.Revision = 3
			if err := f.Save(t.Context(), stale); !errors.Is(err, memory.ErrConflict) {
				t.Errorf("Save over it at revision 3: got %v, want ErrConflict", err)
			}
			if got := string(read(t, file)); got != content {
				t.Errorf("the broken file changed without a save: %q", got)
			}
			if err := f.Save(t.Context(), memorytest.Sample("org/repo", 42)); err != nil {
				t.Fatalf("Save over it: %v", err)
			}
			if r, err := f.Load(t.Context(), "org/repo", 42); err != nil || r.Revision != 1 {
				t.Errorf("Load after Save: got revision %d and %v", r.Revision, err)
			}
			kept, err := filepath.Glob(filepath.Join(dir, "org/repo/42.broken-*.json"))
			if err != nil || len(kept) != 1 {
				t.Fatalf("kept aside: got %q and %v, want one file", kept, err)
			}
			if got := string(read(t, kept[0])); got != content {
				t.Error("what was kept aside is not what was there")
			}
		})
	}
}

func TestFileNewer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "org/repo/42.json")
	content := `{"schema":4,"repo":{"new":"shape"}}`
	write(t, file, content)
	f := open(t, dir)
	if _, err := f.Load(t.Context(), "org/repo", 42); !errors.Is(err, memory.ErrNewer) {
		t.Errorf("Load: got %v, want ErrNewer", err)
	}
	if err := f.Save(t.Context(), memorytest.Sample("org/repo", 42)); !errors.Is(err, memory.ErrNewer) {
		t.Errorf("Save: got %v, want ErrNewer", err)
	}
	if diff := cmp.Diff([]string{".lock", "org/repo/42.json"}, tree(t, dir)); diff != "" || string(read(t, file)) != content {
		t.Errorf("the newer file was touched:\n%s", diff)
	}
}

// TestFileNotRegular puts links and a directory in the places of files.
func TestFileNotRegular(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	write(t, filepath.Join(outside, "repo/42.json"), string(read(t, "../testdata/record.json")))
	tests := map[string]func(t *testing.T, dir string){
		"directory": func(t *testing.T, dir string) { mkdir(t, filepath.Join(dir, "org/repo/42.json")) },
		"link to a file": func(t *testing.T, dir string) {
			mkdir(t, filepath.Join(dir, "org/repo"))
			link(t, filepath.Join(outside, "repo/42.json"), filepath.Join(dir, "org/repo/42.json"))
		},
		"link to a directory": func(t *testing.T, dir string) { link(t, outside, filepath.Join(dir, "org")) },
		"link for the temporary file": func(t *testing.T, dir string) {
			mkdir(t, filepath.Join(dir, "org/repo"))
			link(t, filepath.Join(outside, "new"), filepath.Join(dir, "org/repo/42.json.tmp"))
		},
		"link for the lock": func(t *testing.T, dir string) { link(t, filepath.Join(outside, "new"), filepath.Join(dir, ".lock")) },
	}
	before := tree(t, outside)
	for name, plant := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			plant(t, dir)
			f := open(t, dir)
			if r, err := f.Load(t.Context(), "org/repo", 42); err == nil {
				t.Errorf("Load: got a record of %d tasks from there", len(r.Tasks))
			}
			// Save may fail, but must not write outside of the folder.
			_ = f.Save(t.Context(), memorytest.Sample("org/repo", 42))
			if diff := cmp.Diff(before, tree(t, outside)); diff != "" {
				t.Errorf("files outside (-before +after):\n%s", diff)
			}
		})
	}
}

// TestFileAside saves over objects that are not files, several times, and also when the new name
// is taken.
func TestFileAside(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := open(t, dir)
	record, ledger := filepath.Join(dir, "org/repo/42.json"), filepath.Join(dir, ledgerFile)
	write(t, record, "")
	if err := errors.Join(f.Save(t.Context(), memorytest.Sample("org/repo", 42)), os.Remove(record)); err != nil {
		t.Fatal(err)
	}
	for n := range 3 {
		write(t, filepath.Join(record, "kept"), "")
		if err := f.Save(t.Context(), memorytest.Sample("org/repo", 42)); err != nil {
			t.Fatalf("Save over directory %d: %v", n, err)
		}
		write(t, filepath.Join(ledger, "kept"), "")
		if err := f.Begin(t.Context(), memorytest.SampleLedger(sampleKey)); err != nil {
			t.Fatalf("Begin over directory %d: %v", n, err)
		}
		for _, name := range []string{record, ledger} {
			kept, err := filepath.Glob(strings.TrimSuffix(name, ".json") + ".broken-*/kept")
			if err != nil || len(kept) != n+1 {
				t.Errorf("%s: kept aside %q, %v", name, kept, err)
			}
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
		}
	}
	// A directory has the name to which the empty file would be renamed.
	empty := filepath.Join(dir, "org/repo/42.broken-e3b0c44298fc.json")
	if err := os.Remove(empty); err != nil {
		t.Fatal(err)
	}
	mkdir(t, filepath.Join(empty, "taken"))
	write(t, record, "")
	if err := f.Save(t.Context(), memorytest.Sample("org/repo", 42)); err != nil {
		t.Errorf("Save over an empty file: %v", err)
	}
}

// TestFileLeftover saves a record where a killed process left its files.
func TestFileLeftover(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "org/repo/7.json.tmp"), "{ half a rec")
	write(t, filepath.Join(dir, ".lock"), "of a process that is gone")
	f := open(t, dir)
	if _, err := f.Load(t.Context(), "org/repo", 7); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("Load: got %v, want ErrNotFound", err)
	}
	if err := f.Save(t.Context(), memorytest.Sample("org/repo", 7)); err != nil {
		t.Fatalf("Save: %v", err)
	}
	if diff := cmp.Diff([]string{".lock", "org/repo/7.json"}, tree(t, dir)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestFileReadOnly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	// A file in place of the directory makes writes fail, even for root.
	write(t, filepath.Join(dir, "org"), "")
	err := open(t, dir).Save(t.Context(), memorytest.Sample("org/repo", 7))
	if err == nil || !strings.HasPrefix(err.Error(), "save memory org/repo/7.json: ") {
		t.Errorf("got %v, want an error that names the file", err)
	}
}

// holdEnv names the environment variable that makes the test binary hold the lock of a directory
// until it is killed.
const holdEnv = "MEMORY_TEST_HOLD"

// TestFileLock checks that Save waits while another process holds the lock, and continues when
// that process is killed.
func TestFileLock(t *testing.T) {
	if dir := os.Getenv(holdEnv); dir != "" {
		hold(t, dir)
		return
	}
	t.Parallel()
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run=^TestFileLock$")
	cmd.Env = append(os.Environ(), holdEnv+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "locked\n" {
		t.Fatalf("the other process says %q, %v", line, err)
	}
	f := open(t, dir)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := f.Save(ctx, memorytest.Sample("org/repo", 7)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Save while it holds the lock: got %v, want the deadline", err)
	}
	if _, err := f.Load(t.Context(), "org/repo", 7); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("Load while it holds the lock: got %v, want ErrNotFound", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := f.Save(t.Context(), memorytest.Sample("org/repo", 7)); err != nil {
		t.Errorf("Save after its death: %v", err)
	}
}

// TestFileLockGivesUp checks that a writer gives up after its own limit, and that its error is not
// the end of a context that has not ended.
func TestFileLockGivesUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		root, err := os.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		unlock, err := file.Lock(t.Context(), root)
		if err != nil {
			t.Fatal(err)
		}
		defer unlock()
		err = open(t, dir).Save(t.Context(), memorytest.Sample("org/repo", 7))
		if err == nil || errors.Is(err, context.DeadlineExceeded) || !strings.HasSuffix(err.Error(), "wait for the lock of another process: gave up after 10s") {
			t.Errorf("got %v", err)
		}
	})
}

// hold acquires the lock of dir, prints a line, and waits to be killed: its input never ends.
func hold(t *testing.T, dir string) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	unlock, err := file.Lock(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	os.Stdout.WriteString("locked\n")
	io.Copy(io.Discard, os.Stdin)
}

func read(t testing.TB, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func write(t testing.TB, file, content string) {
	t.Helper()
	mkdir(t, filepath.Dir(file))
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func mkdir(t testing.TB, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
}

func link(t testing.TB, to, from string) {
	t.Helper()
	if err := os.Symlink(to, from); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
}
