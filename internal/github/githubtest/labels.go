package githubtest

import (
	"net/http"
	"slices"
	"unicode/utf8"

	"github.com/org/foreman-action/internal/github/githubtest/internal/render"
	"github.com/org/foreman-action/internal/github/githubtest/internal/state"
)

const maxLabels = 100 // labels of one issue

func listRepoLabels(in *input) answer {
	return listed(in.r, in.repo.Labels, with(in.repo, render.Label))
}

func getLabel(in *input) answer {
	l := in.repo.Label(in.vars["name"])
	if l == nil {
		return notFound()
	}
	return reply(http.StatusOK, render.Label(in.repo, l))
}

func createLabel(in *input) answer {
	var body struct{ Name, Color, Description string }
	switch {
	case !in.decode(&body) || body.Name == "":
		return invalid("Label", "name", "missing_field", "")
	case in.repo.Label(body.Name) != nil:
		return invalid("Label", "name", "already_exists", "")
	}
	l := in.repo.EnsureLabel(body.Name)
	l.Description = body.Description
	if body.Color != "" {
		l.Color = body.Color
	}
	a := reply(http.StatusCreated, render.Label(in.repo, l))
	a.header.Set("Location", render.LabelURL(in.repo, l.Name))
	return a
}

func deleteLabel(in *input) answer {
	if in.repo.Label(in.vars["name"]) == nil {
		return notFound()
	}
	in.repo.DeleteLabel(in.vars["name"])
	return reply(http.StatusNoContent, nil)
}

func listLabels(in *input) answer {
	return listed(in.r, labelsOf(in.repo, in.issue), with(in.repo, render.Label))
}

func labelsOf(r *state.Repository, i *state.Record) []*state.Label {
	var list []*state.Label
	for _, name := range i.Labels {
		list = append(list, r.EnsureLabel(name))
	}
	return list
}

// allLabels answers with all labels of the issue. Responses to writes are not split into pages.
func allLabels(in *input) answer {
	list := []object{}
	for _, l := range labelsOf(in.repo, in.issue) {
		list = append(list, render.Label(in.repo, l))
	}
	return reply(http.StatusOK, list)
}

// checkLabels refuses the names that GitHub refuses.
func checkLabels(list []state.Suggestion) (answer, bool) {
	for _, l := range list {
		switch n := utf8.RuneCountInString(l.Value); {
		case n == 0:
			return invalid("Label", "name", "missing_field", ""), false
		case n > 50:
			return invalid("Label", "name", "too_long", "name is too long (maximum is 50 characters)"), false
		}
	}
	if len(list) > maxLabels {
		return invalid("Issue", "labels", "invalid", "an issue can have at most 100 labels"), false
	}
	return checkRationales(list)
}

func addLabels(in *input) answer {
	list := labelChanges(in, in.body)
	if a, ok := checkLabels(list); !ok {
		return a
	}
	in.intend(list)
	return allLabels(in)
}

func replaceLabels(in *input) answer {
	list := labelChanges(in, in.body)
	if a, ok := checkLabels(list); !ok {
		return a
	}
	setLabels(in, list)
	return allLabels(in)
}

// setLabels replaces the labels of the issue by those of a list.
func setLabels(in *input, list []state.Suggestion) []object {
	for _, name := range slices.Clone(in.issue.Labels) {
		if !slices.ContainsFunc(list, func(s state.Suggestion) bool { return state.Same(name)(s.Value) }) {
			in.repo.RemoveLabel(in.issue, in.actor, name)
		}
	}
	return in.intend(list)
}

func removeLabel(in *input) answer {
	if !in.repo.RemoveLabel(in.issue, in.actor, in.vars["name"]) {
		return failure(http.StatusNotFound, "Label does not exist")
	}
	return allLabels(in)
}

// listMilestones lists milestones. It supports the filter state.
func listMilestones(in *input) answer {
	want := in.r.URL.Query().Get("state")
	if want == "" {
		want = "open"
	}
	var list []*state.Milestone
	for _, m := range in.repo.Milestones {
		if want == "all" || want == m.State {
			list = append(list, m)
		}
	}
	return listed(in.r, list, with(in.repo, render.Milestone))
}
