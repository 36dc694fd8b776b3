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
	"github.com/org/foreman-action/policy"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner/internal/history"
	"github.com/org/foreman-action/runner/internal/judge"
	"github.com/org/foreman-action/runner/internal/plan"
	"github.com/org/foreman-action/triage"
)

var seeds = flag.Int("earned.seeds", 1000, "the number of simulated years")

// A year is a repository with three issues a day. On each one some agents want to add a label, which is right or
// wrong. People act as in [year.people] and [year.answer]. All chance comes from the seed.
type year struct {
	r      *rand.Rand
	known  [365 + 40][]known // outcomes by the day on which they become known
	early  bool              // people's answers and what they undo count at once; else the scheduled run counts all after the window
	issue  int
	agents []*agent
	// overridden counts actions that counted as kept although a person had undone them, and labels that
	// a later event would have set again.
	overridden int
	again      int // later events on issues from which a person had taken the label
}

// A known is the outcome of an action of an agent.
type known struct {
	memory.Result

	agent *agent
}

// An agent is a source in the simulation.
type agent struct {
	name   string
	right  func(day int) float64 // share of right actions
	author func(r *rand.Rand) string
	// attacks means that the agent acts only on issues of the attacker's accounts, that no team member looks
	// at them, and that the accounts do what GitHub permits them.
	attacks bool

	outcomes        memory.Outcomes // only of this agent, which is faster
	judged          int             // outcomes that counted
	first, firstAt  int             // day and number of judged when it was applied first; 0: never
	fellAt          int             // number of judged when it lost the permission first; 0: never
	wrong, mistakes int             // wrong actions since the drift, and those of them that people corrected
	held            bool
	lost            int // day on which it lost the permission after the drift; 0: never
	again, applied  int // mistakes and wrong applied actions until then
}

const (
	drift   = 270 // the day on which an agent becomes worse
	perDay  = 3
	silent  = 0.3  // share of issues on which no team member acts
	bots    = 0.1  // share of issues on which another bot takes the label off and sets it again
	edited  = 0.5  // share of issues that are edited after a person took the label off
	answers = 0.6  // share of proposals that people answer
	blind   = 0.02 // share of wrong proposals that people accept, of those that they answer
)

// The team. Each member leaves some wrong labels.
func team() []member { return []member{{"mona", 0.02}, {"zoe", 0.1}, {"lee", 0.25}} }

type member struct {
	login string
	lazy  float64 // share of wrong labels that the member leaves
}

func newYear(seed uint64, early bool) *year {
	steady := func(share float64) func(int) float64 { return func(int) float64 { return share } }
	among := func(name string, n int) func(*rand.Rand) string {
		return func(r *rand.Rand) string { return fmt.Sprint(name, r.IntN(n)) }
	}
	return &year{r: rand.New(rand.NewPCG(seed, 7)), early: early, agents: []*agent{
		{name: "good", right: steady(0.95), author: among("user-", 400)},
		{name: "bad", right: steady(0.70), author: among("user-", 400)},
		{name: "drifting", author: among("user-", 400), right: func(day int) float64 {
			if day < drift {
				return 0.95
			}
			return 0.60
		}},
		{name: "attacker", right: steady(0), author: among("sock-", 200), attacks: true},
		{name: "single", right: steady(1), author: among("sock-", 1)}, // one account files many easy issues
	}}
}

func (y *year) run() {
	for day := range y.known { // and some days on which only outcomes become known
		for _, k := range y.known[day] {
			y.count(k, day)
		}
		y.known[day] = nil
		if day >= 365 {
			continue
		}
		for range perDay {
			y.issue++
			for _, a := range y.agents {
				y.act(a, day)
			}
		}
		for _, a := range y.agents {
			a.outcomes.Advance(start.AddDate(0, 0, day-16))
		}
	}
}

func key(name string) memory.PairKey {
	return memory.PairKey{Source: "agent:" + name, Action: "add_label", Value: "bug"}
}

