// Package draft makes events that nobody sent, from values that people type to try rules: as flags, in
// the fields of a page, or in a file.
package draft

import (
	"fmt"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/ruleset"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/rules/ruletest"
	"github.com/org/foreman-action/triage"
)

// A Kind is the type of a Value.
type Kind int

// The kinds.
const (
	Text  Kind = iota // a string
	Texts             // a list of strings
	Number
	Switch // true or false
)

// A Value is a value of an event, or the result of a look-up, that has a flag of its own.
type Value struct {
	Name    string // its keys in a test, such as "issue.title"
	Kind    Kind
	Flag    string // without dashes
	Usage   string // of the flag
	Example string // an argument of the flag; empty: none is needed
}

// Values returns the values with flags, in the order of the help. A file with the keys of a test has all
// others.
func Values() []Value {
	return []Value{
		{"issue.title", Text, "title", "`TITLE` of an issue to try the rules on", `"panic at start"`},
		{"issue.body", Text, "body", "`TEXT` of that issue", `"Since the update."`},
		{"issue.labels", Texts, "label", "`LABEL` of that issue; may be repeated", "bug"},
		{"issue.author", Text, "author", "`LOGIN` of its author (default octocat)", "octocat"},
		{"issue.association", Text, "association", "of its author, such as MEMBER (default NONE)", "MEMBER"},
		{"issue.pull_request", Switch, "pr", "the issue is a pull request", ""},
		{"pr.files", Texts, "file", "`PATH` that the pull request changes; may be repeated", "src/a.go"},
		{"pr.head", Text, "head", "`BRANCH` of the pull request", "patch-1"},
		{"pr.base", Text, "base", "`BRANCH` that it is to be merged into", "main"},
		{"pr.draft", Switch, "draft", "it is a draft", ""},
		{"pr.merged", Switch, "merged", "it is merged", ""},
		{"pr.changed_files", Number, "changed-files", "`NUMBER` of files that it changes (default those of --file)", "1"},
		{"pr.additions", Number, "additions", "`NUMBER` of lines that it adds", "10"},
		{"pr.deletions", Number, "deletions", "`NUMBER` of lines that it deletes", "10"},
		{"pr.commits", Number, "commits", "`NUMBER` of its commits (default those of --commit-message)", "1"},
		{"pr.commit_messages", Texts, "commit-message", "`TEXT` of one of its commits; may be repeated", `"fix: typo"`},
		{"pr.requested_reviewers", Texts, "requested-reviewer", "`LOGIN` of a person whose review it waits for; may be repeated", "hubot"},
		{"pr.requested_teams", Texts, "requested-team", "`TEAM` whose review it waits for; may be repeated", "docs"},
		{"pr.approved_by", Texts, "approved-by", "`LOGIN` of a maintainer who approves it; may be repeated", "hubot"},
		{"pr.changes_requested_by", Texts, "changes-requested-by", "`LOGIN` of a maintainer who requests changes; may be repeated", "hubot"},
		{"comment.body", Text, "comment", "`TEXT` of a new comment on the issue", `"/foreman close"`},
		{"actor.login", Text, "actor", "`LOGIN` of who causes the event (default the author)", "hubot"},
		{"actor.permission", Text, "permission", "of who causes the event, such as write", "write"},
		{"author.issues", Number, "author-issues", "`NUMBER` of issues that the author opened before", "0"},
		{"author.pulls", Number, "author-pulls", "`NUMBER` of pull requests that the author opened before", "0"},
		{"author.merged_pulls", Number, "author-merged-pulls", "`NUMBER` of merged pull requests of the author", "0"},
		{"author.closed_pulls", Number, "author-closed-pulls", "`NUMBER` of the author's pull requests that were closed without a merge", "0"},
		{"author.created_at", Text, "author-created-at", "`DATE` when the author's account was created", "2020-01-31"},
	}
}

// CaseFlag is the flag that names a file with values.
const CaseFlag = "case"

