package filecache

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A keptPage is a value to store in the cache.
type keptPage struct {
	At     time.Time
	ETag   string
	More   bool
	Issues []issue
}

type issue struct {
	Number int
	Title  string
}

// FuzzCacheEntry decodes arbitrary files. If a file can be decoded, its value stays the same when
// it is stored and read again.
func FuzzCacheEntry(f *testing.F) {
	f.Add([]byte(`{"Version":1,"Value":{"At":"2026-11-20T12:00:00Z","ETag":"W/\"1\"","More":true,"Issues":[{"Number":7,"Title":"x"}]}}`))
	f.Add([]byte(`{"Version":2,"Value":{}}`))
	f.Add([]byte(`{"Version":1,"Value":null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var kept keptPage
		if !decodeEntry(data, &kept) {
			return
		}
		value, err := json.Marshal(kept)
		if err != nil {
			return // JSON cannot represent this time
		}
		var again keptPage
		out, err := json.Marshal(entry{cacheVersion, value})
		if err != nil || !decodeEntry(out, &again) {
			t.Fatalf("%+v is not read again: %v", kept, err)
		}
		if diff := cmp.Diff(kept, again); diff != "" {
			t.Errorf("read again (-want +got):\n%s", diff)
		}
	})
}

// TestCacheIsBounded opens caches above the limits, which Open empties, and checks that old
// temporary files are removed.
func TestCacheIsBounded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	now := time.Now()
	put := func(name string, size int64, age time.Duration) {
		path := filepath.Join(dir, name)
		f, err := os.Create(path)
		if err == nil {
			err = f.Truncate(size) // a sparse file, which needs no disk space
		}
		if err == nil {
			err = f.Close()
		}
		if err == nil {
			err = os.Chtimes(path, now.Add(-age), now.Add(-age))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	left := func() (names []string) {
		list, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list {
			names = append(names, e.Name())
		}
		return names
	}
	for k := range 3 {
		put(fmt.Sprintf("page-%d.json", k), maxCache/4, time.Hour)
	}
	put("tmp-1", 10, 2*time.Hour)
	put("tmp-2", 10, time.Minute)
	put("other.txt", 10, 100*time.Hour)
	c, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"other.txt", "page-0.json", "page-1.json", "page-2.json", "tmp-2"}, left()); diff != "" || c.files != 3 || c.bytes != 3*maxCache/4 {
		t.Errorf("%d files of %d bytes, left (-want +got):\n%s", c.files, c.bytes, diff)
	}
	put("page-3.json", maxCache/4, time.Hour)
	if c, err = Open(dir); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"other.txt", "tmp-2"}, left()); diff != "" || c.files != 0 || c.bytes != 0 {
		t.Errorf("%d files of %d bytes, left (-want +got):\n%s", c.files, c.bytes, diff)
	}
	c.bytes = maxCache
	if err := c.Store("page-9", keptPage{}); err != nil || c.Load("page-9", &keptPage{}) {
		t.Errorf("a full cache keeps more, or fails: %v", err)
	}
	c.bytes = 0
	want := keptPage{At: now.UTC().Round(0), ETag: `W/"1"`, Issues: []issue{{7, "x"}}}
	var got keptPage
	if err := c.Store("issue-1", want); err != nil || !c.Load("issue-1", &got) {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
}
