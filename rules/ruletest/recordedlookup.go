package ruletest

import (
	"cmp"
	"context"
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
func (w *recordedLookup) Permission(ctx context.Context, login string) (string, error) {
	var told string
	p, err := recordAnswer(w, func() (string, error) { return w.Lookup.Permission(ctx, login) }, &told)
	if err == nil && login == w.facts.Actor.Login {
		w.answers.Permissions = map[string]string{login: told}
	}
	return p, err
}

// Timeline calls the lookup, and records the result.
func (w *recordedLookup) Timeline(ctx context.Context) (facts.Timeline, error) {
	return w.timeline(func() (facts.Timeline, error) { return w.Lookup.Timeline(ctx) })
}

// Earlier calls the lookup, and records the result.
func (w *recordedLookup) Earlier(ctx context.Context) (facts.Timeline, error) {
	return w.timeline(func() (facts.Timeline, error) { return w.Lookup.Earlier(ctx) })
}

func (w *recordedLookup) timeline(ask func() (facts.Timeline, error)) (facts.Timeline, error) {
	w.past = true
	p, err := recordAnswer(w, ask, &w.answers.History)
	if p.Partial {
		w.err = cmp.Or(w.err, errTooLong)
	}
	return p, err
}

// Read calls the lookup, and records the result. A test leaves an unknown value out, if the
// description of the look-up has a reason for it.
func (w *recordedLookup) Read(ctx context.Context, p facts.Part, k *facts.Known) error {
	err := expression.ErrNoLookup
	if w.Lookup != nil {
		err = w.Lookup.Read(ctx, p, k)
	}
	spec := facts.SpecOf(p)
	if _, unknown := errors.AsType[*facts.UnknownError](err); unknown && spec.Unknown != "" {
		return err
	}
	if err != nil {
		w.err = cmp.Or(w.err, err)
		return err
	}
	spec.Copy(k, &w.answers)
	return nil
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
	base := facts.Known{PullRequest: defaultPull()}
	base.PullRequest.ChangedFiles, base.PullRequest.Commits = len(told.Changed), len(told.Commits)
	if f.Pull != nil {
		told.PullRequest = *f.Pull
	}
	return sectionText("pr", lookedUpSlots("pr", &told), lookedUpSlots("pr", &base))
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