// act lets an agent act on an issue: it is applied if the agent has the permission, and else proposed.
func (y *year) act(a *agent, day int) {
	right := y.r.Float64() < a.right(day)
	p, _ := a.outcomes.Pair(key(a.name))
	applied := p.Earned(threshold())
	at := start.AddDate(0, 0, day).Add(time.Duration(y.r.IntN(86400)) * time.Second)
	res := memory.Result{Issue: y.issue, Author: a.author(y.r), Acted: at}
	if day == drift {
		a.held = a.held || applied
	}
	if day >= drift && applied && !right && a.lost == 0 {
		a.wrong++
	}
	switch {
	case a.attacks:
		res.Outcome, res.At = y.judge(y.attack(res.Author, at), res.Author, at)
	case applied:
		events, undone := y.people(res.Author, right, at)
		res.Outcome, res.At = y.judge(events, res.Author, at)
		if undone {
			y.askedAgain(events, res.Author)
			if res.Outcome == memory.OutcomeKept {
				y.overridden++
			}
		}
	default:
		res.Outcome, res.Acted = y.answer(right, at)
		res.At = res.Acted
	}
	if !y.early {
		res.At = res.Acted.Add(window)
	}
	due := int(res.At.Sub(start)/(24*time.Hour)) + 1
	y.known[due] = append(y.known[due], known{res, a})
}

// count counts an outcome, and records when the permission of the agent changed.
func (y *year) count(k known, day int) {
	a := k.agent
	a.outcomes.Count(key(a.name), "", k.Result, threshold())
	p, _ := a.outcomes.Pair(key(a.name))
	wrong := k.Outcome == memory.OutcomeUndone || k.Outcome == memory.OutcomeRejected
	if wrong || k.Outcome == memory.OutcomeKept || k.Outcome == memory.OutcomeAccepted {
		a.judged++
	}
	earned := p.Earned(threshold())
	if earned && a.first == 0 {
		a.first, a.firstAt = day+1, a.judged
	}
	if a.first > 0 && !earned && a.fellAt == 0 {
		a.fellAt = a.judged
	}
	if wrong && k.Acted.After(start.AddDate(0, 0, drift)) && a.lost == 0 {
		a.mistakes++
	}
	if day >= drift && a.held && !earned && a.lost == 0 {
		a.lost, a.again, a.applied = day+1, a.mistakes, a.wrong
	}
}

func threshold() memory.Threshold { return memory.Threshold{Bound: 0.85, Of: 20} }

const window = 14 * 24 * time.Hour

// answer returns the answer to a proposal, and its time. Nobody answers some of them.
func (y *year) answer(right bool, at time.Time) (memory.Outcome, time.Time) {
	when := at.Add(time.Duration(1+y.r.IntN(150)) * time.Hour)
	switch {
	case y.r.Float64() >= answers:
		return memory.OutcomeExpired, at.Add(window)
	case right || y.r.Float64() < blind:
		return memory.OutcomeAccepted, when
	}
	return memory.OutcomeRejected, when
}

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
	if y.r.Float64() < bots {
		off := hours(10)
		add(off, "other[bot]", "unlabeled", label("bug"))
		add(off+time.Minute, "other[bot]", "labeled", label("bug"))
	}
	if y.r.Float64() < silent {
		return sorted(list), false
	}
	who := team()[y.r.IntN(3)]
	when := hours(150)
	add(when, who.login, "commented", func(e *triage.TimelineEvent) { e.Association = "MEMBER" })
	if !right && y.r.Float64() >= who.lazy {
		undone = true
		add(when+time.Minute, who.login, "unlabeled", label("bug"))
		if y.r.Float64() < 0.05 { // a person who changes her mind again and again
			for i := range 20 {
				add(when+time.Duration(2+i)*time.Minute, who.login, []string{"labeled", "unlabeled"}[i%2], label("bug"))
			}
		}
	}
	return sorted(list), undone
}

