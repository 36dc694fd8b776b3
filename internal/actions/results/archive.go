package results

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/org/foreman-action/internal/actions/results/internal/rpc"
	"github.com/org/foreman-action/memory"
)

// An Archive reads and deletes the records that the jobs of a repository saved with [Artifact], outside of a
// job: it only uses the documented REST API. It trusts the same artifacts. Make it with [NewArchive].
type Archive struct {
	records *Artifact
	api     *rest
}

// NewArchive returns the archive of o.Repo. It needs the options RepositoryID, DefaultBranch, APIURL and Token.
// It does no I/O.
func NewArchive(o Options) (*Archive, error) {
	o = o.withDefaults()
	if _, err := memory.Key(o.Repo, memory.Repository); err != nil {
		return nil, fmt.Errorf("read the artifacts: %w", err)
	}
	if err := o.checkProvenance(); err != nil {
		return nil, err
	}
	api, err := newREST(o, isOurs)
	if err != nil {
		return nil, fmt.Errorf("artifact store: %w", err)
	}
	o.Reader = api
	return &Archive{newArtifact(o, artifactService{}), api}, nil
}

// Load returns a record as [Artifact.Load] does.
func (a *Archive) Load(ctx context.Context, repo string, issue int) (memory.Record, error) {
	return a.records.Load(ctx, repo, issue)
}

// Pending lists issues as [Artifact.Pending] does.
func (a *Archive) Pending(ctx context.Context, repo string) (list []memory.Due, complete bool, err error) {
	return a.records.Pending(ctx, repo)
}

// Acted lists issues as [Artifact.Acted] does.
func (a *Archive) Acted(ctx context.Context, repo string, after time.Time) (list []memory.Due, complete bool, err error) {
	return a.records.Acted(ctx, repo, after)
}

// DeleteRecord deletes the record of an issue: all artifacts with its name, trusted or not, because after the
// newest one is deleted the one before counts. It also deletes those that announce the record to scheduled
// runs. It returns the names of the deleted artifacts with their ids, also after an error. The error for a missing
// permission is [ErrDenied] and names the permission.
func (a *Archive) DeleteRecord(ctx context.Context, repo string, issue int) (deleted []string, err error) {
	if err := checkIssue(ctx, a.records.repo, repo, issue); err != nil {
		return nil, fmt.Errorf("delete memory in artifact %s: %w", artifactName(issue), err)
	}
	for whole := false; !whole; {
		var list []Info
		if list, whole, err = a.api.pages(ctx, artifactName(issue), maxPages, 0); err != nil {
			return deleted, err
		}
		before := len(deleted)
		if deleted, err = a.remove(ctx, deleted, list); err != nil {
			return deleted, err
		}
		whole = whole || len(deleted) == before
	}
	if issue == memory.Repository { // nothing announces the record of the repository
		return deleted, nil
	}
	list, whole, err := a.api.pages(ctx, "", maxAll, 0)
	if err != nil {
		return deleted, err
	}
	var announced []Info
	for _, info := range list {
		if n, _, ok := parseClosing(info.Name); ok && n == issue {
			announced = append(announced, info)
		}
	}
	if deleted, err = a.remove(ctx, deleted, announced); err == nil && !whole {
		err = fmt.Errorf("the repository has more than %d artifacts; older ones that announce the record may remain, and do no harm", maxAll*pageSize)
	}
	return deleted, err
}

// remove deletes artifacts of the repository, and appends their names to a list.
func (a *Archive) remove(ctx context.Context, deleted []string, list []Info) ([]string, error) {
	for _, info := range list {
		if info.ID < 1 || info.WorkflowRun.RepositoryID != a.api.trust.repoID {
			continue
		}
		switch err := a.api.remove(ctx, info.ID); {
		case errors.Is(err, ErrGone):
		case err != nil:
			return deleted, err
		default:
			deleted = append(deleted, fmt.Sprintf("%s (%d)", info.Name, info.ID))
		}
	}
	return deleted, nil
}

// remove deletes an artifact. It returns [ErrGone] if there is none.
func (r *rest) remove(ctx context.Context, id int64) error {
	in := r.get("delete the artifact", fmt.Sprintf("%s/%d", artifactsPath, id), 0)
	in.Method = http.MethodDelete
	_, err := r.c.Do(ctx, in)
	switch {
	case rpc.IsNotFound(err):
		return fmt.Errorf("%w: %w", ErrGone, err)
	case rpc.IsForbidden(err):
		return fmt.Errorf("%w: the token needs the permission `actions: write`: %w", ErrDenied, err)
	}
	return err
}
