package sqlqueue

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/org/foreman-action/queue"
)

// Enqueue implements queue.Queue.
func (s *Store) Enqueue(ctx context.Context, t queue.Task) (queue.Enqueued, error) {
	if err := t.Check(); err != nil {
		return queue.Enqueued{}, doing("enqueue a task", err)
	}
	var out queue.Enqueued
	do := s.engine.Write
	alone := s.engine.Dialect().Insert != "" && !t.Coalesce && t.HourlyLimit == 0 && t.Wait == 0
	if alone {
		do = s.engine.Single
	}
	var err error
	// The task that this one is a duplicate of may be purged before it is looked for.
	for tries := 0; out.How == "" && err == nil; tries++ {
		err = do(ctx, func(tx Tx) (err error) {
			out, err = s.enqueue(tx, t, alone)
			return err
		})
		if err == nil && alone && out.How == "" {
			out, err = s.duplicate(ctx, t)
		}
		if err == nil && out.How == "" && tries == maxTries {
			err = fmt.Errorf("%w: tasks of its id or key come and go", queue.ErrUnavailable)
		}
	}
	if err != nil {
		return queue.Enqueued{}, doing("enqueue task "+t.ID, err)
	}
	switch {
	case out.How == queue.Duplicate:
	case out.Behind != "":
		s.tell(t.Agent, "") // where others look past what is locked, they have missed those ahead
	case out.Ready.IsZero():
		s.tell(t.Agent)
	}
	return out, nil
}

// maxTries is how often a task is enqueued that is neither new nor a duplicate.
const maxTries = 10

// enqueue adds a task. If it is alone in its transaction, it does not look for the task
// that it duplicates, and returns nothing if there is one.
func (s *Store) enqueue(tx Tx, t queue.Task, alone bool) (queue.Enqueued, error) {
	var notBefore int64
	var behind string
	if t.HourlyLimit > 0 { // before those of its issue are held, which others may wait for that have this
		if err := s.exclusive(tx, strings.ToLower(t.Repo)); err != nil {
			return queue.Enqueued{}, err
		}
	}
	if t.Coalesce && t.Issue > 0 && t.Agent != "" {
		out, ahead, err := s.coalesce(tx, t)
		if err != nil || out.How != "" {
			return out, err
		}
		behind = ahead
	}
	if t.HourlyLimit > 0 {
		var err error
		if notBefore, err = s.turn(tx, t); err != nil {
			return queue.Enqueued{}, err
		}
	}
	seq, err := s.insert(tx, t, notBefore)
	if err != nil {
		return queue.Enqueued{}, err
	}
	if seq == 0 {
		if alone {
			return queue.Enqueued{}, nil
		}
		return s.find(tx, queue.Duplicate, t)
	}
	out := queue.Enqueued{How: queue.Added, ID: t.ID, Behind: behind}
	if behind != "" {
		return out, s.keepBehind(tx, seq, behind)
	}
	if t.Wait > 0 || notBefore > 0 {
		return s.find(tx, out.How, t)
	}
	return out, nil
}

// insert adds the rows of a task, and returns 0 if there is one already.
func (s *Store) insert(tx Tx, t queue.Task, notBefore int64) (seq int64, err error) {
	var dedup, hourly any
	if t.Dedup != "" {
		dedup = t.Dedup
	}
	if t.HourlyLimit > 0 {
		hourly = strings.ToLower(t.Repo)
	}
	state := int64(statePending)
	if t.Agent == "" {
		state = stateCompleted
	}
	if t.Wait > 0 || notBefore > 0 {
		state += holding
	}
	reason := ""
	if notBefore > 0 {
		reason = queue.CleanText(fmt.Sprintf("held back: %d tasks of %s within an hour", t.HourlyLimit, t.Repo))
	}
	args := []any{
		tx.Now(), t.ID, t.Agent, t.Repo, int64(t.Issue), Lane(t.Repo, t.Issue), dedup, hourly, state, int64(t.Priority),
		number(t.Coalesce), notBefore, millis(t.Wait), reason,
	}
	each := func(r Row) error { return r.Scan(&seq) }
	if s.engine.Dialect().Insert != "" {
		_, err = one(tx, s.sql.insert, each, append(args, text(t.Message), blob(t.Origin))...)
		return seq, err
	}
	there, err := one(tx, s.sql.insert, each, args...)
	if err != nil || !there {
		return 0, err
	}
	_, err = tx.Exec(s.sql.body, seq, blob(t.Origin), text(t.Message))
	return seq, err
}

