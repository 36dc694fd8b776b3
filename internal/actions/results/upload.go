package results

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/org/foreman-action/internal/actions/results/internal/rpc"
	"github.com/org/foreman-action/memory"
)

// An uploader makes artifacts and checks that no artifact of a competing run is lost.
type uploader struct {
	service artifactService
	reader  Reader
	trust   provenance
	lists   *lists
	sleep   func(context.Context, time.Duration) error
	log     *slog.Logger
}

// known returns the artifacts with a name, trusted or not, from a list that is at most listAge old.
func (p uploader) known(ctx context.Context, name string) ([]Info, error) {
	if all, ok := p.lists.get(name); ok {
		return all, nil
	}
	all, err := p.reader.List(ctx, name)
	if err == nil {
		p.lists.put(name, all)
	}
	return all, err
}

// list returns the trusted artifacts of a name, newest first.
func (p uploader) list(ctx context.Context, name string) ([]Info, error) {
	all, err := p.reader.List(ctx, name)
	if err != nil {
		return nil, err
	}
	return p.trust.trusted(all, name, p.log), nil
}

// prepare prepares the upload of an artifact, and lists the existing artifacts with its name.
func (p uploader) prepare(ctx context.Context, job jobIDs, name string, data []byte) (*upload, error) {
	zip, err := pack(data)
	if err != nil {
		return nil, err
	}
	all, err := p.known(ctx, name)
	if err != nil {
		return nil, err
	}
	return &upload{uploader: p, job: job, name: name, zip: zip, existing: all, trusted: p.trust.trusted(all, name, p.log)}, nil
}

// An upload is the upload of one artifact: a record, or the announcement of a closing.
type upload struct {
	uploader
	job      jobIDs
	name     string
	zip      []byte
	existing []Info // artifacts of the name before the upload
	trusted  []Info // the trusted ones of existing, newest first
	replaces bool   // an existing artifact was removed for this one
	unlisted bool   // existing was not listed, because the issue probably has no record
}

// run creates the artifact, checks for competing artifacts, and returns its id.
func (u *upload) run(ctx context.Context) (int64, error) {
	id, err := u.create(ctx)
	if err == nil {
		err = u.confirm(ctx, id)
	}
	if err != nil {
		u.lists.forget(u.name)
	}
	return id, err
}

// create makes the artifact, and returns its id.
func (u *upload) create(ctx context.Context) (int64, error) {
	to, err := u.service.create(ctx, u.job, u.name)
	if rpc.IsTaken(err) {
		to, err = u.replace(ctx)
	}
	if err != nil {
		return 0, err
	}
	if err := u.service.upload(ctx, to, u.zip); err != nil {
		return 0, err
	}
	return u.finalize(ctx)
}

// replace creates the artifact if this run already has one with the name: the record on which ours
// is based, or the incomplete artifact of a killed attempt.
func (u *upload) replace(ctx context.Context) (rpc.SignedURL, error) {
	now, err := u.list(ctx, u.name)
	if err != nil {
		return rpc.SignedURL{}, err
	}
	if !slices.EqualFunc(now, u.trusted, func(x, y Info) bool { return x.ID == y.ID }) {
		return rpc.SignedURL{}, fmt.Errorf("%w: an artifact with this name was created", memory.ErrConflict)
	}
	u.replaces = true
	switch err := u.remove(ctx, u.existed); {
	case errors.Is(err, memory.ErrConflict):
		return rpc.SignedURL{}, err
	case err != nil:
		u.log.Warn("deleting the artifact of an earlier attempt failed", "name", u.name, "error", err.Error())
	}
	to, err := u.service.create(ctx, u.job, u.name)
	if rpc.IsTaken(err) {
		return rpc.SignedURL{}, u.explainTaken(ctx, err)
	}
	return to, err
}

