package githubtest

import (
	"encoding/json"
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

// names reads the names of labels in one of the forms that GitHub accepts: {"labels": [...]} or the
// list alone. The list contains strings, or objects with a name.
func names(raw json.RawMessage) []string {
	var whole struct{ Labels json.RawMessage }
	if json.Unmarshal(raw, &whole) == nil && len(whole.Labels) > 0 {
		raw = whole.Labels
	}
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		return nil
	}
	var list []string
	for _, item := range items {
		var s string
		var o struct{ Name string }
		switch {
		case json.Unmarshal(item, &s) == nil:
			list = append(list, s)
		case json.Unmarshal(item, &o) == nil:
			list = append(list, o.Name)
		}
	}
	return list
}

// checkLabels refuses the names that GitHub refuses.
func checkLabels(list []string) (answer, bool) {
	for _, name := range list {
		switch n := utf8.RuneCountInString(name); {
		case n == 0:
			return invalid("Label", "name", "missing_field", ""), false
		case n > 50:
			return invalid("Label", "name", "too_long", "name is too long (maximum is 50 characters)"), false
		}
	}
	if len(list) > maxLabels {
		return invalid("Issue", "labels", "invalid", "an issue can have at most 100 labels"), false
	}
	return answer{}, true
}

func addLabels(in *input) answer {
	list := names(in.body)
	if a, ok := checkLabels(list); !ok {
		return a
	}
	for _, name := range list {
		in.repo.AddLabel(in.issue, in.actor, name)
	}
	return allLabels(in)
}

func replaceLabels(in *input) answer {
	list := names(in.body)
	if a, ok := checkLabels(list); !ok {
		return a
	}
	setLabels(in, list)
	return allLabels(in)
}

func setLabels(in *input, list []string) {
	for _, name := range slices.Clone(in.issue.Labels) {
		if !slices.ContainsFunc(list, state.Same(name)) {
			in.repo.RemoveLabel(in.issue, in.actor, name)
		}
	}
	for _, name := range list {
		in.repo.AddLabel(in.issue, in.actor, name)
	}
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
