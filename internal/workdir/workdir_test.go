package workdir_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/org/foreman-action/internal/testkit/programtest"
	"github.com/org/foreman-action/internal/workdir"
)

// tree creates a directory with a file, a folder, and links of every kind. It also creates a secret
// file outside of the directory.
func tree(t testing.TB) (dir workdir.Dir, secret string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("needs links and named pipes")
	}
	base := t.TempDir()
	secret = filepath.Join(base, "secret.json")
	root := filepath.Join(base, "work")
	must(t, os.WriteFile(secret, []byte("secret"), 0o600))
	must(t, os.MkdirAll(filepath.Join(root, "sub"), 0o755))
	must(t, os.WriteFile(filepath.Join(root, "file.json"), []byte("inside"), 0o640))
	must(t, os.WriteFile(filepath.Join(root, "sub/file.json"), []byte("below"), 0o600))
	must(t, os.WriteFile(filepath.Join(root, "empty.json"), nil, 0o600))
	must(t, os.WriteFile(filepath.Join(root, "large.json"), bytes.Repeat([]byte("x"), 101), 0o600))
	must(t, programtest.NamedPipe(filepath.Join(root, "pipe")))
	for name, target := range map[string]string{
		"inner.json": "file.json", "sub/up.json": "../file.json", "folder": "sub", "out.json": "../secret.json", "absolute.json": secret,
		"absolute-inside.json": filepath.Join(root, "file.json"), "parent": "..", "around.json": "sub/../../work/file.json", "dangling.json": "none.json",
		"dangling-out.json": "../none.json", "loop.json": "loop.json", "device": "/dev/zero",
	} {
		must(t, os.Symlink(target, filepath.Join(root, name)))
	}
	return workdir.Dir(root), secret
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// errAny stands for an error of the operating system.
var errAny = errors.New("any")

func TestRead(t *testing.T) {
	t.Parallel()
	dir, secret := tree(t)
	tests := []struct {
		name string
		want string
		err  error
	}{
		{"file.json", "inside", nil},
		{"./sub//../file.json", "inside", nil},
		{"none/../file.json", "inside", nil},
		{"sub/file.json", "below", nil},
		{"inner.json", "inside", nil},
		{"sub/up.json", "inside", nil},
		{"folder/file.json", "below", nil},
		{"folder/up.json", "inside", nil},
		{"empty.json", "", nil},
		{"large.json", "", workdir.ErrTooLarge},
		{"none.json", "", fs.ErrNotExist},
		{"none/none.json", "", fs.ErrNotExist},
		{"file.json/none.json", "", fs.ErrNotExist},
		{"dangling.json", "", fs.ErrNotExist},
		{"sub", "", workdir.ErrNoFile},
		{".", "", workdir.ErrNoFile},
		{"folder", "", workdir.ErrNoFile},
		{"file.json/", "", workdir.ErrNoFile},
		{"../", "", workdir.ErrEscape},
		{"pipe", "", workdir.ErrNoFile},
		{"..", "", workdir.ErrEscape},
		{"../secret.json", "", workdir.ErrEscape},
		{"sub/../../secret.json", "", workdir.ErrEscape},
		{"none/../../secret.json", "", workdir.ErrEscape},
		{"../work/file.json", "", workdir.ErrEscape},
		{secret, "", workdir.ErrEscape},
		{"/etc/hostname", "", workdir.ErrEscape},
		{"/dev/stdin", "", workdir.ErrEscape},
		{"out.json", "", workdir.ErrEscape},
		{"absolute.json", "", workdir.ErrEscape},
		{"absolute-inside.json", "", workdir.ErrEscape},
		{"parent/secret.json", "", workdir.ErrEscape},
		{"parent/work/file.json", "", workdir.ErrEscape},
		{"around.json", "", workdir.ErrEscape},
		{"dangling-out.json", "", workdir.ErrEscape},
		{"device", "", workdir.ErrEscape},
		{"", "", workdir.ErrNoFile},
		{"loop.json", "", errAny},
		{"file.json\x00", "", errAny},
		{strings.Repeat("x", 300), "", errAny},
	}
	for _, tt := range tests {
		got, err := dir.Read(tt.name, 100)
		if string(got) != tt.want || !matches(err, tt.err) {
			t.Errorf("%q: got %q, %v, want %q, %v", tt.name, got, err, tt.want, tt.err)
		}
	}
	if _, err := (dir + "/none").Read("file.json", 100); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v of a directory that is not there", err)
	}
}

