package github

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/org/foreman-action/internal/wait"
	"github.com/org/foreman-action/triage"
)

const (
	// fileAge is how long a file is remembered after GitHub returned it, or reported that it does not exist.
	fileAge = 10 * time.Minute
	// maxFiles and maxFileBytes limit what is remembered.
	maxFiles     = 1000
	maxFileBytes = 16 << 20
)

// Files remember files of default branches, because a process that runs for long needs the same file again and
// again. They are safe for concurrent use.
type Files struct {
	now func() time.Time

	mu    sync.Mutex
	known map[fileKey]seenFile
	size  int // bytes of known
}

// A fileKey names a file of a repository.
type fileKey struct {
	repo triage.Repo
	path string
}

// A seenFile is the answer of GitHub: the file, or the error that it does not exist.
type seenFile struct {
	data []byte
	err  error
	at   time.Time
}

// NewFiles returns an empty memory. now may be nil: time.Now.
func NewFiles(now func() time.Time) *Files {
	return &Files{now: wait.Clock(now), known: map[fileKey]seenFile{}}
}

// Of is [Client.FilesAt] for the head of the default branch. A file may be up to ten minutes old. The caller
// must not change the returned bytes.
func (f *Files) Of(c *Client) func(context.Context, triage.Repo, string) ([]byte, error) {
	read := c.FilesAt("")
	return func(ctx context.Context, repo triage.Repo, path string) ([]byte, error) {
		key := fileKey{repo, path}
		if seen, ok := f.find(key); ok {
			return seen.data, seen.err
		}
		data, err := read(ctx, repo, path)
		if err == nil || errors.Is(err, triage.ErrNotFound) {
			f.learn(key, seenFile{data, err, f.now()})
		}
		return data, err
	}
}

func (f *Files) find(key fileKey) (seenFile, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	seen, ok := f.known[key]
	age := f.now().Sub(seen.at)
	return seen, ok && age >= 0 && age < fileAge
}

// learn stores an answer. If there are too many, the memory starts again: that only costs calls.
func (f *Files) learn(key fileKey, seen seenFile) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.size += len(seen.data) - len(f.known[key].data)
	if _, known := f.known[key]; !known && len(f.known) >= maxFiles || f.size > maxFileBytes {
		f.known, f.size = map[fileKey]seenFile{}, len(seen.data)
	}
	f.known[key] = seen
}
