package judge

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/org/foreman-action/memory"
)

// A Found is the outcome of an action, which is to be counted.
type Found struct {
	memory.Result

	Key  memory.PairKey
	Name string // as in memory.Pair
}

// A Counter adds outcomes to the track records of a repository.
type Counter struct {
	Repo  string // "owner/name"
	Store memory.Store
	// Threshold returns the proof that a pair needs; see [memory.Pair.Count].
	Threshold func(k memory.PairKey) memory.Threshold
	// Reset returns the time before which outcomes of a pair do not count; zero: all count. name is as in
	// [memory.Pair].
	Reset func(k memory.PairKey, name string) time.Time
}

// A Count is the result of counting outcomes.
type Count struct {
	Judged int // outcomes that were counted
	Undone int // part of Judged; without those of shadow mode
	// Changes are the permissions that pairs got or lost, in the order in which that happened.
	Changes []memory.PermissionChange
	// Outcomes are those in the record afterwards; nil: the record was not saved.
	Outcomes *memory.Outcomes
	// Broken is why the track records could not be decoded, so that new ones begin; nil: they could.
	Broken error
}

// errNone ends an update that would change nothing.
var errNone = errors.New("no outcome counts")

// Count adds outcomes to the record of the repository, once each. All actions up to the time were judged.
//
// A zero time means that the outcomes are counted before the pass that judges their actions. Then the record is saved only if an
// outcome counts, and outcomes for which the record has no room are left to the pass.
func (c Counter) Count(ctx context.Context, list []Found, to time.Time) (n Count, err error) {
	store := &attentive{Store: c.Store}
	_, err = memory.Update(context.WithoutCancel(ctx), store, c.Repo, memory.Repository, func(r *memory.Record) error {
		n = Count{Broken: store.broken}
		var o memory.Outcomes
		if r.Outcomes != nil {
			o = *r.Outcomes
		}
		for _, f := range list {
			if to.IsZero() && !o.Room() {
				break
			}
			f.Passed = !f.Acted.After(to)
			c.add(&o, f, &n)
		}
		if to.IsZero() && n.Judged == 0 {
			return errNone
		}
		o.Advance(to)
		r.Outcomes, n.Outcomes = &o, &o
		return nil
	})
	if err != nil && !errors.Is(err, errNone) {
		return Count{Broken: n.Broken}, fmt.Errorf("save the outcomes: %w", err)
	}
	return n, nil
}

// add adds an outcome to those of the repository.
func (c Counter) add(o *memory.Outcomes, f Found, n *Count) {
	before, _ := o.Pair(f.Key)
	from := c.Reset(f.Key, f.Name)
	o.Reset(f.Key, from)
	if !f.Acted.Before(from) && o.Count(f.Key, f.Name, f.Result, c.Threshold(f.Key)) {
		n.Judged++
		if !f.Shadow && (f.Outcome == memory.OutcomeUndone || f.Outcome == memory.OutcomeRejected) {
			n.Undone++
		}
	}
	if after, ok := o.Pair(f.Key); ok {
		if change, changed := after.Changed(before); changed {
			n.Changes = append(n.Changes, change)
		}
	}
}

// An attentive store keeps the error of a record that could not be decoded, which [memory.Update] replaces.
type attentive struct {
	memory.Store

	broken error
}

func (s *attentive) Load(ctx context.Context, repo string, issue int) (memory.Record, error) {
	r, err := s.Store.Load(ctx, repo, issue)
	if s.broken = nil; errors.Is(err, memory.ErrBroken) {
		s.broken = err
	}
	return r, err
}