// matches compares an error with a sentinel. errAny matches an error that is none of the package's
// own.
func matches(err, want error) bool {
	if want != errAny {
		return errors.Is(err, want)
	}
	for _, e := range []error{nil, workdir.ErrEscape, workdir.ErrNoFile, workdir.ErrTooLarge, fs.ErrNotExist, fs.ErrExist} {
		if errors.Is(err, e) {
			return false
		}
	}
	return true
}

func TestWrite(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		path string // of the file that is written, below the directory
		err  error
	}{
		{"new.json", "new.json", nil},
		{"file.json", "file.json", nil},
		{"a/b/c.json", "a/b/c.json", nil},
		{"folder/new.json", "sub/new.json", nil},
		{"sub/../new.json", "new.json", nil},
		{"sub", "", workdir.ErrNoFile},
		{"new/", "", workdir.ErrNoFile},
		{".", "", workdir.ErrNoFile},
		{"pipe", "", workdir.ErrNoFile},
		{"inner.json", "", workdir.ErrNoFile},
		{"dangling.json", "", workdir.ErrNoFile},
		{"loop.json", "", errAny},
		{"file.json/new.json", "", errAny},
		{"out.json", "", workdir.ErrEscape},
		{"absolute.json", "", workdir.ErrEscape},
		{"dangling-out.json", "", workdir.ErrEscape},
		{"parent/new.json", "", workdir.ErrEscape},
		{"parent/secret.json", "", workdir.ErrEscape},
		{"../secret.json", "", workdir.ErrEscape},
		{"/secret.json", "", workdir.ErrEscape},
		{".git/hooks/pre-commit", "", workdir.ErrEscape},
		{".git", "", workdir.ErrEscape},
		{"sub/.GIT/config", "", workdir.ErrEscape},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir, secret := tree(t)
			err := dir.Write(tt.name, []byte("written"))
			if !matches(err, tt.err) {
				t.Errorf("got %v, want %v", err, tt.err)
			}
			if got, _ := os.ReadFile(filepath.Join(string(dir), tt.path)); tt.err == nil && string(got) != "written" {
				t.Errorf("got %q", got)
			}
			if got, err := os.ReadFile(secret); err != nil || string(got) != "secret" {
				t.Errorf("the file outside holds %q, %v", got, err)
			}
			left(t, filepath.Dir(string(dir)))
		})
	}
}

// left fails the test if a write left temporary files behind, or files outside of the directory.
func left(t *testing.T, base string) {
	t.Helper()
	beside, err := os.ReadDir(base)
	if err != nil || len(beside) != 2 {
		t.Errorf("beside the directory lie %v, %v", beside, err)
	}
	must(t, filepath.WalkDir(base, func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".tmp") {
			t.Errorf("%s is left", path)
		}
		return err
	}))
}

// TestWriteMode checks that a replaced file keeps its permissions.
func TestWriteMode(t *testing.T) {
	t.Parallel()
	dir, _ := tree(t)
	must(t, os.Chmod(filepath.Join(string(dir), "file.json"), 0o604))
	must(t, dir.Write("file.json", nil))
	info, err := os.Stat(filepath.Join(string(dir), "file.json"))
	if err != nil || info.Mode().Perm() != 0o604 || info.Size() != 0 {
		t.Errorf("got %v, %v", info, err)
	}
}

