package judge_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/runner/internal/history"
	"github.com/org/foreman-action/runner/internal/judge"
	"github.com/org/foreman-action/triage"
)

var seeds = flag.Int("earned.seeds", 300, "the number of simulated years")

// A year is a repository with three issues a day. On each one some agents want to add a label, which is right or
// wrong. People act as in [year.people]. All chance comes from the seed.
type year struct {
	r        *rand.Rand
	outcomes memory.Outcomes
	now      time.Time
	issue    int
	agents   []agent
	// overridden counts actions that counted as kept although a person had undone them.
	overridden int
}

// An agent is a source in the simulation.
type agent struct {
	name  string
	right func(day int) float64 // share of right actions
	// attacks means that the agent acts only on issues of the attacker's accounts, and that the accounts
	// comment on them and change them as far as GitHub permits.
	attacks bool

	judged, mistakes            int // mistakes since the drift
	first, firstAt, lost, again int // day and number of judged when it was applied first; lost: day; again: mistakes until it was lost after the drift
}

const (
	drift   = 270 // the day on which an agent becomes worse
	perDay  = 3
	silent  = 0.3 // share of issues on which no team member acts
	lazy    = 0.1 // share of wrong labels that a team member who is there leaves
	answers = 0.6 // share of proposals that people answer
)

func newYear(seed uint64) *year {
	steady := func(share float64) func(int) float64 { return func(int) float64 { return share } }
	return &year{r: rand.New(rand.NewPCG(seed, 7)), now: start, agents: []agent{
		{name: "good", right: steady(0.95)},
		{name: "bad", right: steady(0.70)},
		{name: "drifting", right: func(day int) float64 {
			if day < drift {
				return 0.95
			}
			return 0.60
		}},
		{name: "attacker", right: steady(0), attacks: true},
	}}
}

func (y *year) run() {
	for day := range 365 {
		for range perDay {
			y.issue++
			for i := range y.agents {
				y.act(&y.agents[i], day)
			}
		}
		y.outcomes.Advance(start.AddDate(0, 0, day+1))
	}
}

func key(name string) memory.PairKey {
	return memory.PairKey{Source: "agent:" + name, Action: "add_label", Value: "bug"}
}

// act lets an agent act on an issue, and counts the outcome as the judge sees it fourteen days later.
func (y *year) act(a *agent, day int) {
	right := y.r.Float64() < a.right(day)
	p, _ := y.outcomes.Pair(key(a.name))
	applied := p.Earned(threshold())
	at := start.AddDate(0, 0, day).Add(time.Duration(y.r.IntN(86400)) * time.Second)
	res := memory.Result{Issue: y.issue, Author: fmt.Sprint("user-", y.r.IntN(400)), Acted: at, At: at.Add(window)}
	undone := false
	switch {
	case a.attacks:
		res.Author = fmt.Sprint("sock-", y.r.IntN(200))
		res.Outcome = y.judge(y.attack(res.Author, at), res.Author, at)
	case applied:
		var events []triage.TimelineEvent
		events, undone = y.people(res.Author, right, at)
		res.Outcome = y.judge(events, res.Author, at)
	case y.r.Float64() >= answers:
		res.Outcome = memory.OutcomeExpired
	case right:
		res.Outcome = memory.OutcomeAccepted
	default:
		res.Outcome = memory.OutcomeRejected
	}
	if undone && res.Outcome == memory.OutcomeKept {
		y.overridden++
	}
	y.outcomes.Count(key(a.name), "", res, threshold())
	a.follow(y.outcomes, res.Outcome, day)
}

// follow records when the permission of an agent changed.
func (a *agent) follow(o memory.Outcomes, got memory.Outcome, day int) {
	p, _ := o.Pair(key(a.name))
	wrong := got == memory.OutcomeUndone || got == memory.OutcomeRejected
	if wrong || got == memory.OutcomeKept || got == memory.OutcomeAccepted {
		a.judged++
	}
	if p.Earned(threshold()) && a.first == 0 {
		a.first, a.firstAt = day+1, a.judged
	}
	if day >= drift && wrong && a.lost == 0 {
		a.mistakes++
	}
	if day >= drift && a.lost == 0 && !p.Earned(threshold()) {
		a.lost, a.again = day+1, a.mistakes
	}
}

func threshold() memory.Threshold { return memory.Threshold{Bound: 0.85, Of: 20} }

const window = 14 * 24 * time.Hour

