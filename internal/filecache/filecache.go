// Package filecache stores answers of servers in files. The number and size of the files are
// limited, and an incomplete file is never read.
package filecache

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// The limits of one folder.
const (
	maxCache      = 256 << 20 // bytes of all files in the folder
	maxCacheFiles = 100_000
	maxCacheEntry = 32 << 20 // bytes of one file
	cacheVersion  = 1        // version of the file format
	cacheSuffix   = ".json"
	cacheTemp     = "tmp-"
)

// A Cache is a folder with one file for each answer. A file is complete or missing, and an
// unreadable file counts as missing. A nil Cache stores nothing. A Cache is not safe for
// concurrent use.
type Cache struct {
	dir   string
	bytes int64
	files int
}

// An entry is the content of a file.
type entry struct {
	Version int
	Value   json.RawMessage
}

// Open opens a folder below dir, and makes it when it is missing. If the folder exceeds the
// limits, Open empties it, because every entry can be fetched again.
func Open(dir string, below ...string) (*Cache, error) {
	c := &Cache{dir: filepath.Join(append([]string{dir}, below...)...)}
	// Only the user may read the entries, because they may be from a private repository.
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return nil, err
	}
	list, err := os.ReadDir(c.dir)
	if err != nil {
		return nil, err
	}
	if c.weigh(list); c.bytes < maxCache && c.files < maxCacheFiles {
		return c, nil
	}
	for _, e := range list {
		if key, ok := strings.CutSuffix(e.Name(), cacheSuffix); ok {
			c.Remove(key)
		}
	}
	c.bytes, c.files = 0, 0
	return c, nil
}

// weigh counts the files and their bytes. It removes temporary files that are older than an hour:
// an interrupted write left them.
func (c *Cache) weigh(list []os.DirEntry) {
	for _, e := range list {
		info, err := e.Info()
		switch {
		case err != nil || !info.Mode().IsRegular():
		case strings.HasPrefix(e.Name(), cacheTemp):
			if time.Since(info.ModTime()) > time.Hour {
				_ = os.Remove(filepath.Join(c.dir, e.Name())) // the next Open tries again
			}
		case strings.HasSuffix(e.Name(), cacheSuffix):
			c.bytes, c.files = c.bytes+info.Size(), c.files+1
		}
	}
}

func (c *Cache) path(key string) string { return filepath.Join(c.dir, key+cacheSuffix) }

// Load reads an entry into v, a pointer. It reports whether the entry exists and could be read.
func (c *Cache) Load(key string, v any) bool {
	if c == nil {
		return false
	}
	f, err := os.Open(c.path(key))
	if err != nil {
		return false
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxCacheEntry))
	return err == nil && decodeEntry(data, v)
}

func decodeEntry(data []byte, v any) bool {
	var e entry
	return json.Unmarshal(data, &e) == nil && e.Version == cacheVersion && json.Unmarshal(e.Value, v) == nil
}

// Store stores an entry. When the cache is full, Store does nothing and returns nil.
func (c *Cache) Store(key string, v any) error {
	if c == nil || c.bytes >= maxCache || c.files >= maxCacheFiles {
		return nil
	}
	value, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("keep %s: %w", key, err)
	}
	data, err := json.Marshal(entry{cacheVersion, value})
	if err != nil {
		return fmt.Errorf("keep %s: %w", key, err)
	}
	if err := c.write(key, data); err != nil {
		return fmt.Errorf("keep %s: %w", key, err)
	}
	c.bytes, c.files = c.bytes+int64(len(data)), c.files+1
	return nil
}

// write writes a temporary file in the same folder and renames it, so that a file is never
// incomplete.
func (c *Cache) write(key string, data []byte) error {
	f, err := os.CreateTemp(c.dir, cacheTemp) // CreateTemp lets only the user read it
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), c.path(key))
	}
	if err != nil {
		_ = os.Remove(f.Name()) // the first error is more precise
	}
	return err
}

// Remove removes an entry. A missing entry is not an error.
func (c *Cache) Remove(key string) {
	if c != nil {
		_ = os.Remove(c.path(key)) // callers ignore an entry that is too old
	}
}
