package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/org/foreman-action/memory"
)

// Records implement memory.Agenda. They are safe for concurrent use.
type Records struct {
	engine Engine
	recordStatements
}

var _ memory.Agenda = (*Records)(nil)

// NewRecords returns the records of a database that [Migrate] was run on.
func NewRecords(e Engine, d Dialect) *Records { return &Records{e, newRecordStatements(d)} }

type recordStatements struct {
	record, recordHold      string
	update, create, replace string
	due, acted              string
	delete                  string
	deleteLedgers           string
	deleteAsides            string
	asides                  asides
}

func newRecordStatements(d Dialect) recordStatements {
	const find = "SELECT data FROM memory_record WHERE repo = $1 AND issue = $2"
	return recordStatements{
		record:     find,
		recordHold: d.Expand(find + "{lock}"),
		update:     "UPDATE memory_record SET revision = revision + 1, due = $4, data = $5, acted = $6, began = $7 WHERE repo = $1 AND issue = $2 AND revision = $3",
		create:     "INSERT INTO memory_record (repo, issue, revision, due, data, acted, began) VALUES ($1, $2, $3 + 1, $4, $5, $6, $7) ON CONFLICT DO NOTHING",
		replace:    "UPDATE memory_record SET revision = $3 + 1, due = $4, data = $5, acted = $6, began = $7 WHERE repo = $1 AND issue = $2",
		due:        "SELECT issue, due FROM memory_record WHERE repo = $1 AND due IS NOT NULL ORDER BY due, issue",
		acted:      "SELECT issue, coalesce(began, 0) FROM memory_record WHERE repo = $1 AND acted > $2 ORDER BY acted, issue",
		delete:     "DELETE FROM memory_record WHERE repo = $1 AND issue = $2",
		// The paths of an issue's ledgers are those between its folder with a slash and with the character after it.
		deleteLedgers: "DELETE FROM memory_ledger WHERE path >= $1 AND path < $2",
		deleteAsides:  "DELETE FROM memory_aside WHERE path = $1 OR path >= $2 AND path < $3",
		asides:        newAsides(d),
	}
}

// Load implements memory.Store.
func (s *Records) Load(ctx context.Context, repo string, issue int) (memory.Record, error) {
	if _, err := memory.Key(repo, issue); err != nil {
		return memory.Record{}, Wrap("read memory", err)
	}
	data, err := Value(ctx, s.engine.ReadOne, func(tx Tx) ([]byte, error) { return record(tx, s.record, repo, issue) })
	if err == nil && data == nil {
		return memory.Record{}, memory.ErrNotFound
	}
	var r memory.Record
	if err == nil {
		r, err = memory.Decode(data, repo, issue)
	}
	return r, Wrap(fmt.Sprintf("read memory of %s#%d", repo, issue), err)
}

// record reads a stored record. It returns nil if there is none.
func record(tx Tx, query, repo string, issue int) (data []byte, err error) {
	_, err = One(tx, query, Into(&data), strings.ToLower(repo), int64(issue))
	return data, err
}

// Save implements memory.Store.
func (s *Records) Save(ctx context.Context, r memory.Record) error {
	n, err := NextOf(r)
	if err != nil {
		return Wrap("save memory", err)
	}
	err = s.engine.Write(ctx, func(tx Tx) error { return s.SaveIn(tx, n) })
	return Wrap(fmt.Sprintf("save memory of %s#%d", r.Repo, r.Issue), err)
}

// A Next is a record in the form in which it is stored.
type Next struct {
	Repo, Path      string
	Issue, Revision int64 // Revision is that of the stored record
	// Due, and the first and the last time of Acted, are the parameters: milliseconds since 1970, or nil.
	Due, Began, Acted any
	Data              []byte // with the next revision

	name string // of the repository, as the caller spells it
}

