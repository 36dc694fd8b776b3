package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/org/foreman-action/memory"
)

// DeleteRecord deletes the record of an issue, its ledgers, and the copies that are kept of broken ones. It returns
// the names of the deleted files and folders, relative to the folder of the store, also after an error. If there are none,
// it returns no error.
func (s *Store) DeleteRecord(ctx context.Context, repo string, issue int) (deleted []string, err error) {
	key, err := memory.Key(repo, issue)
	if err != nil {
		return nil, fmt.Errorf("delete memory: %w", err)
	}
	if _, err := os.Stat(s.dir); errors.Is(err, fs.ErrNotExist) {
		return nil, ctx.Err()
	}
	err = s.update(ctx, false, func(root *os.Root) error {
		names, err := namesOf(root, path.Dir(key), issue)
		for _, name := range names {
			if err := root.RemoveAll(name); err != nil {
				return err
			}
			deleted = append(deleted, name)
		}
		if err == nil && len(deleted) > 0 {
			err = syncDir(root, path.Dir(key))
		}
		return err
	})
	if err != nil {
		err = fmt.Errorf("delete memory %s.json: %w", key, err)
	}
	return deleted, err
}

// namesOf returns the names of the files and folders of an issue in a folder, the record first.
func namesOf(root *os.Root, dir string, issue int) ([]string, error) {
	entries, err := fs.ReadDir(root.FS(), dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var names []string
	number := strconv.Itoa(issue)
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), number+".")
		switch {
		case !ok:
		case rest == "json":
			names = slices.Insert(names, 0, dir+"/"+e.Name())
		case rest == "journal", rest == "json.tmp", strings.HasPrefix(rest, "broken-") && strings.HasSuffix(rest, ".json"):
			names = append(names, dir+"/"+e.Name())
		}
	}
	return names, err
}
