package github

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/triage"
)

// The bodies of writes with intents. GitHub adds the labels and the assignees to those that the
// issue has. A call that sets all labels of an issue would remove those that others add meanwhile.
type (
	labelIntents struct {
		Labels []any `json:"labels"`
	}
	assigneeIntents struct {
		Assignees []any `json:"assignees"`
	}
	typeIntent struct {
		Type intended `json:"type"`
	}
)

// An intended is one change with an intent. One of its names is set.
type intended struct {
	Label      string `json:"name,omitempty"`
	Login      string `json:"login,omitempty"`
	Type       string `json:"value,omitempty"`
	Rationale  string `json:"rationale,omitempty"`
	Confidence string `json:"confidence,omitempty"`
	Suggest    bool   `json:"suggest,omitempty"`
}

func (n intended) because(in effect.Intent) intended {
	n.Rationale, n.Confidence, n.Suggest = in.Rationale, string(in.Confidence), in.Suggest
	return n
}

// A typed is an issue after its type was set with an intent, in GitHub's JSON.
type typed struct {
	changed

	Type *struct {
		Name string `json:"name"`
	} `json:"type"` // null: the issue has no type
	Suggestions struct {
		Type []suggestion `json:"type"`
	} `json:"suggestions"`
}

// A suggestion is a change that waits for a person, or one that GitHub ignored.
type suggestion struct {
	Value   string `json:"value"`
	Ignored bool   `json:"ignored"`
	Why     string `json:"ignored_reason"`
}

// intends reports whether an effect has an intent.
func intends(list []effect.Intent) bool {
	return slices.ContainsFunc(list, func(in effect.Intent) bool { return in != effect.Intent{} })
}

// withIntents returns the elements of a list of labels or assignees: the name alone if it has no
// intent, and else the object that object returns.
func withIntents(names []string, list []effect.Intent, object func(name string) intended) []any {
	out := make([]any, len(names))
	for k, name := range names {
		if out[k] = name; list[k] != (effect.Intent{}) {
			out[k] = object(name).because(list[k])
		}
	}
	return out
}

// addLabels adds labels.
func addLabels(ref triage.Ref, e effect.AddLabels) (write, error) {
	w, body := onIssue("add labels to", ref), any(labelNames{e.Names})
	if intends(e.Intents) {
		if err := w.pairs(e.Names, e.Intents); err != nil {
			return w, err
		}
		body = labelIntents{withIntents(e.Names, e.Intents, func(name string) intended { return intended{Label: name} })}
		w.intended = e.Names
	}
	return w.unlessEmpty(e.Names, http.MethodPost, "/labels", body).answered(&labelList{}), nil
}

// assign adds assignees.
func assign(ref triage.Ref, e effect.Assign) (write, error) {
	w, body := onIssue("assign", ref), any(assignees{e.Logins})
	if intends(e.Intents) {
		if err := w.pairs(e.Logins, e.Intents); err != nil {
			return w, err
		}
		body = assigneeIntents{withIntents(e.Logins, e.Intents, func(login string) intended { return intended{Login: login} })}
		w.intended = e.Logins
	}
	return w.unlessEmpty(e.Logins, http.MethodPost, "/assignees", body).answered(&assigned{}), nil
}

// A noType removes the type of an issue, because it is always null.
type noType struct {
	Type *string `json:"type"`
}

// setType sets the type of the issue, or removes it.
func setType(ref triage.Ref, e effect.SetType) write {
	if e.Name == "" {
		return onIssue("remove the type of", ref).with(http.MethodPatch, "", noType{}).answered(&changed{})
	}
	w := onIssue("set the type of", ref)
	if e.Intent == (effect.Intent{}) {
		return w.editing(edit{Type: e.Name})
	}
	w.intended = []string{e.Name}
	return w.with(http.MethodPatch, "", typeIntent{intended{Type: e.Name}.because(e.Intent)}).answered(&typed{})
}

// pairs checks that each name has one intent.
func (w write) pairs(names []string, list []effect.Intent) error {
	if len(names) != len(list) {
		return fmt.Errorf("%s: there are %d intents for %d names, want one for each", w.op, len(list), len(names))
	}
	return nil
}

// absent returns the names of a write with intents that the issue does not have after it.
func (w write) absent(has []string) []string {
	var list []string
	for _, name := range w.intended {
		if !containsFold(has, name) {
			list = append(list, name)
		}
	}
	return list
}

// compare sorts the name of a type that was set with an intent into the result: GitHub lists it as
// pending or as ignored.
func (t typed) compare(names []string, out *effect.Written) {
	for _, name := range names {
		pending, ignored := false, false
		for _, s := range t.Suggestions.Type {
			if strings.EqualFold(s.Value, name) {
				skipped := s.Ignored || s.Why != ""
				pending, ignored = pending || !skipped, ignored || skipped
			}
		}
		has := t.Type != nil && strings.EqualFold(t.Type.Name, name)
		switch {
		case ignored:
			out.Overtaken = append(out.Overtaken, name)
		case pending && !has:
			out.Held = append(out.Held, name)
		}
	}
}

func containsFold(list []string, name string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return strings.EqualFold(s, name) })
}

// hasIntent reports whether the events of a kind have the property intent while GitHub shows
// intents.
func hasIntent(kind string) bool {
	switch kind {
	case "labeled", "unlabeled", "assigned", "unassigned", "closed", "reopened", "issue_type_added", "issue_type_changed", "issue_type_removed":
		return true
	}
	return false
}

// readIntent reads the property intent of an event.
func readIntent(e *triage.TimelineEvent, in map[string]json.RawMessage) {
	if raw, ok := in["intent"]; ok && hasIntent(e.Kind) {
		e.Intends, e.Intended = true, string(raw) != "null"
	}
}
