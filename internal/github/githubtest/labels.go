package githubtest

import (
	"encoding/json"
	"net/http"
	"slices"
	"unicode/utf8"
)

const maxLabels = 100 // of an issue

func listRepoLabels(in *input) answer { return listed(in.r, in.repo.labels, in.repo.renderLabel) }

func getLabel(in *input) answer {
	l := in.repo.label(in.vars["name"])
	if l == nil {
		return notFound()
	}
	return reply(http.StatusOK, in.repo.renderLabel(l))
}

func createLabel(in *input) answer {
	var body struct{ Name, Color, Description string }
	switch {
	case !in.decode(&body) || body.Name == "":
		return invalid("Label", "name", "missing_field", "")
	case in.repo.label(body.Name) != nil:
		return invalid("Label", "name", "already_exists", "")
	}
	l := in.repo.ensureLabel(body.Name)
	l.description = body.Description
	if body.Color != "" {
		l.color = body.Color
	}
	a := reply(http.StatusCreated, in.repo.renderLabel(l))
	a.header.Set("Location", in.repo.labelURL(l.name))
	return a
}

func listLabels(in *input) answer { return listed(in.r, in.issueLabels(), in.repo.renderLabel) }

func (in *input) issueLabels() []*label {
	var list []*label
	for _, name := range in.issue.Labels {
		list = append(list, in.repo.ensureLabel(name))
	}
	return list
}

// allLabels answers with all labels of the issue: answers to writes are not paged.
func (in *input) allLabels() answer {
	list := []object{}
	for _, l := range in.issueLabels() {
		list = append(list, in.repo.renderLabel(l))
	}
	return reply(http.StatusOK, list)
}

// names reads what GitHub takes for labels: {"labels": [...]} or the list alone, of
// strings or of objects with a name.
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

// checkLabels refuses what GitHub refuses.
func (in *input) checkLabels(list []string) (answer, bool) {
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
	if a, ok := in.checkLabels(list); !ok {
		return a
	}
	for _, name := range list {
		in.repo.addLabel(in.issue, in.actor(), name)
	}
	return in.allLabels()
}

func replaceLabels(in *input) answer {
	list := names(in.body)
	if a, ok := in.checkLabels(list); !ok {
		return a
	}
	in.setLabels(list)
	return in.allLabels()
}

func (in *input) setLabels(list []string) {
	for _, name := range slices.Clone(in.issue.Labels) {
		if !slices.ContainsFunc(list, same(name)) {
			in.repo.removeLabel(in.issue, in.actor(), name)
		}
	}
	for _, name := range list {
		in.repo.addLabel(in.issue, in.actor(), name)
	}
}

func removeLabel(in *input) answer {
	if !in.repo.removeLabel(in.issue, in.actor(), in.vars["name"]) {
		return failure(http.StatusNotFound, "Label does not exist")
	}
	return in.allLabels()
}

// listMilestones knows the filter state.
func listMilestones(in *input) answer {
	state := in.r.URL.Query().Get("state")
	if state == "" {
		state = "open"
	}
	var list []*milestone
	for _, m := range in.repo.milestones {
		if state == "all" || state == m.state {
			list = append(list, m)
		}
	}
	return listed(in.r, list, in.repo.renderMilestone)
}
