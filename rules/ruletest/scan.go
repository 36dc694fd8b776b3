package ruletest

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/ruleset"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/rules/internal/events"
	"github.com/org/foreman-action/triage"
)

// A Scan is the result of evaluating a search of scheduled runs on the issue of a test.
type Scan struct {
	Query string
	// Missed is the first term that the issue does not meet; empty if the issue is found.
	Missed string
	// Unevaluated are the terms that only GitHub can evaluate. The issue counts as meeting them.
	Unevaluated []string
}

// scanned evaluates the searches of the rules on the issue of a schedule event. found are the
// queries that match the issue; it is nil for other events.
func scanned(ctx context.Context, s *rules.Set, f facts.Facts) (found []string, all []Scan) {
	if f.Event.Name != events.Schedule {
		return nil, nil
	}
	found = []string{}
	for _, query := range (*ruleset.Set)(s).Rules().Scans() {
		outcome := scan(query, subject{f, func() triage.PullRequest { return pullOf(ctx, f) }})
		all = append(all, outcome)
		if outcome.Missed == "" {
			found = append(found, query)
		}
	}
	return found, all
}

// A subject is the issue on which searches are evaluated.
type subject struct {
	facts.Facts
	pull func() triage.PullRequest // looks up the fields that only pull requests have
}

// scan evaluates the simple terms of a search on an issue.
func scan(query string, f subject) Scan {
	s := Scan{Query: query}
	list := terms(query)
	if slices.ContainsFunc(list, term.joins) {
		s.Unevaluated = []string{query}
		return s
	}
	if !slices.ContainsFunc(list, term.wantsPulls) {
		list = append(list, term{text: "is:issue", key: "is", value: "issue"}) // the default
	}
	for _, t := range list {
		holds, known := t.holds(f)
		switch {
		case !known || t.repeats(list):
			s.Unevaluated = append(s.Unevaluated, t.text)
		case holds == t.not && s.Missed == "":
			s.Missed = t.text
		}
	}
	return s
}

// A term is one term of a search: a qualifier such as label:bug, or a plain word, which has no key.
type term struct {
	text       string // as written
	not        bool
	key, value string // in lower case and without quotes
	quoted     bool
}

// terms splits a search at spaces outside of quotes.
func terms(query string) []term {
	inQuotes := false
	words := strings.FieldsFunc(query, func(r rune) bool {
		if r == '"' {
			inQuotes = !inQuotes
		}
		return !inQuotes && (r == ' ' || r == '\t')
	})
	list := make([]term, 0, len(words))
	for _, word := range words {
		t := term{text: word}
		rest, not := strings.CutPrefix(word, "-")
		key, value, ok := strings.Cut(rest, ":")
		if ok && key != "" && !strings.Contains(key, `"`) {
			t.not, t.key, t.value = not, strings.ToLower(key), strings.ToLower(strings.ReplaceAll(value, `"`, ""))
		}
		t.quoted = strings.Contains(word, `"`)
		list = append(list, t)
	}
	return list
}

// joins reports whether a term is an operator of GitHub's search, or contains a parenthesis.
func (t term) joins() bool {
	return t.key == "" && !t.quoted && slices.Contains([]string{"OR", "AND", "NOT"}, t.text) || !t.quoted && strings.ContainsAny(t.text, "()")
}

func (t term) wantsPulls() bool {
	return !t.not && (t.key == "is" || t.key == "type") && slices.Contains([]string{"pr", "pull-request"}, t.value)
}

// repeats reports whether GitHub treats the term and another one as alternatives, such as author:a
// author:b.
func (t term) repeats(list []term) bool {
	if t.not || t.key != "author" && t.key != "assignee" {
		return false
	}
	return slices.ContainsFunc(list, func(o term) bool { return !o.not && o.key == t.key && o.value != t.value })
}

// holds reports whether the issue meets the term, ignoring its minus sign. known is false for a
// term that is not evaluated here.
func (t term) holds(f subject) (holds, known bool) {
	i := f.Issue
	switch t.key {
	case "is", "type", "state":
		return t.is(f)
	case "no":
		return lacks(i, t.value)
	case "label":
		return t.among(i.Labels), t.value != "*"
	case "author":
		return t.login(i.Author), t.value != "@me"
	case "assignee":
		return t.value == "*" && len(i.Assignees) > 0 || slices.ContainsFunc(i.Assignees, t.login), t.value != "@me"
	case "milestone":
		return t.value == "*" && i.Milestone != "" || i.Milestone != "" && strings.EqualFold(i.Milestone, t.value), true
	case "reason":
		return strings.ReplaceAll(t.value, " ", "_") == i.StateReason, true
	case "base":
		return strings.EqualFold(f.pull().Base, t.value), true
	case "head":
		return strings.EqualFold(f.pull().Head, t.value), true
	case "draft":
		return strconv.FormatBool(f.pull().Draft) == t.value, true
	case "comments":
		return within(t.value, i.Comments)
	case "reactions":
		return within(t.value, i.Reactions.Total)
	case "created":
		return since(t.value, i.CreatedAt)
	case "updated":
		return since(t.value, i.UpdatedAt)
	case "archived":
		return t.value == "false", true
	case "sort":
		return true, true
	}
	return false, false
}

