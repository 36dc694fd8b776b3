package githubtest

import (
	"slices"

	"github.com/org/foreman-action/internal/github/githubtest/internal/render"
	"github.com/org/foreman-action/internal/github/githubtest/internal/state"
)

// listEvents lists the timeline without comments, reviews and commits.
func listEvents(in *input) answer {
	list := slices.DeleteFunc(slices.Clone(in.issue.Events), func(e state.Event) bool {
		return slices.Contains([]string{"commented", "reviewed", "committed"}, e.Kind)
	})
	return listed(in.r, list, func(e state.Event) object {
		o := render.Event(in.repo, in.issue, e)
		if e.Assignee != "" {
			o["assigner"] = render.User(e.Actor)
		}
		return o
	})
}

func listTimeline(in *input) answer {
	return listed(in.r, in.issue.Events, func(e state.Event) object { return render.Event(in.repo, in.issue, e) })
}
