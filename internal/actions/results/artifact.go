package results

import (
	"context"
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
// from a fork. An artifact counts only if a run of this repository made it on its
// default branch, it has not expired, and its digest matches. Of these, the one with
// the highest id is the record; no older one replaces it when it is broken.
//
// The service has no compare-and-swap. Save compares revisions with the newest artifact
// of a list that is at most a minute old, and lists the artifacts after the upload: if
// another one was made meanwhile, or its own is gone, it removes its own and returns
// memory.ErrConflict. A record of revision 0 is uploaded without a list. Between Defer
// and Settle the list after the upload is made once for all records. So of two runs that
// save at once one wins, or both try again, provided that a list shows every artifact that
// was finished before. Two races remain between runs. If a program is killed between its
// upload and the list after it, its record may hide the other one. And a third run may
// read a record just before it is removed. A "concurrency:" block in the workflow keeps
// the runs of an issue apart.
//
// A record with a scheduled closing is announced by a second artifact, whose name
// contains the time: "foreman-closing-i<N>-20260501T083000Z", or "-none" once the
// closing is called off. Pending lists the newest 2,000 artifacts of the repository, of
// all workflows.
//
// Within a run a name can be used once. If an earlier attempt, or another job, has used
// it, Save removes that artifact and makes it anew, as GitHub's own action does with
// "overwrite". It removes only an artifact that it has listed before, or its own; for
// any other the error is memory.ErrConflict. If the service refuses, the error is
// [ErrTaken]. Two races remain here too. Until the new artifact is finished, readers
// find only the record of an earlier run, or none; this stays so if the program is
// killed or its upload fails. And the service deletes by name and job: if the job that
// made the artifact replaces it between our list and our deletion, its new one is
// deleted, and the log contains a warning.
type Artifact struct {
	repo    string
	token   string // of the runtime
	uploads uploader
	saving  semaphore

	mu        sync.Mutex
	seen      map[int]storedArtifact // the newest known one, by issue
	deferring bool
	deferred  []deferred
}

var (
	_ memory.Agenda = (*Artifact)(nil)
	_ memory.Batch  = (*Artifact)(nil)
)

// A storedArtifact is the artifact with the record of an issue.
type storedArtifact struct {
	id       int64 // 0: there is none
	revision int
	due      time.Time // of its first closing; zero: it has none
	err      error     // instead of a revision
	text     []byte    // the record; nil: it is not kept
}

func storedAs(id int64, r memory.Record, text []byte) storedArtifact {
	due, _ := r.Due()
	return storedArtifact{id: id, revision: r.Revision, due: due, text: text}
}

// NewArtifact returns the store of the artifacts of o.Repo. It does no I/O; its
// errors are [ErrUnavailable], or name the option that is wrong.
func NewArtifact(o Options) (*Artifact, error) {
	o = o.withDefaults()
	c, err := o.serviceClient(o.ResultsURL, "ACTIONS_RESULTS_URL")
	switch {
	case err != nil:
		return nil, fmt.Errorf("artifact store: %w", err)
	case o.RepositoryID < 1:
		return nil, errors.New("artifact store: the id of the repository is not known")
	case o.DefaultBranch == "":
		return nil, errors.New("artifact store: the default branch is not known")
	}
	if o.Reader == nil {
		if o.Reader, err = newREST(o); err != nil {
			return nil, fmt.Errorf("artifact store: %w", err)
		}
	}
	return &Artifact{
		repo: o.Repo, token: o.RuntimeToken, saving: newSemaphore(), seen: map[int]storedArtifact{},
		uploads: uploader{
			service: artifactService{c}, reader: o.Reader, trust: provenance{o.RepositoryID, o.DefaultBranch}, lists: newLists(o.Now), sleep: o.Sleep, log: o.Log,
		},
	}, nil
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
	all, err := a.uploads.known(ctx, artifactName(issue))
	if err != nil {
		return memory.Record{}, err
	}
	list := a.uploads.trust.trusted(all, artifactName(issue), a.uploads.log)
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
	job, err := claims(a.token)
	if err != nil {
		return err
	}
	if err := a.saving.acquire(ctx); err != nil {
		return err
	}
	defer a.saving.release()
	name := artifactName(r.Issue)
	_, listed := a.uploads.lists.get(name)
	unlisted := r.Revision == 0 && !listed
	if unlisted {
		// The caller has found no artifact; if there is one, the check after the upload finds it.
		a.uploads.lists.put(name, nil)
	}
	u, err := a.uploads.prepare(ctx, job, name, data)
	if err != nil {
		return err
	}
	u.unlisted = unlisted
	stored, err := a.newest(ctx, u.trusted, r.Issue)
	if err != nil {
		return err
	}
	if err := checkRevision(r.Revision, stored.revision, stored.err); err != nil {
		a.uploads.lists.forget(u.name)
		return err
	}
	made := storedAs(0, next, data)
	changed := !made.due.Truncate(time.Second).Equal(stored.due.Truncate(time.Second))
	if changed && !made.due.IsZero() {
		if err := a.announce(ctx, job, r.Issue, made.due); err != nil {
			return err
		}
	}
	if made.id, err = a.run(ctx, u, r.Issue); err != nil {
		return err
	}
	a.remember(r.Issue, made)
	if changed && made.due.IsZero() {
		// An announced close that its record does not contain has no effect.
		if err := a.announce(ctx, job, r.Issue, time.Time{}); err != nil {
			a.uploads.log.Warn("removing the announcement of a cancelled scheduled close failed", "issue", r.Issue, "error", err.Error())
		}
	}
	return nil
}

// run makes the artifact of a record. In a batch it is made sure of later.
func (a *Artifact) run(ctx context.Context, u *upload, issue int) (int64, error) {
	a.mu.Lock()
	deferring := a.deferring
	a.mu.Unlock()
	if !deferring {
		return u.run(ctx)
	}
	id, err := u.create(ctx)
	if err != nil {
		u.lists.forget(u.name)
		return 0, err
	}
	own := Info{ID: id, Name: u.name, Digest: digest(u.zip), CreatedAt: u.lists.now(), WorkflowRun: u.trust.own()}
	u.lists.put(u.name, append(slices.Clone(u.existing), own))
	a.mu.Lock()
	defer a.mu.Unlock()
	// Of several saves of one record only the last counts. It is compared with the state before
	// the first.
	if i := slices.IndexFunc(a.deferred, func(d deferred) bool { return d.issue == issue }); i >= 0 {
		u.existing, u.trusted, u.replaces = a.deferred[i].existing, a.deferred[i].trusted, u.replaces || a.deferred[i].replaces
		a.deferred = slices.Delete(a.deferred, i, i+1)
	}
	a.deferred = append(a.deferred, deferred{u, issue, id})
	return id, nil
}

// newest returns the record in the first artifact of a list, which is downloaded
// unless it is known.
func (a *Artifact) newest(ctx context.Context, list []Info, issue int) (storedArtifact, error) {
	if len(list) == 0 {
		return storedArtifact{err: memory.ErrNotFound}, nil
	}
	a.mu.Lock()
	known, ok := a.seen[issue]
	a.mu.Unlock()
	if ok && known.id == list[0].ID {
		return known, nil
	}
	r, err := a.fetch(ctx, list[0], issue)
	if isServiceError(err) {
		return storedArtifact{}, err
	}
	stored := storedAs(list[0].ID, r, nil)
	stored.err = err
	return stored, nil
}

// fetch reads the record in an artifact, and remembers its revision.
func (a *Artifact) fetch(ctx context.Context, info Info, issue int) (memory.Record, error) {
	a.mu.Lock()
	known := a.seen[issue]
	a.mu.Unlock()
	if known.id == info.ID && known.text != nil {
		return memory.Decode(known.text, a.repo, issue)
	}
	r, text, err := a.download(ctx, info, issue)
	switch {
	case errors.Is(err, ErrGone):
		a.uploads.lists.forget(artifactName(issue))
		return memory.Record{}, memory.ErrNotFound
	case !isServiceError(err):
		stored := storedAs(info.ID, r, text)
		stored.err = err
		a.remember(issue, stored)
	}
	return r, err
}

// download returns the record in an artifact, and its text when it is one.
func (a *Artifact) download(ctx context.Context, info Info, issue int) (r memory.Record, text []byte, err error) {
	data, err := a.uploads.reader.Download(ctx, info.ID, maxZip)
	switch {
	case errors.Is(err, ErrTooLarge):
		return r, nil, broken(err)
	case err != nil:
		return r, nil, err
	case digest(data) != info.Digest:
		return r, nil, broken(errors.New("the zip differs from the uploaded one: their digests are not equal"))
	}
	if text, err = unpack(data); err != nil {
		return r, nil, err
	}
	if r, err = memory.Decode(text, a.repo, issue); err != nil {
		return r, nil, err
	}
	return r, text, nil
}

func (a *Artifact) remember(issue int, stored storedArtifact) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.seen[issue] = stored
}

func artifactName(issue int) string { return fmt.Sprintf("foreman-memory-i%d", issue) }
