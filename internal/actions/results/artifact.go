package results

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/org/foreman-action/memory"
)

// An Artifact is a memory.Store of one artifact per issue and run of a workflow,
// "foreman-memory-i<N>": a zip of one JSON file. Make it with [NewArtifact].
//
// Anybody can create an artifact of any name in a repository, by a pull request from a fork. The
// store trusts an artifact only if a run of this repository made it on its default branch, it has
// not expired, and its digest matches. The trusted artifact with the highest id is the record. If
// it is broken, no older artifact replaces it.
//
// The artifact service has no compare-and-swap. Save compares revisions with the newest artifact of
// a list that is at most a minute old. It lists the artifacts again after the upload. If another
// one was made meanwhile, or its own is gone, Save removes its own and returns memory.ErrConflict.
// It uploads a record of revision 0 without the first list. Between Defer and Settle it omits the
// second list, and Settle makes one list for all records.
//
// So if two runs save at once, one wins or both fail with memory.ErrConflict, provided that a list
// shows every artifact that was finished before it. Two races between runs remain. If a program is
// killed between its upload and the list after it, its record may hide the other run's record. And
// a third run may read a record just before the record is removed. A "concurrency:" block in the
// workflow prevents both races, because then only one run per issue is active.
//
// A second artifact announces a record with a scheduled close, or with proposals that wait. Its name
// contains the time of memory.Record.Due: "foreman-closing-i<N>-20260501T083000Z", or "-none" when the
// record has no such time any more. Pending lists the newest 2,000 artifacts of the repository, of all
// workflows.
//
// Within a run a name can be used once. If an earlier attempt or another job has used the name,
// Save removes that artifact and makes a new one, as GitHub's own action does with "overwrite".
// Save removes only its own artifact, or one that it has listed before; for any other the error is
// memory.ErrConflict. If the service still refuses the name, the error is [ErrTaken].
//
// Two races remain within a run. Until the new artifact is finished, readers find only the record
// of an earlier run, or none. If the program is killed or its upload fails, they continue to find
// only that. The second race exists because the service deletes by name and job. If the job that
// made the old artifact replaces it between our list and our deletion, the service deletes the
// replacement, and Save logs a warning.
type Artifact struct {
	repo    string
	token   string // of the runtime
	uploads uploader
	saving  semaphore

	mu        sync.Mutex
	seen      map[int]storedArtifact // the newest artifact that was read or saved, by issue
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
	due      time.Time // of memory.Record.Due; zero: it has none
	err      error     // why the revision is unknown; nil if it is known
	text     []byte    // the JSON of the record; nil: not kept
}

func storedAs(id int64, r memory.Record, text []byte) storedArtifact {
	due, _ := r.Due()
	return storedArtifact{id: id, revision: r.Revision, due: due, text: text}
}

// NewArtifact returns the artifact store of o.Repo. It does no I/O. Its error is [ErrUnavailable],
// or names the invalid option.
func NewArtifact(o Options) (*Artifact, error) {
	o = o.withDefaults()
	c, err := o.serviceClient(o.ResultsURL, "ACTIONS_RESULTS_URL")
	if err != nil {
		return nil, fmt.Errorf("artifact store: %w", err)
	}
	if err := o.checkProvenance(); err != nil {
		return nil, err
	}
	if o.Reader == nil {
		if o.Reader, err = newREST(o, isOurs); err != nil {
			return nil, fmt.Errorf("artifact store: %w", err)
		}
	}
	return newArtifact(o, artifactService{c}), nil
}

// newArtifact returns the store whose artifacts a service makes.
func newArtifact(o Options, service artifactService) *Artifact {
	return &Artifact{
		repo: o.Repo, token: o.RuntimeToken, saving: newSemaphore(), seen: map[int]storedArtifact{},
		uploads: uploader{
			service: service, reader: o.Reader, trust: provenance{o.RepositoryID, o.DefaultBranch}, lists: newLists(o.Now), sleep: o.Sleep, log: o.Log,
		},
	}
}

// checkProvenance returns an error if it is not known which artifacts are trusted.
func (o Options) checkProvenance() error {
	switch {
	case o.RepositoryID < 1:
		return errors.New("artifact store: the id of the repository is not known")
	case o.DefaultBranch == "":
		return errors.New("artifact store: the default branch is not known")
	}
	return nil
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
		// The caller has found no artifact. If there is one after all, the check after the upload
		// finds it.
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
	earlier := !made.due.IsZero() && (stored.due.IsZero() || made.due.Before(stored.due))
	if changed && earlier {
		if err := a.announce(ctx, job, r.Issue, made.due); err != nil {
			return err
		}
	}
	if made.id, err = a.run(ctx, u, r.Issue); err != nil {
		return err
	}
	a.remember(r.Issue, made)
	if changed && !earlier {
		// Scheduled runs look at the issue too early, and find nothing to do. So a failure is only a
		// warning.
		if err := a.announce(ctx, job, r.Issue, made.due); err != nil {
			a.uploads.log.Warn("could not announce a later due time; scheduled runs look at the issue earlier", "issue", r.Issue, "error", err.Error())
		}
	}
	return nil
}

// run makes the artifact of a record and checks it for a lost race. In a batch Settle makes that
// check later.
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
	// If a batch saves one record several times, only the last save counts. Settle compares it with
	// the state before the first save.
	if i := slices.IndexFunc(a.deferred, func(d deferred) bool { return d.issue == issue }); i >= 0 {
		u.existing, u.trusted, u.replaces = a.deferred[i].existing, a.deferred[i].trusted, u.replaces || a.deferred[i].replaces
		a.deferred = slices.Delete(a.deferred, i, i+1)
	}
	a.deferred = append(a.deferred, deferred{u, issue, id})
	return id, nil
}

// newest returns the record in the first artifact of a list. It downloads the artifact unless the
// record is already known.
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

// download returns the record in an artifact, and its JSON if the record is valid.
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

func artifactName(issue int) string { return recordPrefix + strconv.Itoa(issue) }

// recordPrefix begins the names of the artifacts with records.
const recordPrefix = "foreman-memory-i"

// parseRecord returns the issue in the name of an artifact with a record. ok is false for another name,
// and for the record of the repository.
func parseRecord(name string) (issue int, ok bool) {
	digits, is := strings.CutPrefix(name, recordPrefix)
	issue, err := strconv.Atoi(digits)
	return issue, is && err == nil && issue > memory.Repository && artifactName(issue) == name
}

// isOurs reports whether the store makes artifacts with such a name.
func isOurs(name string) bool {
	return strings.HasPrefix(name, recordPrefix) || strings.HasPrefix(name, closingPrefix)
}
