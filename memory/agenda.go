package memory

import (
	"bytes"
	"cmp"
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
)

// An Agenda is a [Store] that can be asked which of its records hold a closing to come.
// A store that cannot tell is none, and no closing should be kept in it: nobody would
// find it. Implementations pass the suite memorytest.RunAgenda.
type Agenda interface {
	Store
	// Pending returns the issues of a repository whose records hold a closing, each
	// once, the one that is due first before the others. It is a hint: the record says
	// what is really there. complete is false when some records could not be looked at.
	// It changes nothing. Errors: the context's, or one of the medium.
	Pending(ctx context.Context, repo string) (list []Due, complete bool, err error)
}

// A Due tells when the first closing of an issue may be carried out.
type Due struct {
	Issue int
	At    time.Time // UTC
}

// SortDue puts a list in the order in which [Agenda] returns it.
func SortDue(list []Due) {
	slices.SortFunc(list, func(a, b Due) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Issue, b.Issue)) })
}

// maxPending bounds the records that a File looks at for closings.
const maxPending = 20_000

var _ Agenda = (*File)(nil)

// Pending implements [Agenda]. It reads every record of the repository, the newest
// issues first, and no more than 20,000.
func (f *File) Pending(ctx context.Context, repo string) (list []Due, complete bool, err error) {
	key, err := Key(repo, 1)
	if err != nil {
		return nil, false, fmt.Errorf("look for closings: %w", err)
	}
	root, err := os.OpenRoot(f.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, true, ctx.Err()
	}
	if err != nil {
		return nil, false, fmt.Errorf("look for closings: %w", err)
	}
	defer root.Close()
	dir := path.Dir(key)
	numbers, err := recordsIn(root, dir)
	if err != nil {
		return nil, false, fmt.Errorf("look for closings: %w", err)
	}
	complete = len(numbers) <= maxPending
	for _, n := range numbers[:min(len(numbers), maxPending)] {
		if err := ctx.Err(); err != nil {
			return nil, false, fmt.Errorf("look for closings: %w", err)
		}
		at, ok, err := dueIn(root, dir, repo, n)
		if ok {
			list = append(list, Due{n, at})
		}
		complete = complete && (err == nil || errors.Is(err, ErrNotFound))
	}
	SortDue(list)
	return list, complete, nil
}

// recordsIn returns the numbers of the records in a folder, the newest first.
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

// dueIn reads when the first closing in a record is due. Most have none, and are not
// decoded.
func dueIn(root *os.Root, dir, repo string, issue int) (at time.Time, ok bool, err error) {
	data, err := read(root, dir+"/"+strconv.Itoa(issue)+".json", MaxSize)
	if err != nil || !bytes.Contains(data, []byte(`"closings"`)) {
		return at, false, err
	}
	r, err := Decode(data, repo, issue)
	if err != nil {
		return at, false, err
	}
	at, ok = r.Due()
	return at, ok, nil
}
