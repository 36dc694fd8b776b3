package ruletest

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/rules/internal/expression"
	"github.com/org/foreman-action/triage"
)

// A recordedLookup is a Lookup that records the results of another one.
type recordedLookup struct {
	facts.Lookup
	facts   facts.Facts
	answers facts.Known
	past    bool  // the timeline was looked up
	err     error // the first error; it makes the decision useless
}

var errTooLong = errors.New("the timeline of the issue is too long for a test")

// recordAnswer calls the lookup, and records the result.
func recordAnswer[T any](w *recordedLookup, ask func() (T, error), keep *T) (T, error) {
	var v T
	err := expression.ErrNoLookup
	if w.Lookup != nil {
		v, err = ask()
	}
	if err != nil {
		w.err = cmp.Or(w.err, err)
		return v, err
	}
	*keep = v
	return v, nil
}

// Permission calls the lookup, and records the result for the actor of the event.
func (w *recordedLookup) Permission(login string) (string, error) {
	var told string
	p, err := recordAnswer(w, func() (string, error) { return w.Lookup.Permission(login) }, &told)
	if err == nil && login == w.facts.Actor.Login {
		w.answers.Permissions = map[string]string{login: told}
	}
	return p, err
}

// Timeline calls the lookup, and records the result.
func (w *recordedLookup) Timeline() (facts.Timeline, error) {
	return w.timeline(func() (facts.Timeline, error) { return w.Lookup.Timeline() })
}

// Earlier calls the lookup, and records the result.
func (w *recordedLookup) Earlier() (facts.Timeline, error) {
	return w.timeline(func() (facts.Timeline, error) { return w.Lookup.Earlier() })
}

func (w *recordedLookup) timeline(ask func() (facts.Timeline, error)) (facts.Timeline, error) {
	w.past = true
	p, err := recordAnswer(w, ask, &w.answers.History)
	if p.Partial {
		w.err = cmp.Or(w.err, errTooLong)
	}
	return p, err
}

// Pull calls the lookup, and records the result.
func (w *recordedLookup) Pull() (triage.PullRequest, error) {
	return recordAnswer(w, func() (triage.PullRequest, error) { return w.Lookup.Pull() }, &w.answers.PullRequest)
}

// Files calls the lookup, and records the result.
func (w *recordedLookup) Files() ([]string, error) {
	return recordAnswer(w, func() ([]string, error) { return w.Lookup.Files() }, &w.answers.Changed)
}

// Messages calls the lookup, and records the result.
func (w *recordedLookup) Messages() ([]string, error) {
	return recordAnswer(w, func() ([]string, error) { return w.Lookup.Messages() }, &w.answers.Commits)
}

// Reviews calls the lookup, and records the result.
func (w *recordedLookup) Reviews() (facts.Reviews, error) {
	return recordAnswer(w, func() (facts.Reviews, error) { return w.Lookup.Reviews() }, &w.answers.Reviewed)
}

// Author calls the lookup, and records the result.
func (w *recordedLookup) Author() (facts.Author, error) {
	return recordAnswer(w, func() (facts.Author, error) { return w.Lookup.Author() }, &w.answers.Opened)
}

// Contrib calls the lookup, and records the result.
func (w *recordedLookup) Contrib() (facts.Contrib, error) {
	return recordAnswer(w, func() (facts.Contrib, error) { return w.Lookup.Contrib() }, &w.answers.Scored)
}

// Memory calls the lookup, and records the result.
func (w *recordedLookup) Memory() (facts.Memory, error) {
	return recordAnswer(w, func() (facts.Memory, error) { return w.Lookup.Memory() }, &w.answers.Before)
}

// known returns the recorded results. Look-ups that were not made have the defaults of a test.
func (w *recordedLookup) known() facts.Known {
	k := w.answers
	if k.Permissions == nil {
		k.Permissions = map[string]string{w.facts.Actor.Login: defaultPermission(w.facts.Actor.Association)}
	}
	if k.Scored == (facts.Contrib{}) {
		k.Scored = defaultContrib()
	}
	if f := w.facts; f.Issue.PullRequest && f.Pull == nil {
		if reflect.DeepEqual(k.PullRequest, triage.PullRequest{}) {
			k.PullRequest = defaultPull()
			k.PullRequest.ChangedFiles, k.PullRequest.Commits = len(k.Changed), len(k.Commits)
		}
		k.PullRequest.Draft = f.Issue.Draft
	}
	return plainKnown(k)
}

// permissionText adds the actor's permission to the section actor, unless it is the default.
func permissionText(section string, f facts.Facts, told facts.Known) string {
	p := told.Permissions[f.Actor.Login]
	if p == "" || p == defaultPermission(f.Actor.Association) {
		return section
	}
	return cmp.Or(section, "  actor:\n") + "    permission: " + p + "\n"
}

// pullText renders the section of the pull request, with its recorded look-ups.
func pullText(f facts.Facts, told facts.Known) string {
	pull, base := told.PullRequest, defaultPull()
	if f.Pull != nil {
		pull = *f.Pull
	}
	base.ChangedFiles, base.Commits = len(told.Changed), len(told.Commits)
	section := sectionText("pr", reflect.ValueOf(pull), reflect.ValueOf(base))
	for _, of := range pullLists(&told) {
		if len(*of.list) > 0 {
			section = cmp.Or(section, "  pr:\n") + "    " + of.key + ": " + listText(*of.list) + "\n"
		}
	}
	return section
}

// pastText renders the timeline. An empty one that was looked up differs from none if the issue has
// labels: then they did not come with the issue.
func pastText(changes []facts.Change, empty bool) string {
	switch {
	case len(changes) == 0 && empty:
		return "  past: []\n"
	case len(changes) == 0:
		return ""
	}
	var b strings.Builder
	b.WriteString("  past:\n")
	for _, c := range changes {
		as := asBot
		switch {
		case c.Human:
			as = asHuman
		case c.Ours:
			as = asUs
		}
		fmt.Fprintf(&b, "    - {event: %s, at: %s, as: %s, by: %s", scalarText(c.Kind, -1), c.At.UTC().Format(time.RFC3339Nano), as, scalarText(c.Login, -1))
		if c.Label != "" {
			fmt.Fprintf(&b, ", label: %s", scalarText(c.Label, -1))
		}
		b.WriteString("}\n")
	}
	return b.String()
}
