package ruletest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/rulesource"
	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/rules/internal/events"
)

// errInexact is the error for an item that, when it is parsed, differs from the event.
var errInexact = errors.New("the event contains values that a test cannot express")

// Record returns an item for the tests of a file. It contains the facts of the event, the results
// of f.Lookup that the rules used, and the current decision of the rules. Texts of the issue are
// unchanged; defaults are left out. Record fails when a look-up fails, or when parsing the item
// would not return exactly these facts, for example because a text is not UTF-8. The policy is that
// of [Run]; it counts in place of f.May and f.Effect.
func Record(ctx context.Context, s *rules.Set, name string, f facts.Facts, p Policy) (string, error) {
	if p == nil {
		p = permitsAll{}
	}
	f.May, f.Effect = nil, effect(s, f.Issue, p)
	w := &recordedLookup{Lookup: f.Lookup, facts: f}
	f.Lookup = w
	f.Scans, _ = scanned(ctx, s, f)
	a := decide(ctx, s, f, nil, p)
	if w.err != nil {
		return "", fmt.Errorf("record a test: %w", w.err)
	}
	f = recordable(f)
	f.Lookup = w.known()
	text := recordText(name, f, w.answers, w.past) + "  expect:\n" + expectText(a)
	file, err := yamlfile.Parse("test", []byte("tests:\n"+text))
	if err != nil {
		return "", fmt.Errorf("record a test: %w", err)
	}
	tests := parse(nil, []rulesource.Parts{{File: file, Tests: yamlfile.Child(file.Root(), "tests")}})
	if err := file.Err(); err != nil {
		return "", fmt.Errorf("record a test: %w", err)
	}
	if len(tests) != 1 || tests[0].Name != name || !reflect.DeepEqual(recordable(tests[0].facts), f) || !Run(ctx, s, tests[0], p).Passed() {
		return "", fmt.Errorf("record a test: %w", errInexact)
	}
	return text, nil
}

// recordable returns the facts as [Parse] would return them from a recorded test.
func recordable(f facts.Facts) facts.Facts {
	known, _ := f.Lookup.(facts.Known)
	pull := f.Pull
	f = facts.Facts{Issue: f.Issue, Event: f.Event, Actor: f.Actor, Repo: f.Repo, Now: f.Now}
	normalise(reflect.ValueOf(&f).Elem())
	if pull != nil {
		p := *pull
		normalise(reflect.ValueOf(&p).Elem())
		f.Pull = &p
	}
	f.Lookup = plainKnown(known)
	return f
}

// plainKnown returns the results of look-ups as [Parse] would return them.
func plainKnown(k facts.Known) facts.Known {
	k.History.Changes = slices.Clone(k.History.Changes)
	for i := range k.History.Changes {
		normalise(reflect.ValueOf(&k.History.Changes[i]).Elem())
	}
	normalise(reflect.ValueOf(&k).Elem())
	return k
}

// normalise sets empty lists to nil, times to UTC, and fields hidden from rules to zero.
func normalise(v reflect.Value) {
	for typ, field := range v.Fields() {
		if typ.Tag.Get("expr") == "-" { // hidden from rules
			field.SetZero()
			continue
		}
		if t, ok := reflect.TypeAssert[time.Time](field); ok {
			field.Set(reflect.ValueOf(t.Round(0).UTC()))
			continue
		}
		switch field.Kind() {
		case reflect.Struct:
			normalise(field)
		case reflect.Slice:
			if field.Len() == 0 {
				field.SetZero()
			}
		}
	}
}

