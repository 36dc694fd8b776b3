package results

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/org/foreman-action/memory"
)

// A deferred upload is finished, but not yet checked for a lost race.
type deferred struct {
	*upload
	issue int
	id    int64
}

// takenBack is the age after which a run no longer removes its own artifact because of a conflict.
const takenBack = time.Hour

// Defer implements memory.Batch. It does not defer the check of announcements: each is checked
// right after its upload.
func (a *Artifact) Defer() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.deferring = true
}

// Settle implements memory.Batch. It makes one list: the artifacts that are newer than those that
// Pending listed.
func (a *Artifact) Settle(ctx context.Context) (lost []int, err error) {
	a.mu.Lock()
	list := a.deferred
	a.deferring, a.deferred = false, nil
	a.mu.Unlock()
	if len(list) == 0 {
		return nil, nil
	}
	var all []Info
	whole := false
	if a.uploads.lists.listedAll() {
		if all, whole, err = a.uploads.reader.Recent(ctx, a.uploads.lists.newest()); err != nil {
			a.uploads.log.Warn("saved without a check for concurrent saves", "records", len(list), "error", err.Error())
			return nil, nil
		}
	}
	var errs []error
	for _, d := range list {
		switch err := d.settle(ctx, all, whole); {
		case errors.Is(err, memory.ErrConflict):
			a.uploads.lists.forget(d.name)
			if !slices.Contains(lost, d.issue) {
				lost = append(lost, d.issue)
			}
		case err != nil:
			errs = append(errs, fmt.Errorf("save memory in artifact %s: %w", d.name, err))
		}
	}
	return lost, errors.Join(errs...)
}

// settle looks for a competing artifact in newest, the newest artifacts of all names. If that list
// is incomplete, or lacks the new artifact or the one it is based on, settle lists the artifacts of
// its own name.
func (d deferred) settle(ctx context.Context, newest []Info, whole bool) error {
	all := named(newest, d.name)
	has := func(id int64) bool { return slices.ContainsFunc(all, func(i Info) bool { return i.ID == id }) }
	if len(d.trusted) > 0 && !has(d.trusted[0].ID) {
		if made := d.trusted[0].CreatedAt; !made.IsZero() && d.lists.now().Sub(made) > takenBack {
			all = append(all, d.trusted[0])
		}
	}
	if !whole || !has(d.id) || len(d.trusted) > 0 && !has(d.trusted[0].ID) {
		return d.confirm(ctx, d.id)
	}
	return d.check(ctx, d.id, all)
}
