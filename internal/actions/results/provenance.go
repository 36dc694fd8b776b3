package results

import (
	"cmp"
	"log/slog"
	"slices"

	"github.com/org/foreman-action/internal/order"
)

// A provenance describes the runs whose artifacts are trusted: those of one repository on its
// default branch.
type provenance struct {
	repoID int64
	branch string
}

// own returns the run of a trusted artifact.
func (p provenance) own() Run {
	return Run{RepositoryID: p.repoID, HeadRepositoryID: p.repoID, HeadBranch: p.branch}
}

// trusted returns the trusted artifacts with a name, newest first.
func (p provenance) trusted(all []Info, name string, log *slog.Logger) []Info {
	refused, why := 0, ""
	out := slices.DeleteFunc(slices.Clone(all), func(info Info) bool {
		reason := p.check(info, name)
		if reason != "" && !info.Expired {
			refused, why = refused+1, reason
		}
		return reason != ""
	})
	if refused > 0 {
		log.Warn("skipped untrusted artifacts", "name", name, "count", refused, "reason", why)
	}
	order.Stable(out, func(x, y Info) int { return cmp.Compare(y.ID, x.ID) })
	return out
}

// check returns why an artifact is not a trusted artifact with the name. Empty: it is one.
func (p provenance) check(info Info, name string) string {
	switch run := info.WorkflowRun; {
	case info.Name != name:
		return "it has another name"
	case info.ID < 1:
		return "it has no id"
	case run.RepositoryID != p.repoID:
		return "its run belongs to another repository"
	case run.HeadRepositoryID != p.repoID:
		return "it was made from a fork"
	case run.HeadBranch != p.branch:
		return "it was not made on the default branch"
	case info.Expired:
		return "it has expired"
	case info.Digest == "":
		return "it has no digest"
	}
	return ""
}