// NextOf returns the stored form of a record that is saved.
func NextOf(r memory.Record) (n Next, err error) {
	n = Next{Repo: strings.ToLower(r.Repo), Issue: int64(r.Issue), Revision: int64(r.Revision), name: r.Repo}
	if n.Path, err = memory.Key(r.Repo, r.Issue); err != nil {
		return n, err
	}
	if at, ok := r.Due(); ok {
		n.Due = at.UnixMilli()
	}
	if at, ok := r.Acted(); ok {
		n.Acted = at.UnixMilli()
	}
	if at, ok := r.FirstAfter(time.Time{}); ok {
		n.Began = at.UnixMilli()
	}
	r.Revision++
	n.Data, err = memory.Encode(r)
	return n, err
}

// SaveIn stores a record in the transaction of the caller. It returns [memory.ErrConflict] if the stored
// record has another revision.
func (s *Records) SaveIn(tx Tx, r Next) error {
	args := []any{r.Repo, r.Issue, r.Revision, r.Due, r.Data, r.Acted, r.Began}
	if r.Revision > 0 {
		n, err := tx.Exec(s.update, args...)
		if err == nil && n == 0 {
			err = memory.ErrConflict
		}
		return err
	}
	n, err := tx.Exec(s.create, args...)
	if err != nil || n > 0 {
		return err
	}
	old, err := record(tx, s.recordHold, r.Repo, int(r.Issue))
	if err != nil {
		return err
	}
	_, err = memory.Decode(old, r.name, int(r.Issue))
	if err = s.asides.keep(tx, r.Path, old, cmp.Or(err, memory.ErrConflict)); err == nil {
		_, err = tx.Exec(s.replace, args...)
	}
	return err
}

// Pending implements memory.Agenda.
func (s *Records) Pending(ctx context.Context, repo string) (list []memory.Due, complete bool, err error) {
	if _, err := memory.Key(repo, 1); err != nil {
		return nil, false, Wrap("list due issues", err)
	}
	list, err = Value(ctx, s.engine.ReadOne, func(tx Tx) ([]memory.Due, error) {
		return All(tx, s.due, func(r Row) (d memory.Due, err error) {
			var at int64
			err = r.Scan(&d.Issue, &at)
			d.At = Time(at)
			return d, err
		}, strings.ToLower(repo))
	})
	return list, err == nil, Wrap("list due issues", err)
}

// Acted implements memory.Agenda.
func (s *Records) Acted(ctx context.Context, repo string, after time.Time) (list []memory.Due, complete bool, err error) {
	if _, err := memory.Key(repo, 1); err != nil {
		return nil, false, Wrap("list issues with new tasks", err)
	}
	list, err = Value(ctx, s.engine.ReadOne, func(tx Tx) ([]memory.Due, error) {
		return All(tx, s.acted, func(r Row) (d memory.Due, err error) {
			var began int64
			err = r.Scan(&d.Issue, &began)
			if d.At = after.UTC(); began > after.UnixMilli() {
				d.At = Time(began)
			}
			return d, err
		}, strings.ToLower(repo), after.UnixMilli())
	})
	memory.SortDue(list)
	return list, err == nil, Wrap("list issues with new tasks", err)
}

// Delete deletes the record of an issue, the ledgers of its tasks, and unreadable texts that were kept of
// them. It returns what it deleted, for people. If there is none, it returns no error.
func (s *Records) Delete(ctx context.Context, repo string, issue int) (deleted []string, err error) {
	path, err := memory.Key(repo, issue)
	if err != nil {
		return nil, Wrap("delete memory", err)
	}
	from, to := path+".journal/", path+".journal0"
	err = s.engine.Write(ctx, func(tx Tx) error {
		deleted = nil
		for _, one := range []struct {
			what, query string
			args        []any
		}{
			{"the record", s.delete, []any{strings.ToLower(repo), int64(issue)}},
			{"journals of tasks", s.deleteLedgers, []any{from, to}},
			{"unreadable copies", s.deleteAsides, []any{path, from, to}},
		} {
			n, err := tx.Exec(one.query, one.args...)
			if err != nil {
				return err
			}
			if n > 0 {
				deleted = append(deleted, fmt.Sprintf("%s (%d)", one.what, n))
			}
		}
		return nil
	})
	if err != nil {
		return nil, Wrap(fmt.Sprintf("delete memory of %s#%d", repo, issue), err)
	}
	return deleted, nil
}