func TestCreate(t *testing.T) {
	t.Parallel()
	dir, _ := tree(t)
	tests := []struct {
		name string
		err  error
	}{
		{"new/a.json", nil},
		{"new/a.json", fs.ErrExist},
		{"file.json", fs.ErrExist},
		{"dangling.json", fs.ErrExist},
		{"dangling-out.json", fs.ErrExist},
		{"sub", fs.ErrExist},
		{"parent/a.json", workdir.ErrEscape},
		{"../a.json", workdir.ErrEscape},
	}
	for _, tt := range tests {
		if err := dir.Create(tt.name, []byte("created")); !matches(err, tt.err) {
			t.Errorf("%s: got %v, want %v", tt.name, err, tt.err)
		}
	}
	if got, err := os.ReadFile(filepath.Join(string(dir), "new/a.json")); err != nil || string(got) != "created" {
		t.Errorf("got %q, %v", got, err)
	}
	left(t, filepath.Dir(string(dir)))
}

func TestRemove(t *testing.T) {
	t.Parallel()
	dir, secret := tree(t)
	tests := []struct {
		name string
		err  error
	}{
		{"file.json", nil},
		{"none.json", fs.ErrNotExist},
		{"out.json", nil}, // removes the link itself
		{"parent/secret.json", workdir.ErrEscape},
		{"../secret.json", workdir.ErrEscape},
	}
	for _, tt := range tests {
		if err := dir.Remove(tt.name); !matches(err, tt.err) {
			t.Errorf("%s: got %v, want %v", tt.name, err, tt.err)
		}
	}
	if _, err := os.Lstat(filepath.Join(string(dir), "file.json")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file is still there: %v", err)
	}
	if _, err := os.Stat(secret); err != nil {
		t.Errorf("the target of a link: %v", err)
	}
}

// TestRace repeatedly swaps a folder for a link out of the directory, while files in it are read
// and written. No file outside may be read or changed, and no incomplete file may be seen.
func TestRace(t *testing.T) {
	t.Parallel()
	dir, secret := tree(t)
	outside := filepath.Join(filepath.Dir(secret), "outside")
	must(t, os.Mkdir(outside, 0o755))
	must(t, os.WriteFile(filepath.Join(outside, "file.json"), []byte("secret"), 0o600))
	folder, spare, link := filepath.Join(string(dir), "sub"), filepath.Join(string(dir), "spare"), filepath.Join(string(dir), "link")
	long := strings.Repeat("y", 64<<10)

	var swapper sync.WaitGroup
	stop := make(chan struct{})
	swapper.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			_ = os.Rename(folder, spare)
			_ = os.Symlink("../outside", link)
			_ = os.Rename(link, folder)
			_ = os.Remove(folder)
			_ = os.Rename(spare, folder)
		}
	})
	for i := range 500 {
		text := "below"
		if i%2 == 0 {
			text = long
		}
		if i%10 < 2 {
			_ = dir.Write("sub/file.json", []byte(text)) // the folder may be missing at this moment
		}
		got, err := dir.Read("sub/file.json", 1<<20)
		if s := string(got); err == nil && s != "below" && s != long {
			t.Errorf("read %.20q", s)
		}
	}
	close(stop)
	swapper.Wait()
	entries, err := os.ReadDir(outside)
	if err != nil || len(entries) != 1 {
		t.Errorf("outside lie %v, %v", entries, err)
	}
	if got, err := os.ReadFile(filepath.Join(outside, "file.json")); err != nil || string(got) != "secret" {
		t.Errorf("the file outside holds %q, %v", got, err)
	}
}

// FuzzRead tries names: none leads to the secret.
func FuzzRead(f *testing.F) {
	dir, secret := tree(f)
	for _, name := range []string{"file.json", "../secret.json", "parent/secret.json", "sub/../../secret.json", "out.json", "//secret.json", "folder/../out.json", secret} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		got, err := dir.Read(name, 100)
		if string(got) == "secret" || err != nil && got != nil {
			t.Fatalf("%q: got %q, %v", name, got, err)
		}
	})
}
