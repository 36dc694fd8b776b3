package request

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/org/foreman-action/internal/server/response"
)

// maxInMemory is the maximum size, in bytes, of a body that a Spool keeps in memory. Events of
// issues are smaller.
const maxInMemory = 128 << 10

// spoolPrefix is the start of the names of files with bodies.
const spoolPrefix = "foreman-body-"

// A Spool keeps long bodies in files in a folder, up to a total number of bytes. It is safe for
// concurrent use, even by several processes in one folder.
type Spool struct {
	dir  string
	most int64
	used atomic.Int64 // bytes in files now
}

// OpenSpool returns a Spool in the folder dir, with most as its limit in bytes. An empty dir means
// the system's folder for temporary files. It removes files that a killed process left behind.
// Files in use have no name any more, or cannot be removed.
func OpenSpool(dir string, most int64) *Spool {
	s := &Spool{dir: cmp.Or(dir, os.TempDir()), most: most}
	entries, _ := os.ReadDir(s.dir) // a folder that cannot be read is reported with the first long body
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), spoolPrefix) && e.Type().IsRegular() {
			_ = os.Remove(filepath.Join(s.dir, e.Name())) // if it stays, the next start tries again
		}
	}
	return s
}

// reserve reports whether n more bytes fit. If so, they count from now on.
func (s *Spool) reserve(n int64) bool {
	if s.used.Add(n) > s.most {
		s.used.Add(-n)
		return false
	}
	return true
}

// A Spooled is a complete body: a short one in memory, a long one in a file without a name. Only
// one goroutine may use it. Close it when it is no longer needed.
type Spooled struct {
	spool *Spool
	short []byte
	file  *os.File // nil: the whole body is in short
	named bool     // the file could not be removed while it is open
	size  int64
}

// Size returns the number of bytes.
func (s *Spooled) Size() int64 { return s.size }

// Reader returns a reader of the whole body.
func (s *Spooled) Reader() io.Reader {
	if s.file == nil {
		return bytes.NewReader(s.short)
	}
	return io.NewSectionReader(s.file, 0, s.size)
}

// Close releases the memory and the file.
func (s *Spooled) Close() {
	s.short = nil
	if s.file == nil {
		return
	}
	_ = s.file.Close()
	if s.named {
		_ = os.Remove(s.file.Name()) // if this fails, the next start tries again
	}
	s.spool.used.Add(-s.size)
	s.file, s.size = nil, 0
}

// Read reads a whole body of at most limit bytes, and writes it to digest, which must not fail. It
// needs little memory even for a long body. Errors are of type *response.Error; they report an
// unavailable server if no file can be created, or if the Spool is full.
func (s *Spool) Read(w http.ResponseWriter, r *http.Request, limit int64, digest io.Writer) (*Spooled, error) {
	n := r.ContentLength
	if n > limit {
		return nil, TooLarge(limit)
	}
	body := io.TeeReader(http.MaxBytesReader(w, r.Body, limit), digest)
	if n >= 0 && n <= maxInMemory {
		var b bytes.Buffer
		b.Grow(int(n) + bytes.MinRead)
		if _, err := b.ReadFrom(body); err != nil {
			return nil, bodyError(err, limit)
		}
		return &Spooled{short: b.Bytes(), size: int64(b.Len())}, nil
	}
	if n > 0 && s.used.Load()+n > s.most {
		return nil, spoolFull() // refuse it before it is sent
	}
	file, err := os.CreateTemp(s.dir, spoolPrefix)
	if err != nil {
		return nil, unavailable(fmt.Errorf("make a file for a long body: %w", err))
	}
	out := &Spooled{spool: s, file: file}
	err = os.Remove(file.Name()) // some systems refuse while it is open
	out.named = err != nil && !errors.Is(err, fs.ErrNotExist)
	if _, err = io.Copy(disk{out}, body); err != nil {
		out.Close()
		return nil, bodyError(err, limit)
	}
	return out, nil
}

// A disk appends to the file of a body, and marks write errors as the server's. It has no ReadFrom
// method, so that io.Copy uses a buffer.
type disk struct{ body *Spooled }

// Write implements io.Writer.
func (d disk) Write(p []byte) (int, error) {
	if !d.body.spool.reserve(int64(len(p))) {
		return 0, spoolFull()
	}
	d.body.size += int64(len(p))
	n, err := d.body.file.Write(p)
	if err != nil {
		err = unavailable(fmt.Errorf("store a long body: %w", err))
	}
	return n, err
}

// unavailable returns the answer for a body that cannot be stored for a reason on the server.
func unavailable(err error) error {
	return &response.Error{
		Status: http.StatusServiceUnavailable, Detail: "the body cannot be stored now; try again",
		Header: http.Header{"Retry-After": {"5"}}, Warning: response.NoSpool, Cause: err,
	}
}

// spoolFull returns the answer if too many bytes of bodies are stored.
func spoolFull() error {
	return &response.Error{
		Status: http.StatusServiceUnavailable, Detail: "too many long bodies are being received at the moment; try again",
		Header: http.Header{"Retry-After": {"30"}}, Warning: response.TooManyBodies,
	}
}
