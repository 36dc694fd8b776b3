//go:build unix

package sandbox

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// archived returns a tar archive. The content of each file is its name.
func archived(t testing.TB, headers ...tar.Header) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	for _, h := range headers {
		if h.Typeflag == tar.TypeReg && h.Size == 0 {
			h.Size = int64(len(h.Name))
		}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			fmt.Fprintf(w, "%-*s", h.Size, h.Name)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func file(name string) tar.Header { return tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644} }
func folder(name string) tar.Header {
	return tar.Header{Typeflag: tar.TypeDir, Name: name, Mode: 0o700}
}
func link(name, to string) tar.Header {
	return tar.Header{Typeflag: tar.TypeSymlink, Name: name, Linkname: to}
}

func hard(name, to string) tar.Header {
	return tar.Header{Typeflag: tar.TypeLink, Name: name, Linkname: to}
}

// TestUnpack unpacks archives into a directory, and compares the files in it and beside it.
func TestUnpack(t *testing.T) {
	t.Parallel()
	secret := file("./set")
	secret.Mode = 0o4000 | 0o711
	large := file("large")
	large.Size = 2000
	for name, c := range map[string]struct {
		headers []tar.Header
		want    map[string]string
		err     string
	}{
		"files":                     {[]tar.Header{folder("./"), folder("./a/"), file("./a/b"), file("./a/new\nline \xff")}, map[string]string{"a/b": "-rw-r--r-- ./a/b", "a/new\nline \xff": "-rw-r--r-- ./a/new\nline \xff"}, ""},
		"no folder":                 {[]tar.Header{file("a/b/c")}, map[string]string{"a/b/c": "-rw-r--r-- a/b/c"}, ""},
		"bits of modes":             {[]tar.Header{secret}, map[string]string{"set": "-rwx--x--x ./set"}, ""},
		"links":                     {[]tar.Header{link("a", "/etc/passwd"), link("b/c", "../../.."), file("b/d")}, map[string]string{"a": "-> /etc/passwd", "b/c": "-> ../../..", "b/d": "-rw-r--r-- b/d"}, ""},
		"hard link":                 {[]tar.Header{file("a"), hard("./b", "./a")}, map[string]string{"a": "-rw-r--r-- a", "b": "-rw-r--r-- a"}, ""},
		"history":                   {[]tar.Header{file("./.git/config"), file(".GIT/hooks/x"), link(".git", "/"), file("a/.git"), file("a/.Git/config"), file("a/b")}, map[string]string{"a/b": "-rw-r--r-- a/b"}, ""},
		"hard link to a link":       {[]tar.Header{link("a", "b"), hard("c", "a")}, map[string]string{"a": "-> b", "c": "-> b"}, ""},
		"hard link to history":      {[]tar.Header{file(".git/o"), hard("a", ".git/o")}, map[string]string{}, ""},
		"too large by names":        {[]tar.Header{link("a", strings.Repeat("x", 600)), link("b", strings.Repeat("x", 600))}, nil, ErrTooLarge.Error()},
		"devices":                   {[]tar.Header{{Typeflag: tar.TypeChar, Name: "null"}, {Typeflag: tar.TypeFifo, Name: "pipe"}}, map[string]string{}, ""},
		"hard link to a pipe":       {[]tar.Header{{Typeflag: tar.TypeFifo, Name: "./pipe"}, hard("./b", "./pipe"), file("a")}, map[string]string{"a": "-rw-r--r-- a"}, ""},
		"name above":                {[]tar.Header{file("../beside")}, nil, "leads out"},
		"name above after a folder": {[]tar.Header{file("a/../../beside")}, nil, "leads out"},
		"absolute name":             {[]tar.Header{file("/beside")}, nil, "leads out"},
		"folder above":              {[]tar.Header{folder("../beside/")}, nil, "leads out"},
		"link above":                {[]tar.Header{link("../beside", "x")}, nil, "leads out"},
		"hard link from above":      {[]tar.Header{hard("a", "../secret")}, nil, "leads out"},
		"hard link from nowhere":    {[]tar.Header{hard("a", "b")}, nil, "no such file"},
		"hard link to a folder":     {[]tar.Header{folder("b/"), hard("a", "b")}, nil, "is not a file"},
		"file through a link":       {[]tar.Header{link("a", ".."), file("a/beside")}, nil, "file exists"},
		"file over a link":          {[]tar.Header{link("a", "../beside"), file("a")}, nil, "file exists"},
		"twice":                     {[]tar.Header{file("a"), file("./a")}, nil, "file exists"},
		"link twice":                {[]tar.Header{link("a", "b"), link("./a", "c")}, nil, "twice"},
		"file as a folder":          {[]tar.Header{file("a"), file("a/b")}, nil, "file exists"},
		"too large":                 {[]tar.Header{large}, nil, ErrTooLarge.Error()},
		"too large by hard links":   {[]tar.Header{{Typeflag: tar.TypeReg, Name: "a", Size: 900, Mode: 0o644}, hard("b", "a")}, nil, ErrTooLarge.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			above := t.TempDir()
			dir := filepath.Join(above, "dir")
			if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(above, "secret"), nil, 0o600)); err != nil {
				t.Fatal(err)
			}
			root, err := os.OpenRoot(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer root.Close()
			err = unpack(bytes.NewReader(archived(t, c.headers...)), root, 1000)
			if c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Errorf("got %v, want an error with %q", err, c.err)
			}
			if beside, err := os.ReadDir(above); err != nil || len(beside) != 2 {
				t.Errorf("beside the directory: %v %v", beside, err)
			}
			if c.err != "" {
				return
			}
			if diff := cmp.Diff(c.want, content(t, dir)); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// TestLongName has folders in folders whose path no program can open.
func TestLongName(t *testing.T) {
	t.Parallel()
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	err = unpack(bytes.NewReader(archived(t, folder(strings.Repeat("d/", 2500)))), root, 1<<20)
	if !errors.Is(err, ErrTooLarge) {
		t.Errorf("got %v", err)
	}
}

// content describes the files and links in a directory.
func content(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		if entry.Type() == fs.ModeSymlink {
			to, err := os.Readlink(path)
			found[name] = "-> " + to
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		found[name] = info.Mode().String() + " " + string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// FuzzUnpack checks that unpack never writes outside the directory or more than the limit.
func FuzzUnpack(f *testing.F) {
	f.Add(archived(f, folder("a/"), file("a/b"), link("c", "/"), hard("d", "a/b")))
	f.Add(archived(f, link("a", ".."), file("a/b"), file("../x")))
	f.Add([]byte("not an archive"))
	f.Fuzz(func(t *testing.T, archive []byte) {
		above := t.TempDir()
		dir := filepath.Join(above, "dir")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		const limit = 100_000
		_ = unpack(bytes.NewReader(archive), root, limit) // any error is accepted
		if beside, err := os.ReadDir(above); err != nil || len(beside) != 1 {
			t.Errorf("beside the directory: %v %v", beside, err)
		}
		total := int64(0)
		_ = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, _ error) error {
			if info, err := entry.Info(); err == nil && info.Mode().IsRegular() {
				total += info.Size()
			}
			return nil
		})
		if total > limit+1 {
			t.Errorf("wrote %d bytes", total)
		}
	})
}

// TestChangedWhileCopied changes a file between reading its size and copying its content.
func TestChangedWhileCopied(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := filepath.Join(dir, "a")
	if err := os.WriteFile(name, make([]byte, 100_000), 0o600); err != nil {
		t.Fatal(err)
	}
	for change, f := range map[string]func() error{
		"shorter": func() error { return os.Truncate(name, 10) },
		"longer":  func() error { return os.Truncate(name, 1_000_000) },
		"gone":    func() error { return os.Remove(name) },
	} {
		if err := os.WriteFile(name, make([]byte, 100_000), 0o600); err != nil {
			t.Fatal(err)
		}
		from, err := openTree(dir)
		if err != nil {
			t.Fatal(err)
		}
		once := f
		p := &packer{left: 1 << 20, limit: 1 << 20, folders: map[string]bool{".": true}}
		p.tar = tar.NewWriter(writing(func() error {
			defer func() { once = func() error { return nil } }()
			return once()
		}))
		_, err = p.file(from, "a", "a")
		from.root.Close()
		if change == "gone" { // its content can still be read
			if err != nil {
				t.Errorf("%s: %v", change, err)
			}
		} else if !errors.Is(err, ErrChanged) {
			t.Errorf("%s: got %v, want %v", change, err, ErrChanged)
		}
	}
}

// writing is an io.Writer that calls a function and drops the bytes.
type writing func() error

func (w writing) Write(p []byte) (int, error) { return len(p), w() }

func TestTail(t *testing.T) {
	t.Parallel()
	small := &tail{limit: tailBytes}
	for range 3 {
		_, _ = small.Write([]byte("äb"))
	}
	if got := small.output(nil); got != "äbäbäb" {
		t.Errorf("got %q", got)
	}
	// The output is cut in the middle of the secret, so redact does not recognize the rest of it.
	long := &tail{limit: tailBytes}
	_, _ = long.Write([]byte("TOP-SECRET" + strings.Repeat("x", tailBytes-5)))
	got := long.output(func(s string) string { return strings.ReplaceAll(s, strings.Repeat("x", tailBytes-5), "y") })
	if strings.Contains(got, "CRET") || got != "" && got != "y" {
		t.Errorf("got %q", got)
	}
	if len(long.data) > 2*tailBytes {
		t.Errorf("keeps %d bytes", len(long.data))
	}
}
