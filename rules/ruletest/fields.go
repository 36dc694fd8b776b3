package ruletest

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/rules/internal/events"
	"github.com/org/foreman-action/rules/internal/expression"
	"github.com/org/foreman-action/triage"
)

// GitHub's limits of the texts of an issue, in characters.
const (
	maxTestTitle = 256
	maxTestText  = 65_536
)

// defaultIssue returns the default issue after the event. It was opened at the time opened, or at the
// test's "now" if that is earlier.
func defaultIssue(f facts.Facts, opened time.Time) triage.Issue {
	i := triage.Issue{
		Number: 1, State: "open", Author: "octocat", AuthorType: "User", Association: "NONE",
		CreatedAt: opened, PullRequest: f.Event.Name == triage.EventPullRequest,
	}
	if f.Now.Before(i.CreatedAt) {
		i.CreatedAt = f.Now
	}
	switch f.Event.Action {
	case "closed":
		i.State, i.StateReason = "closed", "completed"
	case "reopened":
		i.StateReason = "reopened"
	case "locked":
		i.Locked = true
	case "labeled":
		i.Labels = []string{f.Event.Label}
	case "assigned":
		i.Assignees = []string{f.Event.Assignee}
	case "milestoned":
		i.Milestone = f.Event.Milestone
	}
	if f.Event.Name == "issue_comment" {
		i.Comments = 1
	}
	return i
}

// defaultUpdate returns when the issue changed last: at the time of the event, except that a
// scheduled run does not change the issue.
func defaultUpdate(f facts.Facts) time.Time {
	if f.Event.Name == events.Schedule {
		return f.Issue.CreatedAt
	}
	return f.Now
}

func defaultURL(f facts.Facts) string {
	kind := "issues"
	if f.Issue.PullRequest {
		kind = "pull"
	}
	return fmt.Sprintf("https://github.com/%s/%s/%s/%d", f.Repo.Owner, f.Repo.Name, kind, f.Issue.Number)
}

// defaultPull is a pull request with the defaults of a test.
func defaultPull() triage.PullRequest { return triage.PullRequest{Head: "patch-1", Base: "main"} }

// defaultContrib returns the defaults of the section contrib.
func defaultContrib() facts.Contrib { return facts.Contrib{DuplicateEvidence: "low"} }

// defaultPermission returns the usual permission of people with an association.
func defaultPermission(association string) string {
	switch association {
	case "OWNER":
		return "admin"
	case "MEMBER", "COLLABORATOR":
		return "write"
	}
	return "read"
}

// defaultComment returns the default values of the section comment for an author. The id is that of no
// comment on GitHub: a plan needs one for a reaction.
func defaultComment(f facts.Facts, author string) triage.Comment {
	f.Event.Comment = triage.Comment{Association: "NONE"}
	return triage.Comment{ID: 1, Author: author, Association: defaultActor(f, author).Association}
}

// subjectOf returns the default actor of an event: the author of the comment, or else of
// the issue.
func subjectOf(f facts.Facts) triage.Actor {
	if f.Event.Name == "issue_comment" {
		return defaultActor(f, f.Event.Comment.Author)
	}
	return defaultActor(f, f.Issue.Author)
}

// defaultActor returns the account with that login. Its type and association are those of the
// issue's or the comment's author, if it is one of them.
func defaultActor(f facts.Facts, login string) triage.Actor {
	a := triage.Actor{Login: login, Type: "User", Association: "NONE"}
	switch login {
	case f.Issue.Author:
		a.Type, a.Association = f.Issue.AuthorType, f.Issue.Association
	case f.Event.Comment.Author:
		a.Association = f.Event.Comment.Association
	}
	return a
}

// A fieldDecoder reads fields of the facts.
type fieldDecoder struct {
	f *yamlfile.File
	// long permits texts that are longer than GitHub takes.
	long bool
}

// A slot is a value that a test may set, with its key in a section.
type slot struct {
	key   string
	value reflect.Value
}

// slotsOf returns the fields of a struct that a test may set.
func slotsOf(v reflect.Value) []slot {
	var list []slot
	for typ, field := range v.Fields() {
		if name := typ.Tag.Get("expr"); name != "-" {
			list = append(list, slot{name, field})
		}
	}
	return list
}

