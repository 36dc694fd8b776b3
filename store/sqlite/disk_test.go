package sqlite

import (
	"io"
	"math/rand/v2"
	"sync"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/vfs"
)

// A disk is a file system in memory. Its power can be cut: each sector that was written but not
// flushed is then kept, lost or torn at random. The disk can also be full.
type disk struct {
	mu    sync.Mutex
	rand  *rand.Rand
	files map[string]*diskFile
	left  int  // writes and flushes until the power is cut; negative: never
	dead  bool // the power was cut
	full  int  // largest total size of the files in bytes; 0: no limit
}

// A diskFile is a file on a disk.
type diskFile struct {
	flushed []byte // survives a power cut, unless it is overwritten
	data    []byte
	pending []write
}

// A write is a change of a file that was not flushed.
type write struct {
	at   int64
	data []byte
	cut  bool // truncates the file at this offset
}

const sector = 512

func newDisk(seed uint64) *disk {
	return &disk{rand: rand.New(rand.NewPCG(seed, 1)), files: map[string]*diskFile{}, left: -1}
}

// cut returns the disk as it is after a power cut.
func (d *disk) cut() *disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.dead = true
	next := newDisk(d.rand.Uint64())
	for name, f := range d.files {
		data := append([]byte(nil), f.flushed...)
		for _, w := range f.pending {
			data = d.survive(data, w)
		}
		next.files[name] = &diskFile{flushed: data, data: append([]byte(nil), data...)}
	}
	return next
}

// survive applies the part of a write that survives a power cut.
func (d *disk) survive(data []byte, w write) []byte {
	if w.cut {
		if d.rand.IntN(2) == 0 && int64(len(data)) > w.at {
			data = data[:w.at]
		}
		return data
	}
	for from := 0; from < len(w.data); from += sector {
		to := min(from+sector, len(w.data))
		switch d.rand.IntN(3) {
		case 0:
			data = put(data, w.at+int64(from), w.data[from:to])
		case 1:
			torn := from + d.rand.IntN(to-from)
			data = put(data, w.at+int64(from), w.data[from:torn])
		}
	}
	return data
}

// put writes into data, and extends it if necessary.
func put(data []byte, at int64, b []byte) []byte {
	if end := int(at) + len(b); len(b) > 0 && end > len(data) {
		data = append(data, make([]byte, end-len(data))...)
	}
	copy(data[min(int(at), len(data)):], b)
	return data
}

// use counts a write or a flush. The caller holds the lock.
func (d *disk) use() error {
	if d.left == 0 {
		d.dead = true
	}
	if d.dead {
		return sqlite3.IOERR
	}
	d.left--
	return nil
}

// Open implements vfs.VFS.
func (d *disk) Open(name string, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.dead {
		return nil, flags, sqlite3.IOERR
	}
	f := d.files[name]
	if f == nil {
		f = &diskFile{}
		d.files[name] = f
	}
	return &handle{disk: d, file: f}, flags, nil
}

// Delete implements vfs.VFS.
func (d *disk) Delete(name string, _ bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.use(); err != nil {
		return err
	}
	delete(d.files, name)
	return nil
}

// Access implements vfs.VFS.
func (d *disk) Access(name string, _ vfs.AccessFlag) (bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f := d.files[name]
	return f != nil && len(f.data) > 0, nil
}

// FullPathname implements vfs.VFS.
func (d *disk) FullPathname(name string) (string, error) { return name, nil }

// A handle is an open file. The disk has only one user, so every lock is granted.
type handle struct {
	disk *disk
	file *diskFile
	lock vfs.LockLevel
}

// ReadAt implements vfs.File.
func (h *handle) ReadAt(p []byte, at int64) (int, error) {
	h.disk.mu.Lock()
	defer h.disk.mu.Unlock()
	if h.disk.dead {
		return 0, sqlite3.IOERR
	}
	if at >= int64(len(h.file.data)) {
		return 0, io.EOF
	}
	n := copy(p, h.file.data[at:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// WriteAt implements vfs.File.
func (h *handle) WriteAt(p []byte, at int64) (int, error) {
	d := h.disk
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.use(); err != nil {
		return 0, err
	}
	if d.full > 0 && int(at)+len(p) > len(h.file.data) && d.size()+int(at)+len(p)-len(h.file.data) > d.full {
		return 0, sqlite3.FULL
	}
	h.file.pending = append(h.file.pending, write{at: at, data: append([]byte(nil), p...)})
	h.file.data = put(h.file.data, at, p)
	return len(p), nil
}

// size returns the total size of all files. The caller holds the lock.
func (d *disk) size() int {
	n := 0
	for _, f := range d.files {
		n += len(f.data)
	}
	return n
}

// Truncate implements vfs.File.
func (h *handle) Truncate(size int64) error {
	h.disk.mu.Lock()
	defer h.disk.mu.Unlock()
	if err := h.disk.use(); err != nil {
		return err
	}
	h.file.pending = append(h.file.pending, write{at: size, cut: true})
	h.file.data = h.file.data[:min(int(size), len(h.file.data))]
	return nil
}

// Sync implements vfs.File.
func (h *handle) Sync(vfs.SyncFlag) error {
	h.disk.mu.Lock()
	defer h.disk.mu.Unlock()
	if err := h.disk.use(); err != nil {
		return err
	}
	h.file.flushed, h.file.pending = append([]byte(nil), h.file.data...), nil
	return nil
}

// Size implements vfs.File.
func (h *handle) Size() (int64, error) {
	h.disk.mu.Lock()
	defer h.disk.mu.Unlock()
	return int64(len(h.file.data)), nil
}

// Close implements vfs.File.
func (h *handle) Close() error { return nil }

// Lock implements vfs.File.
func (h *handle) Lock(l vfs.LockLevel) error { h.lock = l; return nil }

// Unlock implements vfs.File.
func (h *handle) Unlock(l vfs.LockLevel) error { h.lock = l; return nil }

// CheckReservedLock implements vfs.File.
func (h *handle) CheckReservedLock() (bool, error) { return h.lock >= vfs.LOCK_RESERVED, nil }

// SectorSize implements vfs.File.
func (h *handle) SectorSize() int { return sector }

// DeviceCharacteristics implements vfs.File.
func (h *handle) DeviceCharacteristics() vfs.DeviceCharacteristic { return 0 }
