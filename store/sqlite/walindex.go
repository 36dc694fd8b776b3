package sqlite

import (
	"encoding/binary"
	"os"
	"sync"
)

// A walIndex reads the progress of checkpoints from the index of a write-ahead log. The format is
// at https://sqlite.org/walformat.html. A walIndex is safe for concurrent use after openFile.
type walIndex struct {
	all  *walIndexes
	path string
	file *os.File // nil: read returns no result
}

// inProcess contains the indexes that this process reads. There is one for the whole process,
// because a file's locks belong to the process.
var inProcess = &walIndexes{users: map[string]int{}, open: map[string][]*os.File{}}

// walIndexes contains the open index files by path. Closing a file drops all locks that the
// process has on it, including those of SQLite. So all files of one path are closed together,
// after the last store that uses the path. A walIndexes is safe for concurrent use.
type walIndexes struct {
	mu    sync.Mutex
	users map[string]int
	open  map[string][]*os.File
}

// use returns the index with a path; the file need not exist yet. The caller must call release
// after the connections to the database are closed.
func (all *walIndexes) use(path string) *walIndex {
	all.mu.Lock()
	defer all.mu.Unlock()
	all.users[path]++
	return &walIndex{all: all, path: path}
}

// openFile opens the file. It is called once, after SQLite has created the file.
func (x *walIndex) openFile() error {
	f, err := os.Open(x.path) //nolint:gosec // the path is where the user wants it
	if err != nil {
		return err
	}
	x.all.mu.Lock()
	defer x.all.mu.Unlock()
	x.all.open[x.path] = append(x.all.open[x.path], f)
	x.file = f
	return nil
}

func (x *walIndex) release() {
	x.all.mu.Lock()
	defer x.all.mu.Unlock()
	if x.all.users[x.path]--; x.all.users[x.path] > 0 {
		return
	}
	for _, f := range x.all.open[x.path] {
		_ = f.Close() // the file was only read
	}
	delete(x.all.open, x.path)
	delete(x.all.users, x.path)
}

// A checkpoints is the progress of checkpoints. As long as it stays the same, no checkpoint has
// written to the database.
type checkpoints struct {
	log             [2]uint32 // the log's salts, which change with each restart
	done, attempted uint32    // frames that were copied, and that a checkpoint began to copy
}

// running reports whether a checkpoint is writing, or was interrupted.
func (c checkpoints) running() bool { return c.done != c.attempted }

// read returns the progress of checkpoints. ok is false if it is unknown.
func (x *walIndex) read() (c checkpoints, ok bool) {
	const salts, done, attempted, size = 32, 96, 128, 132
	var data [size]byte
	if x.file == nil {
		return c, false
	}
	if _, err := x.file.ReadAt(data[:], 0); err != nil {
		return c, false
	}
	at := func(offset int) uint32 { return binary.NativeEndian.Uint32(data[offset:]) }
	return checkpoints{[2]uint32{at(salts), at(salts + 4)}, at(done), at(attempted)}, true
}
