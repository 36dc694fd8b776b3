package runner

import (
	"context"
	"errors"

	"github.com/org/foreman-action/internal/evidence"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/triage"
)

// maxEvidenceError is the length of an error about the evidence in a warning, in characters.
const maxEvidenceError = 300

// thresholds returns the function for the proof that pairs of a repository need. A pair of a rule may begin with
// the result of a replay, from the file that the policy names. The file is read when it is first needed, once. If
// it cannot be used, there is a warning.
func (s setup) thresholds(ctx context.Context, repo triage.Repo, warn func(format string, args ...any)) func(k memory.PairKey) memory.Threshold {
	var replays *evidence.File // nil: not read
	return func(k memory.PairKey) memory.Threshold {
		t := s.threshold(k)
		digest := memory.SourceDigest(k.Source)
		if p := s.c.Policy; !p.Earned || p.Earn.Evidence == "" || digest == "" || !evidence.Counts(k.Action) || s.o.Host.File == nil {
			return t
		}
		if replays == nil {
			f := s.replays(ctx, repo, warn)
			replays = &f
		}
		t.Start.Right, t.Start.Judged = replays.Start(digest, k.Action, k.Value, t.Of)
		return t
	}
}

// replays returns the results of replays in a repository. The zero value has none.
func (s setup) replays(ctx context.Context, repo triage.Repo, warn func(format string, args ...any)) evidence.File {
	path, name := s.c.Policy.Earn.Evidence, repo.Owner+"/"+repo.Name
	problem := func(format string, args ...any) evidence.File {
		warn("policy.earn.evidence: "+format+"; replays do not count as a start for track records", args...)
		return evidence.File{}
	}
	data, err := s.o.Host.File(ctx, repo, path)
	switch {
	case errors.Is(err, triage.ErrNotFound):
		return problem("%s has no file %s on its default branch", name, path)
	case err != nil:
		return problem("%s", text.Shorten(err.Error(), maxEvidenceError))
	}
	f, err := evidence.Decode(data, name)
	if err != nil {
		return problem("%s: %s", path, text.Shorten(err.Error(), maxEvidenceError))
	}
	return f
}
