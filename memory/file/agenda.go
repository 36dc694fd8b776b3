package file

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/org/foreman-action/memory"
)

// maxPending is the most records in which Pending looks for work.
const maxPending = 20_000

var _ memory.Agenda = (*Store)(nil)

// Pending implements [memory.Agenda]. It reads at most 20,000 records of the repository: those of
// the newest issues.
func (s *Store) Pending(ctx context.Context, repo string) (list []memory.Due, complete bool, err error) {
	return s.list(ctx, repo, "list due issues", dueIn)
}

// Acted implements [memory.Agenda]. It reads the records of Pending that were saved after the time.
func (s *Store) Acted(ctx context.Context, repo string, after time.Time) (list []memory.Due, complete bool, err error) {
	return s.list(ctx, repo, "list issues with new tasks", func(root *os.Root, dir, repo string, issue int) (at time.Time, ok bool, err error) {
		name := recordName(dir, issue)
		info, err := root.Stat(name)
		if errors.Is(err, fs.ErrNotExist) {
			return at, false, memory.ErrNotFound
		}
		if err != nil || info.ModTime().Before(after) {
			return at, false, err
		}
		data, err := read(root, name, memory.MaxSize)
		if err != nil {
			return at, false, err
		}
		r, err := memory.Decode(data, repo, issue)
		if err != nil {
			return at, false, err
		}
		at, ok = r.FirstAfter(after)
		return at, ok, nil
	})
}

// list returns the issues of a repository for which when returns a time.
func (s *Store) list(ctx context.Context, repo, what string, when func(root *os.Root, dir, repo string, issue int) (time.Time, bool, error)) (list []memory.Due, complete bool, err error) {
	key, err := memory.Key(repo, 1)
	if err != nil {
		return nil, false, fmt.Errorf("%s: %w", what, err)
	}
	dir := path.Dir(key)
	list, err = view(ctx, s, what, func(root *os.Root) (list []memory.Due, err error) {
		numbers, err := recordsIn(root, dir)
		complete = len(numbers) <= maxPending
		for _, n := range numbers[:min(len(numbers), maxPending)] {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			at, ok, err := when(root, dir, repo, n)
			if ok {
				list = append(list, memory.Due{Issue: n, At: at})
			}
			complete = complete && (err == nil || errors.Is(err, memory.ErrNotFound))
		}
		memory.SortDue(list)
		return list, err
	})
	if errors.Is(err, memory.ErrNotFound) { // there is no folder
		return nil, true, nil
	}
	return list, complete && err == nil, err
}

// recordsIn returns the issue numbers of the records in a folder, the largest first.
func recordsIn(root *os.Root, dir string) ([]int, error) {
	files, err := fs.ReadDir(root.FS(), dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var numbers []int
	for _, file := range files {
		digits, isRecord := strings.CutSuffix(file.Name(), ".json")
		n, err := strconv.Atoi(digits)
		if isRecord && err == nil && n > 0 && strconv.Itoa(n) == digits {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	slices.Reverse(numbers)
	return numbers, nil
}

func recordName(dir string, issue int) string { return dir + "/" + strconv.Itoa(issue) + ".json" }

// dueIn returns the due time of a record. It does not decode a record without closings and proposals,
// because most records have none.
func dueIn(root *os.Root, dir, repo string, issue int) (at time.Time, ok bool, err error) {
	data, err := read(root, recordName(dir, issue), memory.MaxSize)
	if err != nil || !bytes.Contains(data, []byte(`"closings"`)) && !bytes.Contains(data, []byte(`"proposals"`)) {
		return at, false, err
	}
	r, err := memory.Decode(data, repo, issue)
	if err != nil {
		return at, false, err
	}
	at, ok = r.Due()
	return at, ok, nil
}
