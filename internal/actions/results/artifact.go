package results

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/org/foreman-action/memory"
)

// An Artifact is a memory.Store of one artifact per issue and run of a workflow,
// "foreman-memory-i<N>": a zip of one JSON file. Make it with [NewArtifact].
//
// Anybody can have an artifact of any name made in a repository, by a pull request
// from a fork. Only those count that were made by a run of this repository on its
// default branch, have not expired, and are what their digest says; of these, the
// one with the highest id is the record, and no older one takes its place when it
// is broken.
//
// The service has no compare-and-swap. Save compares revisions with the newest
// artifact before it uploads, and lists them again afterwards: if somebody else's
// has come in between, or its own is gone, it takes its own back and returns
// memory.ErrConflict. So of two runs that save at once one wins, or both try again,
// provided that a list shows what was finished before. Two things remain between
// runs: the record of a program that is killed between its upload and the second
// look may hide the other one's, and so may a third run that reads a record in the
// moment before it is taken back. A "concurrency:" block in the workflow keeps the
// runs of an issue apart.
//
// A record with a closing to come is announced by a second artifact, whose name tells
// when: "foreman-closing-i<N>-20260501T083000Z", or "-none" once there is none any more.
// Pending lists the newest 2,000 artifacts of the repository, of all workflows.
//
// Within a run a name is given once. Where an earlier attempt, or another job, has
// used it, that artifact is removed and made anew, as GitHub's own action does when
// it is told to overwrite. None is removed but the one that was listed before, or
// our own: another one is memory.ErrConflict. If the service does not let us, the
// error is [ErrTaken]. Two things remain here too. Until the new one is finished
// there is only the record of an earlier run, or none: for whoever looks meanwhile,
// and for good if the program is killed or its upload fails. And the service deletes
// by name and job: if the job that made the artifact replaces it itself between our
// look and our deletion, its new one goes, which a warning in the log says.
type Artifact struct {
	c      *client
	reader Reader
	repo   string
	repoID int64
	branch string
	gate   gate

	mu   sync.Mutex
	seen map[int]held // by issue
}

var _ memory.Agenda = (*Artifact)(nil)

// A held is what is known of the artifact that is the record of an issue.
type held struct {
	id       int64 // 0: there is none
	revision int
	due      time.Time // of its first closing; zero: it has none
	err      error     // instead of a revision
}

// Load implements memory.Store.
func (a *Artifact) Load(ctx context.Context, repo string, issue int) (memory.Record, error) {
	r, err := a.load(ctx, repo, issue)
	if err != nil && !errors.Is(err, memory.ErrNotFound) {
		return memory.Record{}, fmt.Errorf("load memory from artifact %s: %w", artifactName(issue), err)
	}
	return r, err
}

func (a *Artifact) load(ctx context.Context, repo string, issue int) (memory.Record, error) {
	if err := checkIssue(ctx, a.repo, repo, issue); err != nil {
		return memory.Record{}, err
	}
	list, err := a.list(ctx, artifactName(issue))
	if err != nil {
		return memory.Record{}, err
	}
	if len(list) == 0 {
		return memory.Record{}, memory.ErrNotFound
	}
	return a.fetch(ctx, list[0], issue)
}

// Save implements memory.Store.
func (a *Artifact) Save(ctx context.Context, r memory.Record) error {
	if err := a.save(ctx, r); err != nil {
		return fmt.Errorf("save memory in artifact %s: %w", artifactName(r.Issue), err)
	}
	return nil
}

func (a *Artifact) save(ctx context.Context, r memory.Record) error {
	if err := checkIssue(ctx, a.repo, r.Repo, r.Issue); err != nil {
		return err
	}
	next := r
	next.Revision++
	data, err := memory.Encode(next)
	if err != nil {
		return err
	}
	zip, err := pack(data)
	if err != nil {
		return err
	}
	ids, err := claims(a.c.token)
	if err != nil {
		return err
	}
	if err := a.gate.enter(ctx); err != nil {
		return err
	}
	defer a.gate.leave()
	u, err := a.upload(ctx, artifactName(r.Issue), zip, ids)
	if err != nil {
		return err
	}
	stored, err := a.newest(ctx, u.before, r.Issue)
	if err != nil {
		return err
	}
	if err := admit(r.Revision, stored.revision, stored.err); err != nil {
		return err
	}
	announce := a.announce(r, stored, ids)
	if err := announce(ctx, true); err != nil {
		return err
	}
	id, err := u.run(ctx)
	if err != nil {
		return err
	}
	a.remember(r.Issue, holding(id, next))
	return announce(ctx, false)
}

