package backtest

import (
	"cmp"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/evidence"
	"github.com/org/foreman-action/internal/text"
)

// maxMonths is the largest number of months that are counted.
const maxMonths = 600

// A tally contains the counts for one rule.
type tally struct {
	Figures
	names   []string            // of the labels that the rule adds
	labels  map[string]*Figures // by the result of text.LabelKey
	against []Link
	fails   int
	failure string // the first failure

	newly, gone, changed int
	newlyOn, goneOn      []Link
}

// take counts one verdict.
func (f *Figures) take(v verdict) {
	f.Fired++
	switch v {
	case agreed:
		f.Agreed++
	case kept:
		f.Agreed++
		f.Kept++
	case undecided:
		f.Undecided++
	case disagreed:
		f.Disagreed++
	case unjudged:
	}
}

// label returns the figures of a label that the rule adds.
func (t *tally) label(name string) *Figures {
	key := text.LabelKey(name)
	f := t.labels[key]
	if f == nil {
		f = &Figures{}
		if len(t.labels) < maxLabels {
			t.labels[key] = f
			t.names = append(t.names, name)
		}
	}
	return f
}

// judge counts the verdict on an effect of the rule. The verdict is the strongest one of its labels
// and its closing.
func (t *tally) judge(h history, does effect, links int) {
	worst := unjudged
	var why []string
	add := func(v verdict, reason string) {
		worst = max(worst, v)
		if v == disagreed {
			why = append(why, reason)
		}
	}
	for _, name := range does.labels {
		v, reason := h.label(name)
		t.label(name).take(v)
		add(v, reason)
	}
	if does.closes != "" {
		add(h.closing(does.closes))
	}
	t.take(worst)
	if worst == disagreed {
		note(&t.against, linkTo(h, strings.Join(why, "; ")), links)
	}
}

// note appends a link if the list has fewer than most links.
func note(list *[]Link, l Link, most int) {
	if len(*list) < most {
		*list = append(*list, l)
	}
}

func linkTo(h history, why string) Link {
	return Link{Issue: h.issue.Number, Title: oneLine(h.issue.Title), URL: webURL(h.issue.URL), Why: oneLine(why)}
}

// A ruleCount contains the counts for the rules of one engine.
type ruleCount struct {
	rules  map[string]*tally // by id
	proofs map[proofKey]*proof
	failed int    // issues on which a rule cannot be judged
	why    string // the first failure that belongs to no single rule
}

func newRuleCount(e *engine) *ruleCount {
	c := &ruleCount{rules: map[string]*tally{}, proofs: map[proofKey]*proof{}}
	for _, info := range e.infos {
		c.rules[info.ID] = &tally{labels: map[string]*Figures{}}
	}
	return c
}

// add counts a decision on an issue.
func (c *ruleCount) add(h history, d decision, links int) {
	if d.err != nil || len(d.unjudged) > 0 {
		c.failed++
	}
	if d.err != nil {
		c.why = cmp.Or(c.why, firstLine(d.err.Error()))
	}
	for _, r := range d.unjudged {
		t := c.rules[r.ID]
		t.fails++
		t.failure = cmp.Or(t.failure, firstLine(r.Error))
	}
	var adds []addition
	for _, id := range d.fired {
		c.rules[id].judge(h, *d.effects[id], links)
		adds = append(adds, d.effects[id].adds...)
	}
	c.prove(h, adds)
}

// A proofKey is a label that an action of a rule adds. label is in the form of [text.LabelKey].
type proofKey struct{ digest, label string }

// A proof counts what people did with a label.
type proof struct{ judged, kept int }

// prove counts what the history of an issue proves about the labels that rules add. Rules with the same digest count an issue once.
func (c *ruleCount) prove(h history, adds []addition) {
	for i, a := range adds {
		key := proofKey{a.digest, text.LabelKey(a.label)}
		proves, right := h.proof(a.label)
		twice := slices.ContainsFunc(adds[:i], func(b addition) bool { return proofKey{b.digest, text.LabelKey(b.label)} == key })
		if p := c.proofs[key]; proves && !twice && (p != nil || len(c.proofs) < evidence.MaxPairs) {
			if p == nil {
				p = &proof{}
				c.proofs[key] = p
			}
			p.judged++
			if right {
				p.kept++
			}
		}
	}
}

// counts are the counters of a replay.
type counts struct {
	replayed, pulls, ours, timelines int

	// carried is, by the result of text.LabelKey, the number of issues that have the label, where people
	// added it or did not remove it.
	carried map[string]int
	months  map[string]*Month // by month, such as "2026-11"
	engines []*ruleCount      // for the new rules, and for the old ones
}

func newCounts(engines []*engine) counts {
	c := counts{carried: map[string]int{}, months: map[string]*Month{}}
	for _, e := range engines {
		c.engines = append(c.engines, newRuleCount(e))
	}
	return c
}

// add counts one issue with the decision of each engine. decisions is nil when the timeline was not
// read, because no rule fires on the issue.
func (c *counts) add(h history, decisions []decision, links int) {
	c.replayed++
	for _, name := range h.issue.Labels {
		key := text.LabelKey(name)
		if v, _ := h.label(name); v == agreed || v == kept {
			if _, known := c.carried[key]; known || len(c.carried) < maxLabels {
				c.carried[key]++
			}
		}
	}
	month := c.month(h)
	month.Issues++
	for k, d := range decisions {
		c.engines[k].add(h, d, links)
	}
	if len(decisions) > 0 && len(decisions[0].fired) > 0 {
		month.Fired++
	}
	if len(decisions) == 2 {
		if len(decisions[1].fired) > 0 {
			month.OldFired++
		}
		c.compare(h, decisions[0], decisions[1], links)
	}
}

func (c *counts) month(h history) *Month {
	name := h.issue.CreatedAt.UTC().Format("2006-01")
	m := c.months[name]
	if m == nil {
		m = &Month{Month: name}
		if len(c.months) < maxMonths {
			c.months[name] = m
		}
	}
	return m
}

// compare counts the issues on which a rule fires only with the new configuration, and those on
// which it no longer fires.
func (c *counts) compare(h history, now, before decision, links int) {
	for id, does := range now.effects {
		t := c.engines[0].rules[id]
		switch old := before.effects[id]; {
		case old == nil:
			t.newly++
			note(&t.newlyOn, linkTo(h, ""), links)
		case old.actions != does.actions:
			t.changed++
		}
	}
	for _, id := range before.fired {
		if slices.Contains(now.fired, id) {
			continue
		}
		t := c.engines[0].rules[id]
		if t == nil {
			t = c.engines[1].rules[id]
		}
		t.gone++
		note(&t.goneOn, linkTo(h, ""), links)
	}
}