// number is a truth as it is kept.
func number(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// text is a text that is never NULL, as a parameter.
func text(data []byte) any {
	if data == nil {
		return []byte{}
	}
	return data
}

// blob is a text as a parameter; nil is NULL.
func blob(data []byte) any {
	if data == nil {
		return nil
	}
	return data
}

// duplicate finds the task that a new one is a duplicate of.
func (s *Store) duplicate(ctx context.Context, t queue.Task) (out queue.Enqueued, err error) {
	err = s.engine.Read(ctx, func(tx Tx) error {
		out, err = s.find(tx, queue.Duplicate, t)
		return err
	})
	return out, err
}

// find finds the task of the same id or the same key, and returns nothing if there is
// none.
func (s *Store) find(tx Tx, how queue.How, t queue.Task) (queue.Enqueued, error) {
	out, err := stands(tx, how, s.sql.byID, tx.Now(), t.ID)
	if err == nil && out.How == "" && t.Dedup != "" {
		out, err = stands(tx, how, s.sql.byDedup, tx.Now(), t.Dedup)
	}
	if err == nil && out.How == "" && t.Dedup != "" {
		out, err = stands(tx, how, s.sql.byAlso, tx.Now(), t.Dedup)
	}
	return out, err
}

// stands runs a statement with the columns of selectStands.
func stands(tx Tx, how queue.How, query string, args ...any) (out queue.Enqueued, err error) {
	var seq, ready int64
	found, err := one(tx, query, func(r Row) error { return r.Scan(&seq, &out.ID, &ready, &out.Behind) }, args...)
	if out.Ready = timeOf(ready); found {
		out.How = how
	}
	return out, err
}

// coalesce lets a task that waits already tell of a new one, if there is one. If there is
// none, it returns the task that the new one is to wait for; empty: none.
func (s *Store) coalesce(tx Tx, t queue.Task) (out queue.Enqueued, behind string, err error) {
	key := Lane(t.Repo, t.Issue)
	if err := s.exclusive(tx, key); err != nil {
		return out, "", err
	}
	if out, err = s.find(tx, queue.Duplicate, t); err != nil || out.How != "" {
		return out, "", err
	}
	list, err := s.neighbours(tx, key, t.Agent)
	if err != nil {
		return out, "", err
	}
	if n, ok := joinable(list); ok {
		if ok, err = s.joinTo(tx, t, n); err != nil || ok {
			n.How = queue.Coalesced
			return n.Enqueued, "", err
		}
	}
	return out, ahead(list), nil
}

// joinTo lets a task that waits tell of a new one too, and reports whether it does.
func (s *Store) joinTo(tx Tx, t queue.Task, n neighbour) (bool, error) {
	told, ok, err := s.joined(tx, t, n.seq, n.ID)
	if err != nil || !ok {
		return false, err
	}
	if _, err := tx.Exec(s.sql.join, n.seq, int64(t.Priority)); err != nil {
		return false, err
	}
	if t.Dedup != "" {
		if _, err := tx.Exec(s.sql.also, t.Dedup, n.seq); err != nil {
			return false, err
		}
	}
	_, err = tx.Exec(s.sql.joinBody, n.seq, blob(told.Origin), text(told.Message))
	return err == nil, err
}

// joined is what a task that waits tells of together with a new one.
func (s *Store) joined(tx Tx, t queue.Task, seq int64, id string) (told queue.Told, ok bool, err error) {
	var old queue.Told
	if t.Join != nil {
		var decision, report []byte // there are none
		_, err = one(tx, s.sql.texts, func(r Row) error { return r.Scan(&old.Origin, &old.Message, &decision, &report) }, seq)
	}
	if err == nil {
		told, ok = t.Joins(id, old)
	}
	return told, ok, err
}

// exclusive keeps others out that enqueue for the same key.
func (s *Store) exclusive(tx Tx, key string) error {
	if s.sql.exclusive == "" {
		return nil
	}
	return tx.Query(s.sql.exclusive, none, key)
}

// turn is when it is the turn of a task of a repository with an hourly limit; 0 if that
// is over. The repository is the caller's alone.
func (s *Store) turn(tx Tx, t queue.Task) (at int64, err error) {
	key := strings.ToLower(t.Repo)
	wait := millis(t.Wait)
	var next, now int64
	full, err := one(tx, s.sql.hourly, func(r Row) error { return r.Scan(&next, &now) }, tx.Now(), key, int64(t.HourlyLimit-1))
	if next += time.Hour.Milliseconds(); err != nil || !full || next <= now+wait {
		return 0, err
	}
	return next, nil
}