// askedAgain lets somebody edit some of the issues from which a person took the label, so that the agent wants
// to add it again. It has the permission, and must not override the person.
func (y *year) askedAgain(events []triage.TimelineEvent, author string) {
	h := y.history(events, author)
	if y.r.Float64() >= edited || len(h.Issue.Labels) > 0 { // another bot may have set it again
		return
	}
	y.again++
	item, err := protocol.NewAction(protocol.ActionAddLabel, map[string]any{"label": "bug"})
	if err != nil {
		panic(err)
	}
	want := protocol.DecisionMessage{Decision: protocol.LabelAndRespond, Actions: []protocol.ActionItem{item}}
	made := plan.Make(plan.Input{Decision: plan.Decision{Message: want}, Issue: h.Issue, Policy: policy.Policy{}})
	seen := plan.Snapshot{Timeline: &h.Timeline, Labels: map[string]string{"bug": "bug"}}
	attempt := plan.Attempt{Identity: history.Identity{Login: bot}, Now: events[len(events)-1].At.Add(time.Hour)}
	if reviewed := plan.Review(made, attempt, seen); reviewed.Writes() || !made.Writes() {
		y.overridden++
	}
}

// attack returns what 200 accounts without a permission can do on issues of their own.
func (y *year) attack(author string, at time.Time) []triage.TimelineEvent {
	list := []triage.TimelineEvent{{At: at.Add(time.Second), Actor: bot, ActorType: "Bot", Kind: "labeled", Label: "bug"}}
	for i := range 5 {
		e := triage.TimelineEvent{At: at.Add(time.Duration(i+1) * time.Hour), Actor: fmt.Sprint("sock-", y.r.IntN(200)), ActorType: "User", Kind: "commented"}
		e.Association = []string{"NONE", "CONTRIBUTOR", "FIRST_TIME_CONTRIBUTOR"}[y.r.IntN(3)]
		list = append(list, e)
	}
	self := fmt.Sprint("sock-", y.r.IntN(200)) // some workflows assign who asks for it
	return append(list, triage.TimelineEvent{At: at.Add(9 * time.Hour), Actor: self, ActorType: "User", Kind: "assigned", Assignee: self},
		triage.TimelineEvent{At: at.Add(10 * time.Hour), Actor: author, ActorType: "User", Kind: "closed"},
		triage.TimelineEvent{At: at.Add(11 * time.Hour), Actor: author, ActorType: "User", Kind: "reopened"})
}

func sorted(list []triage.TimelineEvent) []triage.TimelineEvent {
	slices.SortStableFunc(list, func(a, b triage.TimelineEvent) int { return a.At.Compare(b.At) })
	return list
}

// history returns the issue after the events. It has the label unless the last event about it took it off.
func (y *year) history(events []triage.TimelineEvent, author string) history.History {
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
	return h
}

// judge judges the label when a person takes it off, or after the window, and returns when that is.
func (y *year) judge(events []triage.TimelineEvent, author string, at time.Time) (memory.Outcome, time.Time) {
	h := y.history(events, author)
	v, _ := judge.Judge(h, judge.Act{Type: "add_label", Value: "bug", At: at}, window, at.Add(window))
	return v.Outcome, v.At
}

// A yearTally adds up years.
type yearTally struct {
	years, early, fell, ever, soon, held, kept, late, again, overridden, attacked, single int

	firsts, mistakes, applied []int
}

