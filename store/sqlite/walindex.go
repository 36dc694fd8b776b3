package sqlite

import (
	"encoding/binary"
	"os"
	"sync"
)

// A walIndex reads how far checkpoints have come from the index of a write-ahead log, whose
// format is at https://sqlite.org/walformat.html. It is safe for concurrent use once it is open.
type walIndex struct {
	all  *walIndexes
	path string
	file *os.File // nil: it is not read
}

// inProcess are the indexes that this process reads: locks on a file belong to the whole process.
var inProcess = &walIndexes{users: map[string]int{}, open: map[string][]*os.File{}}

// walIndexes are the files of indexes, by path. Closing a file gives up all locks that the process
// has on it, those of SQLite too: so all of one path are closed together, after the last store
// that uses it. They are safe for concurrent use.
type walIndexes struct {
	mu    sync.Mutex
	users map[string]int
	open  map[string][]*os.File
}

// use returns the index with a path, which need not be there. Its release must be called, after
// the connections to the database are closed.
func (all *walIndexes) use(path string) *walIndex {
	all.mu.Lock()
	defer all.mu.Unlock()
	all.users[path]++
	return &walIndex{all: all, path: path}
}

// openFile opens the file. It is called once, after SQLite has made it.
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
		_ = f.Close() // it was only read
	}
	delete(x.all.open, x.path)
	delete(x.all.users, x.path)
}

// A checkpoints is how far checkpoints have come: as long as it stays the same, none has
// written to the database.
type checkpoints struct {
	log             [2]uint32 // the salts of the log, others after each restart
	done, attempted uint32    // frames of the log that were copied, and that remain to be copied
}

// running reports whether a checkpoint is writing, or was interrupted.
func (c checkpoints) running() bool { return c.done != c.attempted }

// read returns how far checkpoints have come; not ok: that cannot be known.
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