// explainTaken returns why the name is taken after a removal: another job of this run was faster,
// or the service does not release the name.
func (u *upload) explainTaken(ctx context.Context, reason error) error {
	now, err := u.list(ctx, u.name)
	if err == nil && slices.ContainsFunc(now, func(info Info) bool { return !u.existed(info.ID) }) {
		return fmt.Errorf("%w: %w", memory.ErrConflict, reason)
	}
	return fmt.Errorf("%w: %w", ErrTaken, reason)
}

// finalize makes the artifact visible, and returns its id.
func (u *upload) finalize(ctx context.Context) (int64, error) {
	got, err := u.service.finalize(ctx, u.job, u.name, u.zip)
	switch {
	case rpc.IsNotFound(err):
		// Another job of this run has replaced the artifact meanwhile.
		return 0, fmt.Errorf("%w: %w", memory.ErrConflict, err)
	case err == nil:
		return got.Number("artifact_id")
	case rpc.IsRefused(err):
		return 0, err
	}
	// It is unknown whether the service has finished the artifact, so look for it.
	now, lost := u.list(ctx, u.name)
	if lost != nil {
		return 0, err
	}
	i := slices.IndexFunc(now, func(info Info) bool { return info.Digest == digest(u.zip) && !u.existed(info.ID) })
	if i < 0 {
		return 0, err
	}
	return now[i].ID, nil
}

// existed reports whether an artifact was listed before the upload.
func (u *upload) existed(id int64) bool {
	return slices.ContainsFunc(u.existing, func(info Info) bool { return info.ID == id })
}

// confirm looks for a conflict. It is a conflict if another artifact was made meanwhile, if ours
// was replaced, or if the one on which ours is based was removed. confirm then removes ours and
// returns memory.ErrConflict.
func (u *upload) confirm(ctx context.Context, id int64) error {
	all, err := u.reader.List(ctx, u.name)
	if err == nil && !slices.ContainsFunc(all, func(info Info) bool { return info.ID == id }) {
		// The list may lag behind, so it is read once more.
		if err = u.sleep(ctx, firstWait); err == nil {
			all, err = u.reader.List(ctx, u.name)
		}
	}
	if err != nil && u.unlisted {
		return err
	}
	if err != nil {
		u.lists.forget(u.name)
		u.log.Warn("saved without a check for concurrent saves", "name", u.name, "error", err.Error())
		return nil
	}
	u.lists.put(u.name, all)
	return u.check(ctx, id, all)
}

// check looks for a conflict in a list of the artifacts with the name.
func (u *upload) check(ctx context.Context, id int64, all []Info) error {
	own, rival, base := false, false, u.replaces || len(u.trusted) == 0
	for _, info := range all {
		reason := u.trust.check(info, u.name)
		switch {
		case info.ID == id && reason != "":
			return fmt.Errorf("the artifact was stored, but later runs will not trust it: %s", reason)
		case info.ID == id:
			own = true
		case reason == "" && !u.existed(info.ID):
			rival = true
		}
		base = base || info.ID == u.trusted[0].ID
	}
	if own && base && !rival {
		return nil
	}
	err := u.remove(ctx, func(x int64) bool { return x == id })
	if err != nil && !errors.Is(err, memory.ErrConflict) {
		u.log.Warn("deleting a conflicting artifact failed", "name", u.name, "id", id, "error", err.Error())
	}
	return fmt.Errorf("%w: an artifact with this name was created or removed", memory.ErrConflict)
}

// remove deletes the artifact with the name in this run if allowed accepts its id; otherwise the
// error is memory.ErrConflict. If there is no such artifact, remove returns no error.
func (u *upload) remove(ctx context.Context, allowed func(id int64) bool) error {
	id, maker, err := u.service.find(ctx, u.job, u.name)
	switch {
	case err != nil || id == 0:
		return err
	case !allowed(id):
		return fmt.Errorf("%w: the run has another artifact with this name", memory.ErrConflict)
	}
	gone, err := u.service.remove(ctx, maker, u.name)
	if gone != 0 && gone != id {
		u.log.Warn("deleted another artifact, which was created after the look-up", "name", u.name, "id", gone)
	}
	return err
}