func (s *yearTally) add(y *year) {
	s.years++
	s.again, s.overridden = s.again+y.again, s.overridden+y.overridden
	for _, a := range y.agents {
		p, _ := a.outcomes.Pair(key(a.name))
		switch a.name {
		case "good":
			if a.first > 0 {
				s.firsts = append(s.firsts, a.firstAt)
			}
			if a.first > 0 && a.firstAt <= 100 {
				s.early++
			}
			if a.fellAt > 0 && a.fellAt <= 300 {
				s.fell++
			}
		case "bad":
			if a.first > 0 {
				s.ever++
			}
			if a.first > 0 && a.firstAt <= 500 {
				s.soon++
			}
		case "drifting":
			switch {
			case !a.held:
				continue
			case a.lost == 0:
				s.kept++
			case a.again > 12:
				s.late++
			}
			s.held++
			s.mistakes, s.applied = append(s.mistakes, a.again), append(s.applied, a.applied)
		case "attacker":
			if judged, right := p.Judged(); judged > 0 || right > 0 || a.first > 0 {
				s.attacked++
			}
		case "single":
			if judged, _ := p.Judged(); judged > 3 || a.first > 0 {
				s.single++
			}
		}
	}
}

// share returns the value that a share of the list does not exceed.
func share(list []int, of float64) int {
	slices.Sort(list)
	if len(list) == 0 {
		return 0
	}
	return list[min(len(list)-1, int(of*float64(len(list))))]
}

// TestYear checks the goals of earned permission over simulated years. docs/proof/earned.md has the figures.
func TestYear(t *testing.T) {
	t.Parallel()
	var scheduled, early yearTally
	t.Run("years", func(t *testing.T) {
		for _, s := range []*yearTally{&scheduled, &early} {
			t.Run(fmt.Sprintf("at once %t", s == &early), func(t *testing.T) {
				t.Parallel()
				s.run(t, s == &early)
			})
		}
	})
	// If what people undo counts at once, it comes before the kept ones of the same days. So a few more mistakes are
	// counted, but far fewer are made.
	n := scheduled.years
	switch {
	case scheduled.late > max(1, n/100) || early.late > max(2, 3*n/100):
		t.Error("the drifting agent keeps its permission too long")
	case share(early.applied, 0.5)*4 > share(scheduled.applied, 0.5)*3:
		t.Error("counting at once is of no use")
	}
}

func (s *yearTally) run(t *testing.T, early bool) {
	t.Helper()
	n := *seeds
	if testing.Short() {
		n = min(n, 50)
	}
	for seed := range uint64(n) {
		y := newYear(seed, early)
		y.run()
		s.add(y)
	}
	t.Logf("%d years of %d issues", n, 365*perDay)
	t.Logf("right in 95 %%: applied within 100 judged in %d; judged until then: median %d, 95 %% of years %d; lost it within 300 judged in %d",
		s.early, share(s.firsts, 0.5), share(s.firsts, 0.95), s.fell)
	t.Logf("right in 70 %%: ever applied in %d, within 500 judged in %d", s.ever, s.soon)
	t.Logf("95 %% to 60 %% on day %d: applied then in %d; counted mistakes until it was proposed again: median %d, 99 %% of years %d, more than 12 in %d, never in %d; "+
		"wrong labels until then: median %d, 99 %% of years %d", drift, s.held, share(s.mistakes, 0.5), share(s.mistakes, 0.99), s.late, s.kept, share(s.applied, 0.5), share(s.applied, 0.99))
	t.Logf("attacker with 200 accounts: anything counted in %d; one account with easy issues: more than 3 counted or applied in %d", s.attacked, s.single)
	t.Logf("%d events after a person took the label off, people overridden: %d", s.again, s.overridden)
	switch {
	case s.early*100 < 95*n:
		t.Error("the good agent is applied too late")
	case s.fell*100 > 15*n:
		t.Error("the good agent loses its permission too often")
	case s.ever > max(1, n/200):
		t.Error("the bad agent is applied too often")
	case s.held*10 < 8*n || s.kept > 0:
		t.Error("the drifting agent keeps its permission")
	case s.attacked > 0 || s.single > 0:
		t.Error("an attacker earned something")
	case s.overridden > 0 || s.again < n:
		t.Error("a person was overridden, or that was not tried")
	}
}