// people returns what happens on an issue after the label was added, and whether a person took it off.
func (y *year) people(author string, right bool, at time.Time) (list []triage.TimelineEvent, undone bool) {
	add := func(after time.Duration, actor, kind string, set func(*triage.TimelineEvent)) {
		e := triage.TimelineEvent{At: at.Add(after), Actor: actor, ActorType: "User", Kind: kind}
		if strings.HasSuffix(actor, "[bot]") {
			e.ActorType = "Bot"
		}
		if set != nil {
			set(&e)
		}
		list = append(list, e)
	}
	label := func(name string) func(*triage.TimelineEvent) {
		return func(e *triage.TimelineEvent) { e.Label = name }
	}
	add(time.Second, bot, "labeled", label("bug"))
	hours := func(most int) time.Duration { return time.Duration(1+y.r.IntN(most)) * time.Hour }
	if y.r.Float64() < 0.5 {
		add(hours(100), author, "commented", func(e *triage.TimelineEvent) { e.Association = "NONE" })
	}
	if y.r.Float64() < 0.1 { // a bot that labels everything, and takes labels off again
		add(hours(10), "other[bot]", "unlabeled", label("bug"))
		add(hours(10)+10*time.Hour, "other[bot]", "labeled", label("bug"))
	}
	if y.r.Float64() < silent {
		return sorted(list), false
	}
	who := []string{"mona", "zoe", "hubot"}[y.r.IntN(3)]
	when := hours(150)
	add(when, who, "commented", func(e *triage.TimelineEvent) { e.Association = "MEMBER" })
	if !right && y.r.Float64() >= lazy {
		undone = true
		add(when+time.Minute, who, "unlabeled", label("bug"))
		if y.r.Float64() < 0.05 { // a person who changes her mind again and again
			for i := range 20 {
				add(when+time.Duration(2+i)*time.Minute, who, []string{"labeled", "unlabeled"}[i%2], label("bug"))
			}
		}
	}
	return sorted(list), undone
}

// attack returns what 200 accounts without a permission can do on issues of their own.
func (y *year) attack(author string, at time.Time) []triage.TimelineEvent {
	list := []triage.TimelineEvent{{At: at.Add(time.Second), Actor: bot, ActorType: "Bot", Kind: "labeled", Label: "bug"}}
	for i := range 5 {
		e := triage.TimelineEvent{At: at.Add(time.Duration(i+1) * time.Hour), Actor: fmt.Sprint("sock-", y.r.IntN(200)), ActorType: "User", Kind: "commented"}
		e.Association = []string{"NONE", "CONTRIBUTOR", "FIRST_TIME_CONTRIBUTOR"}[y.r.IntN(3)]
		list = append(list, e)
	}
	return append(list, triage.TimelineEvent{At: at.Add(10 * time.Hour), Actor: author, ActorType: "User", Kind: "closed"},
		triage.TimelineEvent{At: at.Add(11 * time.Hour), Actor: author, ActorType: "User", Kind: "reopened"})
}

func sorted(list []triage.TimelineEvent) []triage.TimelineEvent {
	slices.SortStableFunc(list, func(a, b triage.TimelineEvent) int { return a.At.Compare(b.At) })
	return list
}

// judge judges the label after the window. The issue has it unless the last event took it off.
func (y *year) judge(events []triage.TimelineEvent, author string, at time.Time) memory.Outcome {
	h := history.History{Bot: bot, Issue: triage.Issue{Number: y.issue, Author: author, Association: "NONE", State: "open"}}
	h.Events, h.Complete = events, true
	for _, e := range events {
		switch e.Kind {
		case "labeled":
			h.Issue.Labels = []string{"bug"}
		case "unlabeled":
			h.Issue.Labels = nil
		}
	}
	v, _ := judge.Judge(h, judge.Act{Type: "add_label", Value: "bug", At: at}, window, at.Add(window))
	return v.Outcome
}

// TestYear checks the goals of earned permission over simulated years. docs/proof/earned.md has the figures.
func TestYear(t *testing.T) {
	t.Parallel()
	n := *seeds
	if testing.Short() {
		n = min(n, 50)
	}
	var early, ever, drifted, late, attacked, overridden, twice int
	var firsts, agains []int
	for seed := range uint64(n) {
		y := newYear(seed)
		y.run()
		overridden += y.overridden
		for _, a := range y.agents {
			p, _ := y.outcomes.Pair(key(a.name))
			switch a.name {
			case "good":
				if a.first > 0 {
					firsts = append(firsts, a.firstAt)
				}
				if a.first > 0 && a.firstAt <= 100 {
					early++
				}
				if !p.Lost.IsZero() {
					twice++
				}
			case "bad":
				if a.first > 0 {
					ever++
				}
			case "drifting":
				if a.lost == 0 || a.first == 0 || a.first > drift {
					continue
				}
				drifted++
				agains = append(agains, a.again)
				if a.again > 12 {
					late++
				}
			case "attacker":
				if judged, right := p.Judged(); judged > 0 || right > 0 || a.first > 0 {
					attacked++
				}
			}
		}
	}
	slices.Sort(firsts)
	slices.Sort(agains)
	at := func(list []int, share float64) int {
		if len(list) == 0 {
			return 0
		}
		return list[min(len(list)-1, int(share*float64(len(list))))]
	}
	t.Logf("%d years. Right in 95 %%: applied within 100 judged in %d; judged until then: median %d, 95 %% of years %d; lost it at least once: %d. "+
		"Right in 70 %%: ever applied in %d. 95 %% to 60 %% on day %d: had the permission in %d, mistakes until it lost it: median %d, 99 %% of years %d, more than 12 in %d. "+
		"Attacker with 200 accounts: anything counted in %d. People overridden: %d.",
		n, early, at(firsts, 0.5), at(firsts, 0.95), twice, ever, drift, drifted, at(agains, 0.5), at(agains, 0.99), late, attacked, overridden)
	switch {
	case early*100 < 95*n:
		t.Error("the good agent is applied too late")
	case ever*1000 > 5*n+1000:
		t.Error("the bad agent is applied too often")
	case drifted*10 < 8*n || late*100 > drifted+100:
		t.Error("the drifting agent keeps its permission too long")
	case attacked > 0 || overridden > 0:
		t.Error("an attacker earned something, or a person was overridden")
	}
}
