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

// How many copies of each kind are kept of a database that is lost again and again, such as by a
// job that overwrites it: the first ones, which hold the earlier tasks, and the last ones.
const (
	oldestCopies = 2
	newestCopies = 3
)

// A savedCopy is a file that a server saved when it lost a database.
type savedCopy struct {
	path string
	log  bool // it is the log of a database that was overwritten; else a whole database
}

// advice returns what an operator should do.
func (c savedCopy) advice() string {
	if c.log {
		return "is the log of a database that was overwritten: it has the last writes, which SQLite alone cannot read; move it away"
	}
	return "is the copy of a lost database: put it in the place of the database while the server is stopped, or move it away"
}

// keepCopies returns the copies beside the databases that have not been restored or removed,
// and logs them. Beyond a number of them it deletes those in the middle.
func keepCopies(ctx context.Context, at Locations, log *slog.Logger) (all []savedCopy) {
	for _, location := range slices.Compact([]string{at.Queue, at.Memory}) {
		path, ok := File(location)
		if !ok {
			continue
		}
		path = target(path) // where they are saved
		for _, kind := range []string{sqlite.Rescued, sqlite.SavedLog} {
			list := findCopies(path, kind)
			tooMany := surplus(list)
			list = slices.DeleteFunc(list, func(path string) bool { return slices.Contains(tooMany, path) && deleteCopy(ctx, path, log) })
			for _, path := range list {
				c := savedCopy{path, kind == sqlite.SavedLog}
				if !c.log {
					log.WarnContext(ctx, "found a copy of a lost database: restore it while the server is stopped, or move it away", "copy", c.path)
				} else {
					log.WarnContext(ctx, "found the log of an overwritten database: SQLite alone cannot read it; move it away", "copy", c.path)
				}
				all = append(all, c)
			}
		}
	}
	return all
}

// target returns the file that a path leads to, also where a link leads to a file that is lost.
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

// surplus returns the copies that are too many, of those of one kind, the oldest first. One that
// somebody has opened, which leaves files beside it, is none.
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
		log.ErrorContext(ctx, "a copy of a lost database cannot be deleted, and there are too many", "copy", path, "error", err)
		return false
	}
	log.ErrorContext(ctx, "a copy of a lost database was deleted, because there are too many: find out what removes or overwrites the database",
		"copy", path, "kept_oldest", oldestCopies, "kept_newest", newestCopies)
	return true
}

// findCopies returns the copies of one kind of the database at a path, the oldest first. One that
// somebody has renamed is that person's.
func findCopies(path, kind string) (copies []string) {
	entries, _ := os.ReadDir(filepath.Dir(path)) // opening the database reports an error; sorted by name
	for _, e := range entries {
		when, ok := strings.CutPrefix(e.Name(), filepath.Base(path)+kind)
		if ok && e.Type().IsRegular() && sqlite.IsSaveTime(when) {
			copies = append(copies, filepath.Join(filepath.Dir(path), e.Name()))
		}
	}
	return copies
}

// Rescued returns an error that names a copy of a lost database that lay beside the databases when
// they were opened, and still does; nil: there is none.
func (s Stores) Rescued() error {
	for _, c := range s.copies {
		if _, err := os.Stat(c.path); err == nil {
			return fmt.Errorf("%s %s", c.path, c.advice())
		}
	}
	return nil
}
