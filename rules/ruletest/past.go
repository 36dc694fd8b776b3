package ruletest

import (
	"reflect"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/triage"
)

// actor reads the actor of the event, with the actor's permission.
func (d decoder) actor(n *yaml.Node, f *facts.Facts, known *facts.Known) {
	d.fields.fill("actor", n, slotsOf(reflect.ValueOf(&f.Actor).Elem()), "permission")
	permission := defaultPermission(f.Actor.Association)
	if p := yamlfile.Child(n, "permission"); p != nil {
		d.permission(p, &permission)
	}
	known.Permissions = map[string]string{f.Actor.Login: permission}
}

// permission reads the actor's permission.
func (d decoder) permission(n *yaml.Node, out *string) {
	d.fields.value(facts.PermissionName, n, reflect.ValueOf(out).Elem())
}

// pull reads the fields that only pull requests have. Events of pull_request contain them; for
// other events they are the result of a look-up.
func (d decoder) pull(n *yaml.Node, f *facts.Facts, known *facts.Known) {
	switch {
	case n != nil && !mayBePull(f.Event):
		d.f.Problemf(n, "pr: the events of issues are not about pull requests; those of pull_request, issue_comment and schedule may be")
		return
	case !f.Issue.PullRequest && (n != nil || f.Event.Name == triage.EventPullRequest):
		d.f.Problemf(d.node, "issue.pull_request: false means that the event is about an issue; leave it out, or pr and events of pull_request")
		return
	case !f.Issue.PullRequest:
		return
	}
	p := &known.PullRequest
	*p = defaultPull()
	d.fields.fill("pr", n, lookedUpSlots("pr", known))
	if !given(n, "changed_files") {
		p.ChangedFiles = len(known.Changed)
	}
	if !given(n, "commits") {
		p.Commits = len(known.Commits)
	}
	f.Issue.Draft = p.Draft
	if f.Event.Name == triage.EventPullRequest {
		pull := *p
		f.Pull, *p = &pull, triage.PullRequest{}
	}
}

// mayBePull reports whether an event may be about a pull request.
func mayBePull(e triage.Event) bool {
	return e.Name == triage.EventPullRequest || e.Name == triage.EventIssueComment || e.Name == triage.EventSchedule
}

// by reads which rules added the labels in memory.labels.
func (d decoder) by(n *yaml.Node) map[string]string {
	by, listed := yamlfile.Child(n, "by"), []string(nil)
	if by == nil {
		return nil
	}
	var given map[string]string
	if !d.f.DecodeKey("memory.by", by, &given) {
		return nil
	}
	if labels := yamlfile.Child(n, "labels"); labels != nil && labels.Kind == yaml.SequenceNode {
		for _, label := range labels.Content {
			listed = append(listed, label.Value)
		}
	}
	out := map[string]string{}
	for i := 0; i+1 < len(by.Content); i += 2 {
		label, rule := by.Content[i], by.Content[i+1]
		if !hasFold(listed, label.Value) {
			d.f.Problemf(label, "memory.by: %q is none of memory.labels", text.Shorten(label.Value, text.Quoted))
		}
		if d.ids != nil && !slices.Contains(d.ids, rule.Value) {
			d.f.Problemf(rule, "memory.by: there is no rule %q%s", text.Shorten(rule.Value, text.Quoted), yamlfile.DidYouMean(rule.Value, d.ids))
		}
		out[strings.ToLower(label.Value)] = rule.Value
	}
	return out
}

// pastKeys are the keys of an item of "past".
type pastKeys struct {
	Event *yaml.Node `mistaken:"kind,type"        yaml:"event,required"`
	At    *yaml.Node `mistaken:"when,created_at"  yaml:"at,required"`
	By    *yaml.Node `mistaken:"login,actor,user" yaml:"by"`
	As    *yaml.Node `yaml:"as"`
	Label *yaml.Node `yaml:"label"`
}

// The values of "as" in an item of "past".
const (
	asHuman = "human"
	asBot   = "bot"
	asUs    = "us" // by the account that Foreman uses
)

// past reads the events on the issue, the oldest first.
func (d decoder) past(n *yaml.Node, f facts.Facts) []facts.Change {
	if n == nil {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		d.f.Problemf(n, "past: want a list of events, got %s", yamlfile.Kind(n))
		return nil
	}
	var list []facts.Change
	for _, item := range n.Content {
		var keys pastKeys
		if !d.f.Decode(item, &keys) {
			continue
		}
		c := d.change(keys, f)
		switch {
		case c.At.After(f.Now):
			d.f.Problemf(keys.At, "at: this is after the %s's now, %s", d.kind, f.Now.Format("2006-01-02T15:04:05Z07:00"))
		case len(list) > 0 && c.At.Before(list[len(list)-1].At):
			d.f.Warnf(keys.At, "at: this is earlier than the event above; list the oldest event first")
		}
		list = append(list, c)
	}
	return list
}

// lookup returns the look-ups of a test. In a test without "past" nothing happened since the issue
// was opened: its labels came with it, and those in the memory were added by Foreman then.
func (t Test) lookup() facts.Lookup {
	known, ok := t.facts.Lookup.(facts.Known)
	if !ok || t.past {
		return t.facts.Lookup
	}
	known.History = facts.Opening(t.facts.Issue)
	for i, c := range known.History.Changes {
		known.History.Changes[i].Ours = hasFold(known.Before.Labels, c.Label)
	}
	return known
}

func (d decoder) change(keys pastKeys, f facts.Facts) facts.Change {
	c := facts.Change{Login: f.Issue.Author}
	if d.f.DecodeKey("event", keys.Event, &c.Kind) {
		known := []string{
			"labeled", "unlabeled", "commented", "closed", "reopened", "assigned", "unassigned", "milestoned", "demilestoned",
			"renamed", "locked", "unlocked", "pinned", "unpinned", "mentioned", "subscribed", "referenced", "cross-referenced",
			"committed", "head_ref_force_pushed", "merged", "ready_for_review", "convert_to_draft",
			"reviewed", "review_requested", "review_request_removed", "review_dismissed",
		}
		if hint := yamlfile.DidYouMean(c.Kind, known); hint != "" && !slices.Contains(known, c.Kind) {
			d.f.Warnf(keys.Event, "event: GitHub's timeline has no %q%s", text.Shorten(c.Kind, text.Quoted), hint)
		}
	}
	d.fields.moment("at", keys.At, &c.At)
	as := asHuman
	if keys.As != nil && d.f.DecodeKey("as", keys.As, &as) && !slices.Contains([]string{asHuman, asBot, asUs}, as) {
		d.f.Problemf(keys.As, "as: want human, bot or us, got %q", text.Shorten(as, text.Quoted))
	}
	c.Human, c.Ours = as == asHuman, as == asUs
	if c.Ours {
		c.Login = "github-actions[bot]"
	}
	if keys.By != nil {
		d.f.DecodeKey("by", keys.By, &c.Login)
	}
	switch needs := c.Kind == "labeled" || c.Kind == "unlabeled"; {
	case needs && keys.Label == nil:
		d.f.Problemf(keys.Event, "event: %s needs label", c.Kind)
	case keys.Label != nil && !needs:
		d.f.Problemf(keys.Label, "label: only labeled and unlabeled have one")
	case needs:
		d.f.DecodeKey("label", keys.Label, &c.Label)
	}
	return c
}