// is evaluates the qualifiers is, type and state.
func (t term) is(f subject) (holds, known bool) {
	pull := f.Issue.PullRequest
	switch t.value {
	case "open", "closed":
		return f.Issue.State == t.value, true
	case "issue":
		return !pull, true
	case "pr", "pull-request":
		return pull, true
	case "locked", "unlocked":
		return f.Issue.Locked == (t.value == "locked"), true
	case "draft":
		return f.pull().Draft, true
	case "merged", "unmerged":
		return pull && f.pull().Merged == (t.value == "merged"), true
	}
	return strings.EqualFold(f.Issue.Type, t.value), t.key == "type"
}

// pullOf returns the fields that only pull requests have. They are zero for an issue.
func pullOf(ctx context.Context, f facts.Facts) triage.PullRequest {
	if f.Pull != nil {
		return *f.Pull
	}
	if !f.Issue.PullRequest || f.Lookup == nil {
		return triage.PullRequest{}
	}
	var k facts.Known
	_ = f.Lookup.Read(ctx, facts.PullPart, &k) // the lookup of a test never fails
	return k.PullRequest
}

func lacks(i triage.Issue, what string) (holds, known bool) {
	switch what {
	case "label":
		return len(i.Labels) == 0, true
	case "assignee":
		return len(i.Assignees) == 0, true
	case "milestone":
		return i.Milestone == "", true
	case "type":
		return i.Type == "", true
	}
	return false, false
}

// among reports whether a list contains one of the term's values, which commas separate.
func (t term) among(list []string) bool {
	return slices.ContainsFunc(strings.Split(t.value, ","), func(v string) bool { return hasFold(list, strings.TrimSpace(v)) })
}

// login reports whether the term's value names this account. app/x is the bot of an app.
func (t term) login(login string) bool {
	app, ok := strings.CutPrefix(t.value, "app/")
	return login != "" && strings.EqualFold(login, t.value) || ok && strings.EqualFold(login, app+"[bot]")
}

// bounds splits a comparison or a range into its sign and ends, such as "<5", "3..5" or "7". Ranges
// include their ends.
func bounds(value string) (sign, from, to string) {
	if from, to, ok := strings.Cut(value, ".."); ok {
		return "..", from, to
	}
	for _, sign := range []string{">=", "<=", ">", "<"} {
		if rest, ok := strings.CutPrefix(value, sign); ok {
			return sign, rest, rest
		}
	}
	return "..", value, value
}

// compare reports whether a value is within the bounds. toFrom and toTo are its differences from
// the two ends; negative means that the value is less.
func compare(sign string, toFrom, toTo int) bool {
	switch sign {
	case ">":
		return toTo > 0
	case ">=":
		return toFrom >= 0
	case "<":
		return toFrom < 0
	case "<=":
		return toTo <= 0
	}
	return toFrom >= 0 && toTo <= 0
}

// within reports whether a number is within the bounds.
func within(value string, n int) (holds, known bool) {
	sign, from, to := bounds(value)
	end := func(s string, open int) (int, bool) {
		if s == "*" {
			return open, true
		}
		v, err := strconv.Atoi(s)
		return n - v, err == nil
	}
	toFrom, ok1 := end(from, 0)
	toTo, ok2 := end(to, 0)
	return compare(sign, toFrom, toTo), ok1 && ok2
}

// since reports whether a time is within the bounds. A date is a whole day in UTC.
func since(value string, at time.Time) (holds, known bool) {
	sign, from, to := bounds(strings.ToUpper(value))
	first, _, ok1 := moments(from, at)
	_, last, ok2 := moments(to, at)
	return compare(sign, at.Compare(first), at.Compare(last)), ok1 && ok2
}

// moments returns the first and the last moment of a date or a time. For "*", both are equal to the
// argument at.
func moments(s string, at time.Time) (first, last time.Time, ok bool) {
	if s == "*" {
		return at, at, true
	}
	if day, err := time.Parse(time.DateOnly, s); err == nil {
		return day, day.AddDate(0, 0, 1).Add(-time.Nanosecond), true
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, t, true
		}
	}
	return time.Time{}, time.Time{}, false
}