// supply returns how a person supplies a missing value, such as "--author-issues 0".
func supply(name string) string {
	for _, v := range Values() {
		switch {
		case v.Name != name:
		case v.Kind == Switch:
			return fmt.Sprintf("--%[1]s or --%[1]s=false", v.Flag)
		default:
			return strings.TrimSpace("--" + v.Flag + " " + v.Example)
		}
	}
	return "--" + CaseFlag + " FILE, with " + name
}

// Supplies returns how a person supplies several missing values.
func Supplies(names []string) string {
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = supply(name)
	}
	return strings.Join(list, ", ")
}

// scheduleHint returns how a person tries the rules that listen to nothing but schedule; "" if there are
// none, or if event is schedule.
func scheduleHint(set *rules.Set, event string) string {
	var ids []string
	for _, i := range rules.Infos(set) {
		if slices.Equal(i.On, []string{triage.EventSchedule}) {
			ids = append(ids, i.ID)
		}
	}
	if len(ids) == 0 || event == triage.EventSchedule {
		return ""
	}
	return fmt.Sprintf("%s: scheduled runs decide on the issues that scan finds; to try this on one issue, add --%s schedule", strings.Join(ids, ", "), fieldName)
}

// Hint returns what a person may have meant with a try-out, or how the other rules are tried; "" if
// there is nothing to say.
func Hint(set *rules.Set, e triage.Delivery) string {
	if hint := commandHint(set, e.Comment.Body); hint != "" {
		return hint
	}
	return scheduleHint(set, e.Name)
}

// bareCommand finds the start of a line that may be a command without /foreman.
var bareCommand = text.Regexp(`(?m)^([ \t]*)/`)

// commandHint returns how to write a command of the rules that a comment has as the first word of a line,
// without /foreman. A comment with a command gets no hint.
func commandHint(set *rules.Set, comment string) string {
	if len(rules.Commands(comment)) > 0 {
		return ""
	}
	known := (*ruleset.Set)(set).Rules().Commands()
	for _, c := range rules.Commands(bareCommand().ReplaceAllString(comment, "$1/foreman ")) {
		if slices.Contains(known, c.Name) {
			return fmt.Sprintf("/%s is not read as a command; write /foreman %s", c.Name, c.Name)
		}
	}
	return ""
}

// A Draft is the description of an event.
type Draft struct {
	File   string // the name of the file with Source
	Source []byte // YAML with the keys of a test; nil: none
	Values []ruletest.Field
}

// Case returns the event of the description. Mistakes are a [rules.Problems]. spec has the defaults, and
// the event that was received, if there is one. event is a name such as issues.edited; empty: by the
// description.
func (d Draft) Case(spec ruletest.CaseSpec, event string) (ruletest.Case, error) {
	spec.Name, spec.Source, spec.Fields = d.File, d.Source, slices.Clone(d.Values)
	for i, field := range spec.Fields {
		if s, ok := field.Value.(string); ok && field.Name == "issue.association" {
			spec.Fields[i].Value = strings.ToUpper(s)
		}
	}
	if spec.Name == "" {
		spec.Name = "the described event"
	}
	if spec.Event == nil && event != "" {
		spec.Fields = append(spec.Fields, ruletest.Field{Name: "event", Value: withActivity(event), From: "--" + fieldName})
	}
	return ruletest.ParseCase(spec)
}

// withActivity returns the name of an event as rules name it: with an activity, if it has several, and
// without the "target" of pull requests.
func withActivity(event string) string {
	if rest, target := strings.CutPrefix(event, triage.EventPullRequestTarget); target {
		event = triage.EventPullRequest + rest
	}
	switch event {
	case triage.EventIssues, triage.EventPullRequest:
		return event + ".opened"
	case triage.EventIssueComment:
		return event + ".created"
	}
	return event
}

// An Error is a mistake in the name of an event.
type Error struct {
	Field string // the name of the field
	Msg   string
}

// Error returns the name of the field and the mistake.
func (e *Error) Error() string { return fmt.Sprintf("%s: %s", e.Field, e.Msg) }
