package database

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/foreman-action/store/sqlite"
)

// How many copies of each kind are kept if a database is lost repeatedly, for example because a job
// overwrites it. The oldest copies contain the earlier tasks.
const (
	oldestCopies = 2
	newestCopies = 3
)

// A savedCopy is a file that a server saved when it lost a database.
type savedCopy struct {
	path string
	log  bool // the file is the log of an overwritten database; false: a whole database
}

// advice returns what an operator should do.
func (c savedCopy) advice() string {
	if c.log {
		return "is the write-ahead log of an overwritten database: it contains the last writes, and SQLite cannot read it without the database; move it to another folder"
	}
	return "is the copy of a lost database: restore it while the server is stopped, or move it to another folder"
}

// Copies are the copies of a lost database that existed when the database was opened.
type Copies []savedCopy

// keepCopies returns the copies beside the database at a location, and logs them. If there are too
// many, it keeps the oldest and the newest, and deletes those in between.
func keepCopies(ctx context.Context, location string, log *slog.Logger) (all Copies) {
	path, ok := File(location)
	if !ok {
		return nil
	}
	path = target(path) // copies are beside the target of a link
	for _, kind := range []string{sqlite.Rescued, sqlite.SavedLog} {
		list := findCopies(path, kind)
		tooMany := surplus(list)
		list = slices.DeleteFunc(list, func(path string) bool { return slices.Contains(tooMany, path) && deleteCopy(ctx, path, log) })
		for _, path := range list {
			c := savedCopy{path, kind == sqlite.SavedLog}
			if !c.log {
				log.WarnContext(ctx, "found a copy of a lost database: restore it while the server is stopped, or move it to another folder", "copy", c.path)
			} else {
				log.WarnContext(ctx, "found the write-ahead log of an overwritten database: SQLite cannot read it without the database; move it to another folder", "copy", c.path)
			}
			all = append(all, c)
		}
	}
	return all
}

// target resolves symbolic links in a path, even if the target does not exist.
func target(path string) string {
	if file, err := filepath.EvalSymlinks(path); err == nil {
		return file
	}
	link, err := os.Readlink(path)
	if err != nil {
		return path
	}
	if !filepath.IsAbs(link) {
		link = filepath.Join(filepath.Dir(path), link)
	}
	return link
}

// surplus returns the copies to delete. The argument contains the copies of one kind from the
// oldest to the newest. surplus keeps copies that a person has opened, which have other files
// beside them.
func surplus(copies []string) []string {
	untouched := slices.DeleteFunc(slices.Clone(copies), func(path string) bool {
		_, err := os.Lstat(path + "-wal")
		return err == nil
	})
	if len(untouched) <= oldestCopies+newestCopies {
		return nil
	}
	return untouched[oldestCopies : len(untouched)-newestCopies]
}

// deleteCopy deletes a copy, logs that, and reports whether it is gone.
func deleteCopy(ctx context.Context, path string, log *slog.Logger) bool {
	if err := os.Remove(path); err != nil {
		log.ErrorContext(ctx, "deleting a copy of a lost database failed; there are too many copies", "copy", path, "error", err)
		return false
	}
	log.ErrorContext(ctx, "a copy of a lost database was deleted, because there are too many: find out what removes or overwrites the database",
		"copy", path, "kept_oldest", oldestCopies, "kept_newest", newestCopies)
	return true
}

// findCopies returns the copies of one kind of the database at a path, the oldest first. It skips
// renamed copies, because a person keeps them.
func findCopies(path, kind string) (copies []string) {
	entries, _ := os.ReadDir(filepath.Dir(path)) // sorted; opening the database reports an error
	for _, e := range entries {
		when, ok := strings.CutPrefix(e.Name(), filepath.Base(path)+kind)
		if ok && e.Type().IsRegular() && sqlite.IsSaveTime(when) {
			copies = append(copies, filepath.Join(filepath.Dir(path), e.Name()))
		}
	}
	return copies
}

// Err returns an error that names a copy that still exists; nil: there is none.
func (c Copies) Err() error {
	for _, one := range c {
		if _, err := os.Stat(one.path); err == nil {
			return fmt.Errorf("%s %s", one.path, one.advice())
		}
	}
	return nil
}
