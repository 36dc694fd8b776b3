package backtest

import (
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/rules"
)

// The most different labels and months that are counted.
const (
	maxLabels = 5000
	maxMonths = 600
	maxTitle  = 80 // characters
)

// A tally counts for one rule.
type tally struct {
	Figures
	info    rules.Info
	unable  string // why it cannot be replayed; empty: it can
	names   []string
	labels  map[string]*Figures // by name in lower case
	against []Link
	fails   int
	failure string // the first

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
	key := strings.ToLower(name)
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

// judge counts what people say to what a rule does on an issue.
func (t *tally) judge(h history, d deed, links int) {
	worst := unjudged
	var why []string
	add := func(v verdict, reason string) {
		worst = max(worst, v)
		if v == disagreed {
			why = append(why, reason)
		}
	}
	for _, name := range d.labels {
		v, reason := h.label(name)
		t.label(name).take(v)
		add(v, reason)
	}
	if d.closes != "" {
		add(h.closing(d.closes))
	}
	t.take(worst)
	if worst == disagreed {
		note(&t.against, linkTo(h, strings.Join(why, "; ")), links)
	}
}

// note keeps a link when there are not too many.
func note(list *[]Link, l Link, most int) {
	if len(*list) < most {
		*list = append(*list, l)
	}
}

func linkTo(h history, why string) Link {
	return Link{Issue: h.issue.Number, Title: oneLine(h.issue.Title), URL: webURL(h.issue.URL), Why: oneLine(why)}
}

// oneLine makes foreign text fit for a line of any of the formats; each escapes it
// besides.
func oneLine(s string) string {
	r := []rune(sanitize.Line(s))
	if len(r) > maxTitle {
		r = append(r[:maxTitle-1], '…')
	}
	return string(r)
}

// webURL is an address that may stand in a link, or nothing.
func webURL(s string) string {
	web := strings.HasPrefix(s, "https://") || strings.HasPrefix(s, "http://")
	odd := func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("\"'<>()[]\\`", r) }
	if !web || strings.ContainsFunc(s, odd) || len(s) >= 500 {
		return ""
	}
	return s
}

// count counts one issue: with what the rules decide on it, where its timeline was
// read; elsewhere they have nothing to say.
func (r *replay) count(h history, read bool) {
	r.replayed++
	for _, name := range h.issue.Labels {
		key := strings.ToLower(name)
		if v, _ := h.label(name); v == agreed || v == kept {
			if _, known := r.carried[key]; known || len(r.carried) < maxLabels {
				r.carried[key]++
			}
		}
	}
	month := r.month(h)
	month.Issues++
	if !read {
		return
	}
	event := r.event(h.opening())
	decisions := make([]decision, len(r.engines))
	for k, e := range r.engines {
		decisions[k] = e.decide(event, &h)
		e.count(h, decisions[k], r.Links)
	}
	if len(decisions[0].fired) > 0 {
		month.Fired++
	}
	if len(r.engines) == 2 {
		if len(decisions[1].fired) > 0 {
			month.OldFired++
		}
		r.compare(h, decisions[0], decisions[1])
	}
}

func (r *replay) month(h history) *Month {
	name := h.issue.CreatedAt.UTC().Format("2006-01")
	m := r.months[name]
	if m == nil {
		m = &Month{Month: name}
		if len(r.months) < maxMonths {
			r.months[name] = m
		}
	}
	return m
}

// count counts what the rules decide on an issue.
func (e *engine) count(h history, d decision, links int) {
	if d.why != nil {
		e.failed++
		at := &e.why
		if t := e.rules[d.failed]; t != nil {
			t.fails++
			at = &t.failure
		}
		if *at == "" {
			*at = firstLine(d.why.Error())
		}
	}
	for _, id := range d.fired {
		e.rules[id].judge(h, *d.deeds[id], links)
	}
}

// compare counts on which issues a rule fires now, and on which no longer.
func (r *replay) compare(h history, now, before decision) {
	for id, deed := range now.deeds {
		t := r.engines[0].rules[id]
		switch old := before.deeds[id]; {
		case old == nil:
			t.newly++
			note(&t.newlyOn, linkTo(h, ""), r.Links)
		case old.acts != deed.acts:
			t.changed++
		}
	}
	for _, id := range before.fired {
		if slices.Contains(now.fired, id) {
			continue
		}
		t := r.engines[0].rules[id]
		if t == nil {
			t = r.engines[1].rules[id]
		}
		t.gone++
		note(&t.goneOn, linkTo(h, ""), r.Links)
	}
}