// recordText returns the item without its expectations. told contains the results of look-ups, and
// past reports whether that includes the timeline.
func recordText(name string, f facts.Facts, told facts.Known, past bool) string {
	var b strings.Builder
	key := events.Key(f.Event.Name, f.Event.Action)
	fmt.Fprintf(&b, "- name: %s\n  event: %s\n", scalarText(name, 4), scalarText(key, 4))
	fmt.Fprintf(&b, "  now: %s\n  repo: %s\n", f.Now.Format(time.RFC3339Nano), scalarText(f.Repo.Owner+"/"+f.Repo.Name, 4))
	for _, of := range []struct{ key, value string }{
		{"label", f.Event.Label}, {"assignee", f.Event.Assignee}, {"milestone", f.Event.Milestone},
	} {
		if of.value != "" {
			fmt.Fprintf(&b, "  %s: %s\n", of.key, scalarText(of.value, 4))
		}
	}
	issue, comment, actor := defaultIssue(f, testNow()), defaultComment(f, f.Event.Comment.Author), defaultActor(f, f.Actor.Login)
	issue.URL, issue.UpdatedAt = defaultURL(f), defaultUpdate(f)
	comment.Author, actor.Login = f.Issue.Author, subjectOf(f).Login
	of := func(v any) []slot { return slotsOf(reflect.ValueOf(v).Elem()) }
	b.WriteString(sectionText("issue", of(&f.Issue), of(&issue)))
	if f.Event.Name == "issue_comment" {
		b.WriteString(sectionText("comment", of(&f.Event.Comment), of(&comment)))
	}
	b.WriteString(permissionText(sectionText("actor", of(&f.Actor), of(&actor)), f, told))
	if f.Issue.PullRequest {
		b.WriteString(pullText(f, told))
	}
	var base facts.Known
	if told.Scored != (facts.Contrib{}) { // it was looked up
		base.Scored = defaultContrib()
	}
	for _, root := range []string{"author", "contrib", "memory"} {
		b.WriteString(sectionText(root, lookedUpSlots(root, &told), lookedUpSlots(root, &base)))
	}
	b.WriteString(pastText(told.History.Changes, past && len(f.Issue.Labels) > 0))
	return b.String()
}

// sectionText returns the values of a section that differ from base.
func sectionText(key string, slots, base []slot) string {
	var b strings.Builder
	for i, s := range slots {
		v, other := s.value, base[i].value
		if v.Kind() == reflect.Slice && v.Len()+other.Len() == 0 || reflect.DeepEqual(v.Interface(), other.Interface()) {
			continue
		}
		if text, ok := fieldText(v, 4); ok {
			b.WriteString("    " + s.key + ": " + text + "\n")
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "  " + key + ":\n" + b.String()
}

// fieldText returns the value of a field as YAML, below a key with that indent. ok is false for
// types that a test cannot contain.
func fieldText(field reflect.Value, indent int) (text string, ok bool) {
	switch v := field.Interface().(type) {
	case time.Time:
		return v.Format(time.RFC3339Nano), true
	case string:
		return scalarText(v, indent), true
	case int, bool:
		return fmt.Sprint(v), true
	case []string:
		return listText(v), true
	}
	if field.Kind() != reflect.Struct {
		return "", false
	}
	var parts []string
	for _, s := range slotsOf(field) {
		if text, ok := fieldText(s.value, -1); ok {
			parts = append(parts, s.key+": "+text)
		}
	}
	return "{" + strings.Join(parts, ", ") + "}", true
}

// expectText returns the result of the rules as expectations. If there is an action other than
// labels, comments and closing, it lists all actions.
func expectText(a issueState) string {
	var b strings.Builder
	if a.err != nil {
		msg := a.err.Error()
		if failed, ok := errors.AsType[*rules.EvalError](a.err); ok {
			msg = failed.Problem.Message
		}
		return "    error: " + scalarText(msg, -1) + "\n"
	}
	fmt.Fprintf(&b, "    fired: %s\n    labels: %s\n    comments: %d\n", listText(a.result.Fired), listText(a.labels), len(a.comments))
	if reason := a.closed(); reason != "false" {
		fmt.Fprintf(&b, "    closed: %s\n", reason)
	}
	if a.result.Message.Decision == protocol.Escalate {
		b.WriteString("    escalated: true\n")
	}
	if len(a.undone) > 0 {
		fmt.Fprintf(&b, "    undone: %s\n", listText(a.undone))
	}
	if a.result.Retriage {
		b.WriteString("    retriage: true\n")
	}
	listed := func(item protocol.ActionItem) bool {
		spec, _ := protocol.SpecOf(item.Type)
		return spec.Thing != protocol.ThingLabel && !spec.Posts() && item.Type != protocol.ActionCloseIssue
	}
	if !slices.ContainsFunc(a.actions, listed) {
		return b.String()
	}
	b.WriteString("    actions:\n")
	for _, item := range a.actions {
		b.WriteString("      - " + recordedAction(item) + "\n")
	}
	return b.String()
}

// recordedAction returns an action for expect, without what its rule states about proposing it.
func recordedAction(item protocol.ActionItem) string {
	item = withIntent(item, nil)
	var parts []string
	for _, name := range item.ParamNames() {
		raw, _ := item.Param(name)
		value := string(raw)
		if list, ok, err := item.Texts(name); ok && err == nil {
			if value = listText(list); raw[0] == '"' {
				value = scalarText(list[0], -1)
			}
		}
		parts = append(parts, name+": "+value)
	}
	if parts == nil {
		return item.Type
	}
	return item.Type + ": {" + strings.Join(parts, ", ") + "}"
}
