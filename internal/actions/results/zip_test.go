package results_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"strconv"
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/actions/results"
	"github.com/org/foreman-action/internal/actions/results/resultstest"
	"github.com/org/foreman-action/memory"
)

// TestArchives loads the zips of testdata/zip as the memory of org/repo#7. Each archive has a file
// "make" with one command per line, the files that the commands name, and a file "want" with the
// result of Load.
//
//	file NAME CONTENT [store]   adds an entry with the content of a file of the archive
//	zeros NAME SIZE             adds an entry of zero bytes
//	many COUNT                  adds COUNT entries
//	link NAME, dir NAME, secret NAME CONTENT
//	size N                      makes the last entry claim to have N bytes
//	cut N, flip, raw CONTENT    removes the last N bytes, flips a bit, or replaces the zip
//	repo N, head N, branch NAME, expired, digest TEXT, name TEXT
func TestArchives(t *testing.T) {
	t.Parallel()
	archives(t, "testdata/zip/*.txtar", func(t *testing.T, files map[string]string) string {
		s := resultstest.New(t, resultstest.Config{})
		m := maker{t: t, files: files, a: resultstest.Artifact{Name: "foreman-memory-i7"}}
		for line := range strings.Lines(files["make"]) {
			m.do(strings.Fields(line))
		}
		m.finish()
		s.Add(m.a)
		store := artifact(t, options(s))
		_, err := store.Load(t.Context(), "org/repo", 7)
		if err == nil {
			return "loaded\n"
		}
		// Whatever is stored, a record of revision 0 replaces it, unless it was written by a newer
		// version of the program.
		first := store.Save(t.Context(), record(0))
		if ok := first == nil; ok == errors.Is(err, memory.ErrNewer) {
			t.Errorf("Save over it: %v", first)
		}
		return err.Error() + "\n"
	})
}

// A maker makes one artifact.
type maker struct {
	t     testing.TB
	files map[string]string
	a     resultstest.Artifact
	buf   bytes.Buffer
	zip   *zip.Writer
	after []func([]byte) []byte // changes to the finished zip
}

func (m *maker) entry(h *zip.FileHeader, content []byte) {
	if m.zip == nil {
		m.zip = zip.NewWriter(&m.buf)
	}
	w, err := m.zip.CreateHeader(h)
	if err == nil {
		_, err = w.Write(content)
	}
	if err != nil {
		m.t.Fatal(err)
	}
}

func (m *maker) number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		m.t.Fatal(err)
	}
	return n
}

func (m *maker) do(words []string) {
	arg := func(i int) string { return append(words, "", "", "", "")[i] }
	h := &zip.FileHeader{Name: arg(1), Method: zip.Deflate}
	switch words[0] {
	case "file":
		if arg(3) == "store" {
			h.Method = zip.Store
		}
		m.entry(h, []byte(m.files[arg(2)]))
	case "zeros":
		m.entry(h, make([]byte, m.number(arg(2))))
	case "many":
		for i := range m.number(arg(1)) {
			m.entry(&zip.FileHeader{Name: "memory.json" + strings.Repeat("x", i%2)}, nil)
		}
	case "link":
		h.SetMode(fs.ModeSymlink | 0o777)
		m.entry(h, []byte("/etc/passwd"))
	case "dir":
		h.Method = zip.Store
		m.entry(h, nil)
	case "secret":
		h.Flags |= 1
		m.entry(h, []byte(m.files[arg(2)]))
	default:
		m.damage(words[0], arg(1))
	}
}

// damage runs the commands that change the zip as a whole.
func (m *maker) damage(what, arg string) {
	switch what {
	case "raw":
		m.after = append(m.after, func([]byte) []byte { return []byte(m.files[arg]) })
	case "cut":
		m.after = append(m.after, func(b []byte) []byte { return b[:len(b)-m.number(arg)] })
	case "flip":
		m.after = append(m.after, func(b []byte) []byte { b[len("PK\x03\x04")+26+len("memory.json")+5] ^= 1; return b })
	case "size":
		m.after = append(m.after, func(b []byte) []byte {
			at := bytes.LastIndex(b, []byte("PK\x01\x02"))
			binary.LittleEndian.PutUint32(b[at+24:], uint32(m.number(arg)))
			return b
		})
	case "repo":
		m.a.RepositoryID = int64(m.number(arg))
	case "head":
		m.a.HeadRepositoryID = int64(m.number(arg))
	case "branch":
		m.a.HeadBranch = arg
	case "expired":
		m.a.Expired = true
	case "digest":
		m.a.Digest = arg
	default:
		m.t.Fatalf("unknown command %q", what)
	}
}

func (m *maker) finish() {
	if m.zip != nil {
		if err := m.zip.Close(); err != nil {
			m.t.Fatal(err)
		}
	}
	m.a.Zip = m.buf.Bytes()
	for _, f := range m.after {
		m.a.Zip = f(m.a.Zip)
	}
}

func TestPackIsStable(t *testing.T) {
	t.Parallel()
	one, err := results.Pack([]byte("{}"))
	if err != nil {
		t.Fatal(err)
	}
	two, _ := results.Pack([]byte("{}"))
	if !bytes.Equal(one, two) {
		t.Error("the same data give two different zips")
	}
	if got, err := results.Unpack(one); err != nil || string(got) != "{}" {
		t.Errorf("unpack: got %q, %v", got, err)
	}
	if _, err := results.Unpack(make([]byte, memory.MaxSize+8<<10)); !errors.Is(err, memory.ErrBroken) {
		t.Errorf("a huge zip: got %v, want ErrBroken", err)
	}
}