// upload prepares an artifact of a name. The gate is held.
func (a *Artifact) upload(ctx context.Context, name string, zip []byte, ids backend) (*upload, error) {
	u := &upload{a: a, name: name, zip: zip, ids: ids}
	var err error
	if u.seen, err = a.reader.List(ctx, name); err != nil {
		return nil, err
	}
	u.before = a.believed(u.seen, name)
	return u, nil
}

// holding is what is known of an artifact that holds a record.
func holding(id int64, r memory.Record) held {
	h := held{id: id, revision: r.Revision}
	h.due, _ = r.Due()
	return h
}

// fetch reads the record in an artifact and remembers its revision.
func (a *Artifact) fetch(ctx context.Context, info Info, issue int) (memory.Record, error) {
	data, err := a.reader.Download(ctx, info.ID, maxZip)
	switch {
	case errors.Is(err, ErrGone):
		return memory.Record{}, memory.ErrNotFound
	case errors.Is(err, ErrTooLarge):
		err = broken(err)
	case err == nil:
		var r memory.Record
		if r, err = decode(data, info.Digest, a.repo, issue); err == nil {
			a.remember(issue, holding(info.ID, r))
			return r, nil
		}
	}
	if told(err) {
		a.remember(issue, held{id: info.ID, err: err})
	}
	return memory.Record{}, err
}

// decode reads the record in a zip that must have a digest.
func decode(data []byte, want, repo string, issue int) (memory.Record, error) {
	if digest(data) != want {
		return memory.Record{}, broken(errors.New("the zip is not the one that was uploaded: its digest is another"))
	}
	text, err := unpack(data)
	if err != nil {
		return memory.Record{}, err
	}
	return memory.Decode(text, repo, issue)
}

// digest is what the API calls the digest of an artifact.
func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// list returns the artifacts of a name that may be ours, newest first.
func (a *Artifact) list(ctx context.Context, name string) ([]Info, error) {
	all, err := a.reader.List(ctx, name)
	if err != nil {
		return nil, err
	}
	return a.believed(all, name), nil
}

// believed returns those of a list that may be ours and of that name, newest first.
func (a *Artifact) believed(all []Info, name string) []Info {
	refused, why := 0, ""
	out := slices.DeleteFunc(slices.Clone(all), func(info Info) bool {
		reason := a.distrust(info, name)
		if reason != "" && !info.Expired {
			refused, why = refused+1, reason
		}
		return reason != ""
	})
	if refused > 0 {
		a.c.log.Warn("artifacts that are not believed", "name", name, "count", refused, "reason", why)
	}
	slices.SortFunc(out, func(x, y Info) int { return int(min(max(y.ID-x.ID, -1), 1)) })
	return out
}

// distrust says why an artifact does not count; empty: it does.
func (a *Artifact) distrust(info Info, name string) string {
	switch run := info.WorkflowRun; {
	case info.Name != name:
		return "it has another name"
	case info.ID < 1:
		return "it has no id"
	case run.RepositoryID != a.repoID:
		return "its run belongs to another repository"
	case run.HeadRepositoryID != a.repoID:
		return "it was made from a fork"
	case run.HeadBranch != a.branch:
		return "it was not made on the default branch"
	case info.Expired:
		return "it has expired"
	case info.Digest == "":
		return "it has no digest"
	}
	return ""
}

func (a *Artifact) remember(issue int, h held) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.seen[issue] = h
}

// newest returns what the first artifact of a list holds, downloading it when it is
// not known yet.
func (a *Artifact) newest(ctx context.Context, list []Info, issue int) (held, error) {
	if len(list) == 0 {
		return held{err: memory.ErrNotFound}, nil
	}
	a.mu.Lock()
	h, ok := a.seen[issue]
	a.mu.Unlock()
	if ok && h.id == list[0].ID {
		return h, nil
	}
	r, err := a.fetch(ctx, list[0], issue)
	if err != nil && !told(err) && !errors.Is(err, memory.ErrNotFound) {
		return held{}, err
	}
	h = holding(list[0].ID, r)
	h.err = err
	return h, nil
}

func artifactName(issue int) string { return fmt.Sprintf("foreman-memory-i%d", issue) }
