package sqlsteps

import (
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store"
	"github.com/org/foreman-action/store/internal/batch"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// joining are the statements that make the steps of several callers at once. They serve the steps that
// succeed in the usual way. The others are made one by one, which finds their errors.
type joining struct {
	steps, stepsWaiting string // the first skips locked tasks, the second waits for them
}

// none stands for a record without the time.
const none = math.MinInt64

func newJoining(d sqlstore.Dialect) joining {
	const last = "coalesce((SELECT s.at FROM write_slot s WHERE s.identity = w.identity ORDER BY s.at DESC LIMIT 1"
	// As in sqlstore.Slots, an OFFSET is not evaluated if there are fewer slots.
	nth := func(offset string) string {
		return "CASE WHEN (SELECT max(n) FROM write_slot) - (SELECT min(n) FROM write_slot) + 1 > " + offset + " THEN " + last + " OFFSET " + offset + "), 0) ELSE 0 END"
	}
	const step = "w.id, w.lease, w.path, w.ledger, w.repo, w.issue, w.revision, w.due, w.record, w.identity, w.within, w.per_minute, w.per_hour, w.acted, w.began"
	// Several requests of one identity have the offsets of consecutive slots, as if each had the slot
	// before: the first one is limited by the slot number per_minute, the next one by the slot after that.
	query := `
WITH want AS (
  SELECT ` + step + `, w.number FROM unnest($2::text[], $3::bigint[], $4::bigint[], $5::text[], $6::bytea[], $7::text[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bytea[], $12::text[], $13::bigint[], $14::bigint[], $15::bigint[], $18::bigint[], $19::bigint[])
    AS w(id, number, lease, path, ledger, repo, issue, revision, due, record, identity, within, per_minute, per_hour, acted, began)
), pick AS MATERIALIZED (
  SELECT t.seq, ` + step + ` FROM want w JOIN task t ON t.task_id = w.id
  WHERE t.state = 3 AND t.epoch = w.number AND (w.identity = '' OR ` + last + `), 0) <= {now} + $16::bigint){skip}
), added AS (
  INSERT INTO memory_record (repo, issue, revision, due, data, acted, began)
  SELECT repo, issue, 1, nullif(due, $17::bigint), record, nullif(acted, $17::bigint), nullif(began, $17::bigint) FROM pick WHERE record IS NOT NULL AND revision = 0
  ON CONFLICT DO NOTHING RETURNING repo, issue
), changed AS (
  UPDATE memory_record r SET revision = r.revision + 1, due = nullif(w.due, $17::bigint), data = w.record, acted = nullif(w.acted, $17::bigint), began = nullif(w.began, $17::bigint) FROM pick w
  WHERE w.record IS NOT NULL AND w.revision > 0 AND r.repo = w.repo AND r.issue = w.issue AND r.revision = w.revision
  RETURNING r.repo, r.issue
), able AS MATERIALIZED (
  SELECT w.seq, ` + step + `, {now} AS now, CASE WHEN w.identity <> '' THEN greatest({now}, ` + last + `), 0), ` +
		nth("w.per_minute") + ` + 60000, ` + nth("w.per_hour") + ` + 3600000) END AS at
  FROM pick w
  WHERE w.record IS NULL OR EXISTS (SELECT 1 FROM added a WHERE a.repo = w.repo AND a.issue = w.issue)
    OR EXISTS (SELECT 1 FROM changed c WHERE c.repo = w.repo AND c.issue = w.issue)
), slot AS (
  INSERT INTO write_slot (identity, at) SELECT identity, at FROM able WHERE identity <> '' AND at - now <= within
), forgotten AS (
  DELETE FROM write_slot WHERE n IN (
    SELECT s.n FROM (SELECT DISTINCT identity FROM able WHERE identity <> '') i
    CROSS JOIN LATERAL (SELECT o.n FROM write_slot o WHERE o.identity = i.identity AND o.at <= {now} - 3600000 ORDER BY o.at LIMIT 200) s)
), kept AS (
  INSERT INTO memory_ledger (path, at, data) SELECT path, now, ledger FROM able WHERE ledger IS NOT NULL
  ON CONFLICT (path) DO UPDATE SET at = excluded.at, data = excluded.data
), renewed AS (
  UPDATE task SET lease_until = able.now + able.lease FROM able WHERE task.seq = able.seq
)
SELECT id, at - now FROM able`
	return joining{d.Expand(query), d.Expand(strings.ReplaceAll(query, "{skip}", d.Lock+" OF t"))}
}

// usual reports whether the statements can make the step.
func (r *request) usual() bool { return r.Slot == nil || len(r.Slot.Missed) == 0 }

// size returns the number of bytes of the step's texts.
func (r *request) size() int {
	n := len(r.ledger)
	if r.record != nil {
		n += len(r.record.Data)
	}
	return n
}

// together makes the steps of several callers. Of the steps of one lease, or with one record, only the
// first is served.
func (s *Steps) together(now any, requests []*request, waits bool) batch.Joined {
	var (
		ids, paths, repos, identities           []string
		epochs, leases, issues, revisions, dues []int64
		acted, began                            []int64
		withins, minutes, hours                 []int64
		ledgers, records                        [][]byte
		isNew                                   bool
		taken                                   = map[string]int{} // slots by identity
		saved                                   = map[string]bool{}
		distinct                                = batch.NewDistinct(requests, func(r *request) string { return r.Lease.ID })
	)
	for _, r := range distinct.First {
		var next sqlstore.Next
		due, at, first := int64(none), int64(none), int64(none)
		if r.record != nil {
			if next = *r.record; saved[next.Path] {
				continue
			}
			if t, ok := next.Due.(int64); ok {
				due = t
			}
			if t, ok := next.Acted.(int64); ok {
				at = t
			}
			if t, ok := next.Began.(int64); ok {
				first = t
			}
		}
		var slot queue.SlotRequest
		n := 0
		if r.Slot != nil {
			if slot, n = *r.Slot, taken[r.Slot.Identity]+1; n > min(slot.PerMinute, slot.PerHour) {
				continue
			}
			taken[slot.Identity] = n
		}
		saved[next.Path] = r.record != nil
		isNew = isNew || r.ledger != nil && r.Changed == nil
		ids, epochs, leases = append(ids, r.Lease.ID), append(epochs, r.Lease.Epoch), append(leases, sqlstore.Millis(r.For))
		paths, ledgers = append(paths, r.path), append(ledgers, r.ledger)
		repos, issues, revisions = append(repos, next.Repo), append(issues, next.Issue), append(revisions, next.Revision)
		dues, acted, began, records = append(dues, due), append(acted, at), append(began, first), append(records, next.Data)
		identities, withins = append(identities, slot.Identity), append(withins, slot.Within.Milliseconds())
		minutes, hours = append(minutes, int64(slot.PerMinute-n)), append(hours, int64(slot.PerHour-n))
	}
	query := s.steps
	if waits {
		query = s.stepsWaiting
	}
	each := func(row sqlstore.Row) error {
		var id string
		var wait int64
		if err := row.Scan(&id, &wait); err != nil {
			return err
		}
		r := requests[distinct.Serve(id)]
		r.out = store.Advanced{Renewed: true}
		if r.Slot != nil {
			r.out.Slot.Wait = time.Duration(wait) * time.Millisecond
			r.out.Slot.Taken = r.out.Slot.Wait <= r.Slot.Within
		}
		return nil
	}
	args := []any{
		now, ids, epochs, leases, paths, ledgers, repos, issues, revisions, dues, records, identities, withins, minutes, hours,
		queue.MaxSlotWait.Milliseconds(), int64(none), acted, began,
	}
	j := batch.Joined{Statement: sqlstore.Statement{Query: query, Args: args, Each: each}, Served: distinct.Served}
	for _, identity := range slices.Sorted(maps.Keys(taken)) { // in the same order everywhere
		j.Before = append(j.Before, s.parts.Slots.Lock(identity))
	}
	if isNew {
		j.Before = append(j.Before, s.parts.Ledgers.Forget(now))
	}
	return j
}