// lookedUpSlots returns the results of look-ups with that root, which is also the key of the section.
func lookedUpSlots(root string, k *facts.Known) []slot {
	var list []slot
	for _, s := range facts.LookupSpecs() {
		if s.Root != root {
			continue
		}
		for _, f := range s.Fields {
			list = append(list, slot{f.Name, s.Field(k, f.Name)})
		}
	}
	return list
}

// fill reads a mapping into the slots of a section. Slots without a key keep their value. The caller
// reads the keys in others.
func (d fieldDecoder) fill(name string, n *yaml.Node, slots []slot, others ...string) {
	if n == nil {
		return
	}
	known := make([]string, len(slots), len(slots)+len(others))
	for i, s := range slots {
		known[i] = s.key
	}
	known = append(known, others...)
	if n.Kind != yaml.MappingNode {
		d.f.Problemf(n, "%s: want a mapping with the keys %s, got %s", name, strings.Join(known, ", "), yamlfile.Kind(n))
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		at := slices.IndexFunc(slots, func(s slot) bool { return s.key == key.Value })
		switch {
		case slices.Contains(others, key.Value):
		case at < 0:
			d.unknown(name, key, known)
		default:
			d.value(name+"."+key.Value, value, slots[at].value)
		}
	}
}

// unknown reports an unknown key, with a hint for common mistakes.
func (d fieldDecoder) unknown(section string, key *yaml.Node, known []string) {
	if key.Kind != yaml.ScalarNode {
		return // reported when the file was parsed
	}
	switch {
	case key.Value == "text" && section == "issue":
		d.f.Problemf(key, "issue.text consists of title and body; set these")
	case key.Value == "user" && slices.Contains(known, "author"):
		d.f.Problemf(key, "unknown key %q; write author", key.Value)
	default:
		d.f.UnknownKey(key, known)
	}
}

// value reads one field of the facts.
func (d fieldDecoder) value(name string, n *yaml.Node, v reflect.Value) {
	if at, ok := reflect.TypeAssert[*time.Time](v.Addr()); ok {
		d.moment(name, n, at)
		return
	}
	if v.Kind() == reflect.Struct {
		d.fill(name, n, slotsOf(v))
		return
	}
	if d.f.DecodeKey(name, n, v.Addr().Interface()) {
		d.check(name, n, v)
	}
}

// check rejects values that no event on GitHub has.
func (d fieldDecoder) check(name string, n *yaml.Node, v reflect.Value) {
	switch v.Kind() {
	case reflect.Int:
		least := 0
		if name == "issue.number" {
			least = 1
		}
		if v.Int() < int64(least) {
			d.f.Problemf(n, "%s: want %d or more, got %d", name, least, v.Int())
		}
	case reflect.String:
		d.checkText(name, n, v.String())
	}
}

func (d fieldDecoder) checkText(name string, n *yaml.Node, value string) {
	limit := maxTestText
	if name == "issue.title" {
		limit = maxTestTitle
	}
	if !d.long && utf8.RuneCountInString(value) > limit {
		d.f.Problemf(n, "%s: GitHub takes at most %d characters", name, limit)
	}
	enum := expression.FieldValues(name)
	if enum == nil || slices.Contains(enum, value) {
		return
	}
	enum = slices.DeleteFunc(enum, func(s string) bool { return s == "" })
	d.f.Problemf(n, "%s: want %s, got %q%s", name, strings.Join(enum, ", "), text.Shorten(value, text.Quoted), yamlfile.DidYouMean(value, enum))
}

// moment reads a time: a date, or a date with a time.
func (d fieldDecoder) moment(name string, n *yaml.Node, out *time.Time) {
	if n.Kind == yaml.ScalarNode {
		for _, layout := range []string{time.RFC3339Nano, time.DateOnly, time.DateTime} {
			if t, err := time.Parse(layout, n.Value); err == nil {
				*out = t.UTC()
				return
			}
		}
	}
	d.f.Problemf(n, "%s: want a time like 2026-01-31 or 2026-01-31T15:04:05Z, got %s", name, yamlfile.Kind(n))
}

func given(n *yaml.Node, key string) bool { return yamlfile.Child(n, key) != nil }
