package backtest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/evidence"
	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules"
)

// summarize returns the report for the counts. stopped is nil when all issues were replayed.
func summarize(o Options, c counts, engines []*engine, stopped *Stopped) Report {
	rep := Report{
		Version: Version, Repo: o.Repo, Event: replayedEvent, Since: utc(o.Since), At: o.Now.UTC(), Issues: c.replayed, PullRequests: c.pulls, Ours: c.ours,
		Timelines: c.timelines, Failed: c.engines[0].failed, Stopped: stopped, Months: []Month{}, Notes: notes(o, c, engines),
	}
	rep.Evidence = evidence.File{Version: evidence.Version, Repo: o.Repo, At: o.Now.UTC(), Since: o.Since, Pairs: c.engines[0].pairs()}
	rep.Rules = ruleList(engines[0], c.engines[0], c.carried)
	if o.Old != nil {
		rep.ComparedWith, rep.OldFailed = cmp.Or(sanitize.Name(o.OldName), "other rules"), c.engines[1].failed
		rep.Rules = beside(rep.Rules, ruleList(engines[1], c.engines[1], c.carried))
	}
	for _, name := range slices.Sorted(maps.Keys(c.months)) {
		rep.Months = append(rep.Months, *c.months[name])
	}
	return rep
}

// pairs returns what the replay proves, without order.
func (c *ruleCount) pairs() []evidence.Pair {
	list := make([]evidence.Pair, 0, len(c.proofs))
	for key, p := range c.proofs {
		list = append(list, evidence.Pair{Digest: key.digest, Action: protocol.ActionAddLabel, Value: key.label, Judged: p.judged, Kept: p.kept})
	}
	return list
}

// utc returns a time in UTC; nil for the zero time.
func utc(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// ruleList returns the counts for each rule of an engine.
func ruleList(e *engine, c *ruleCount, carried map[string]int) []Rule {
	list := []Rule{}
	for _, info := range e.infos {
		list = append(list, ruleOf(info, e.unable[info.ID], *c.rules[info.ID], carried))
	}
	return list
}

// beside adds the figures of the old rules to the list of the new rules.
func beside(list, before []Rule) []Rule {
	for i, r := range list {
		if !slices.ContainsFunc(before, func(old Rule) bool { return old.ID == r.ID }) {
			list[i].State = "added"
		}
	}
	for _, old := range before {
		k := slices.IndexFunc(list, func(r Rule) bool { return r.ID == old.ID })
		if k < 0 {
			figures := old.Figures
			old.State, old.Old, old.Figures, old.Labels, old.Disagreements = "removed", &figures, Figures{}, []Label{}, []Link{}
			list = append(list, old)
			continue
		}
		if old.NotReplayed == "" {
			list[k].Old = &old.Figures
		}
	}
	return list
}

// ruleOf returns the counts for a rule. unable is the reason why it cannot be replayed.
func ruleOf(info rules.Info, unable string, t tally, carried map[string]int) Rule {
	r := Rule{
		ID: info.ID, File: info.File, Line: info.Line, NotReplayed: unable, OtherEvents: []string{}, Labels: []Label{},
		Disagreements: append([]Link{}, t.against...), Failed: t.fails, Failure: t.failure,
		NewlyFires: t.newly, NoLongerFires: t.gone, ActsOtherwise: t.changed,
		NewlyFiresOn: append([]Link{}, t.newlyOn...), NoLongerFiresOn: append([]Link{}, t.goneOn...),
	}
	for _, on := range info.On {
		if on != replayedEvent {
			r.OtherEvents = append(r.OtherEvents, on)
		}
	}
	if unable != "" {
		// The counts are incomplete, because the rule was removed during the replay.
		r.Disagreements, r.NewlyFires, r.NoLongerFires, r.ActsOtherwise = []Link{}, 0, 0, 0
		r.NewlyFiresOn, r.NoLongerFiresOn = []Link{}, []Link{}
		return r
	}
	r.Figures = t.Figures
	r.Judged = judged(info.Actions)
	right, there := 0, 0
	for _, name := range t.names {
		l := Label{Name: oneLine(name), Figures: *t.labels[text.LabelKey(name)], Carried: carried[text.LabelKey(name)]}
		l.Precision, l.Recall = share(l.Agreed, l.Agreed+l.Disagreed), share(l.Agreed, l.Carried)
		right, there = right+l.Agreed, there+l.Carried
		r.Labels = append(r.Labels, l)
	}
	if r.Judged {
		r.Precision, r.Recall = share(r.Agreed, r.Agreed+r.Disagreed), share(right, there)
	}
	return r
}

// judged reports whether a rule with these actions can be compared with what people did.
func judged(actions []string) bool {
	return slices.ContainsFunc(actions, func(a string) bool {
		return slices.Contains([]string{"add_label", "add_labels", "close_issue", "mark_duplicate"}, a)
	})
}

func share(part, whole int) *float64 {
	if whole == 0 {
		return nil
	}
	s := float64(part) / float64(whole)
	return &s
}

// notes returns notes that explain the numbers.
func notes(o Options, c counts, engines []*engine) []string {
	list := []string{
		"A rule agrees with people when its label is on the issue today, and a person put it there or left it for a month; when it closes, that people closed for the same reason. An open issue that only its author changed is undecided.",
		"An issue is replayed with the title, labels, assignees and milestone that it was opened with, as far as its timeline shows, and with today's body.",
		"If no rule fires for an issue with its present title, and the issue has none of the rules' labels, no rule counts as fired; the timeline of the issue is not read.",
	}
	var events []string
	for _, e := range engines {
		events = append(events, e.unreplayed()...)
	}
	if why := c.engines[0].why; why != "" {
		list = append(list, "The rules fail: "+why)
	}
	slices.Sort(events)
	if events = slices.Compact(events); len(events) > 0 {
		list = append(list, "Not replayed: "+strings.Join(events, ", ")+".")
	}
	if refused := slices.Sorted(maps.Keys(engines[0].refused)); len(refused) > 0 {
		list = append(list, "Labels that the policy refuses are not counted: "+oneLine(strings.Join(refused, ", "))+".")
	}
	if o.Config.Agent.URL != "" || o.Old != nil && o.Old.Agent.URL != "" {
		list = append(list, "The agent is not asked: these are the decisions of the rules.")
	}
	if slices.ContainsFunc(engines, func(e *engine) bool { return e.proposes() }) {
		list = append(list, "An action that would be proposed to a person counts like one that is carried out.")
	}
	if c.ours > 0 {
		list = append(list, fmt.Sprintf("Left out: %s opened by %s.", many(c.ours, "issue"), oneLine(o.Bot)))
	}
	return list
}
