package runner

import (
	"context"
	"errors"

	"github.com/org/foreman-action/internal/evidence"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/policy"
	"github.com/org/foreman-action/triage"
)

// A replayed contains the results of replays, which are read when they are first needed. All attempts of a run
// share it. It must be used by one goroutine only.
type replayed struct {
	path string // of the file; empty: there is none, or it was read
	file evidence.File
}

func newReplayed(p policy.Policy) *replayed {
	if !p.Earned {
		return &replayed{}
	}
	return &replayed{path: p.Earn.Evidence}
}

// maxEvidenceError is the length of an error about the evidence in a warning, in characters.
const maxEvidenceError = 300

// evidence returns the results of replays that count as a start for track records. The zero value has none:
// the policy names no file, or there is a warning.
func (r *reads) evidence(ctx context.Context) evidence.File {
	path := r.replayed.path
	if path == "" || r.host.File == nil {
		return r.replayed.file
	}
	r.replayed.path = ""
	data, err := r.host.File(ctx, r.d.Repo, path)
	switch {
	case errors.Is(err, triage.ErrNotFound):
		r.warnEvidence("%s has no file %s on its default branch", r.d.FullRepo(), path)
	case err != nil:
		r.warnEvidence("%s", text.Shorten(err.Error(), maxEvidenceError))
	default:
		if r.replayed.file, err = evidence.Decode(data, r.d.FullRepo()); err != nil {
			r.warnEvidence("%s: %s", path, text.Shorten(err.Error(), maxEvidenceError))
		}
	}
	return r.replayed.file
}

func (r *reads) warnEvidence(format string, args ...any) {
	r.warn("policy.earn.evidence: "+format+"; replays do not count as a start for track records", args...)
}
