//go:build unix && !race

package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/memory"
)

// The record of a pair changes with few outcomes here, so that permissions are granted and lost.
// The label "bug" is trusted, so that it is carried out whatever the record says; the store of artifacts is then read when
// people change something.
const judgedRules = `version: 1
policy: {automation: earned, judge_after: 2d, suggestion_ttl: 1d, earn: {bound: 0.5, of: 2, trust: ["%s/add_label/bug"]}}
`

const judgedAgent = `agent: {when: event.action == "opened"}
`

const judgedRule = `rules:
  - id: crash
    on: issues.opened
    then: [add_label: bug, add_label: {label: docs, suggest: true}]
`

const judgedDecision = `{"task_id": %q, "decision": "label_and_respond", "rationale": "%d", "actions": [
	{"type": "add_label", "label": "bug"}, {"type": "add_label", "label": "docs", "suggest": true}]}`

// crashOutcomes plays random stories on some issues: rules or an agent set one label and propose another, people
// keep, undo, accept and reject them, and scheduled runs judge. It kills all runs at random calls, and repeats
// them; runs of an event after which nothing must be done, and scheduled ones, are also left. In the end every
// outcome must be counted exactly once.
func crashOutcomes(t *testing.T, program string) {
	rounds := *crashRounds
	if testing.Short() {
		rounds = min(rounds, len(judgedCases()))
	}
	var mu sync.Mutex
	var sum outcomeTally
	t.Run("rounds", func(t *testing.T) {
		for round := range rounds {
			t.Run(strconv.Itoa(round), func(t *testing.T) {
				t.Parallel()
				s := newOutcomeRound(t, program, judgedCases()[round%len(judgedCases())], rand.New(rand.NewPCG(crashSeed, uint64(1000+round))))
				s.play(t)
				mu.Lock()
				defer mu.Unlock()
				sum.add(t, s)
			})
		}
	})
	t.Logf("%d rounds, %d kills, %d lost answers, %d runs left, %d at once, %d outcomes (%s): %d lost, %d doubled",
		rounds, sum.kills, sum.cuts, sum.left, sum.both, sum.outcomes, showTally(sum.counts), sum.lost, sum.doubled)
	if sum.kills < 2*rounds || sum.outcomes < 3*rounds {
		t.Errorf("only %d kills and %d outcomes in %d rounds: nothing was tried", sum.kills, sum.outcomes, rounds)
	}
}

// crashJudging kills a scheduled run that judges, and the run after a person took a label off, at every call in
// turn, before and after the effect of the call. Then it repeats the run, or leaves it.
func crashJudging(t *testing.T, program string) {
	step := 1
	if testing.Short() {
		step = 5
	}
	for _, c := range []crashCase{{false, "file"}, {false, "artifact"}, {false, crashDatabase}} {
		for _, leave := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, left %t", c, leave), func(t *testing.T) {
				t.Parallel()
				var sum outcomeTally
				for _, results := range []bool{false, true} {
					for nth, killed := 1, c.memory == "artifact" || !results; killed; nth += step {
						killed = false
						for _, after := range []bool{false, true} {
							s := newOutcomeRound(t, program, c, nil)
							s.short(t, crashPoint{results, nth, after}, leave)
							killed = killed || s.kills > 0
							sum.add(t, s)
						}
					}
				}
				t.Logf("%d kills, %d outcomes: %d lost, %d doubled", sum.kills, sum.outcomes, sum.lost, sum.doubled)
				if sum.kills < 8/step {
					t.Errorf("only %d kills: the schedule does not reach every call", sum.kills)
				}
			})
		}
	}
}

// An outcomeTally adds up the results of rounds.
type outcomeTally struct {
	kills, cuts, left, both, outcomes, lost, doubled int

	counts map[memory.Outcome]int
}

func (c *outcomeTally) add(t *testing.T, s *outcomeRound) {
	t.Helper()
	if c.counts == nil {
		c.counts = map[memory.Outcome]int{}
	}
	for _, value := range []string{"bug", "docs"} {
		want, got := s.want(value), s.counted(t, value)
		for _, o := range outcomes() {
			c.lost += max(0, want[o]-got[o])
			c.doubled += max(0, got[o]-want[o])
			c.outcomes += got[o]
			c.counts[o] += got[o]
		}
		if !maps.Equal(want, got) {
			t.Errorf("%s, the label %s: counted %s, want %s; killed at %v\n%s\n%+v\n%s", s.crashCase, value, showTally(got), showTally(want), s.at,
				strings.Join(s.story, "\n"), s.recordOf(t, memory.Repository).Outcomes, strings.Join(s.gh.Log(), "\n"))
		}
	}
	c.kills, c.cuts, c.left, c.both = c.kills+s.kills, c.cuts+len(s.cut), c.left+s.left, c.both+s.both
	s.close()
}

func outcomes() []memory.Outcome {
	return []memory.Outcome{
		memory.OutcomeKept, memory.OutcomeUndone, memory.OutcomeAccepted, memory.OutcomeRejected, memory.OutcomeExpired, memory.OutcomeUnjudged,
	}
}

func showTally(counts map[memory.Outcome]int) string {
	var list []string
	for _, o := range outcomes() {
		if counts[o] > 0 {
			list = append(list, fmt.Sprint(counts[o], " ", o))
		}
	}
	return strings.Join(list, ", ")
}

// An outcomeRound is a story on some issues.
type outcomeRound struct {
	*proposalRound

	issues []*judgedIssue
}

// A judgedIssue is an issue with the label "bug", which was set, and "docs", which was proposed. The fields are
// what people did.
type judgedIssue struct {
	number                       int
	there                        bool // a team member acted on the issue
	undone, author, bot, deleted bool // who took "bug" off first, or that the issue was deleted
	accepted, rejected, docsOff  bool
}

// applied returns the outcome of the label that was set.
func (i *judgedIssue) applied() memory.Outcome {
	switch {
	case i.undone:
		return memory.OutcomeUndone
	case i.author || i.bot || i.deleted || !i.there:
		return memory.OutcomeUnjudged
	}
	return memory.OutcomeKept
}

// proposed returns the outcome of the proposed label.
func (i *judgedIssue) proposed() memory.Outcome {
	switch {
	case i.docsOff:
		return memory.OutcomeUndone
	case i.accepted:
		return memory.OutcomeAccepted
	case i.rejected:
		return memory.OutcomeRejected
	}
	return memory.OutcomeExpired
}

// judgedCases are the cases with a memory. In the database rules decide.
func judgedCases() []crashCase { return append(proposingCases(), crashCase{false, crashDatabase}) }

func newOutcomeRound(t *testing.T, program string, c crashCase, random *rand.Rand) *outcomeRound {
	t.Helper()
	s := &outcomeRound{proposalRound: &proposalRound{Rand: random, runs: 99}}
	rules := fmt.Sprintf(judgedRules, "crash") + judgedRule
	if c.agent {
		rules = fmt.Sprintf(judgedRules, "agent:127.0.0.1") + judgedAgent
	}
	if c.memory == crashDatabase {
		var err error
		if program, err = exec.LookPath(crashDatabaseProgram); err != nil {
			t.Fatal(err)
		}
	}
	s.crashRound = newCrashRoundOf(t, program, c, rules, judgedDecision)
	s.pass(-30 * 24 * time.Hour) // the times of files are real, so the fast clock must not be ahead of them
	s.gh.Repo(crashRepo).AddLabel("docs", "triage", "later").AddUser("mona").SetPermission("mona", "admin")
	return s
}

// want returns the outcomes of a label that must be counted.
func (s *outcomeRound) want(value string) map[memory.Outcome]int {
	counts := map[memory.Outcome]int{}
	for _, i := range s.issues {
		if value == "bug" {
			counts[i.applied()]++
		} else {
			counts[i.proposed()]++
		}
	}
	return counts
}

// counted returns the outcomes of a label in the record of the repository.
func (s *outcomeRound) counted(t *testing.T, value string) map[memory.Outcome]int {
	t.Helper()
	counts := map[memory.Outcome]int{}
	o := s.recordOf(t, memory.Repository).Outcomes
	if o == nil {
		return counts
	}
	for _, p := range o.Pairs {
		if p.Value != value {
			continue
		}
		for _, y := range []memory.Tally{p.Tally, p.Before} {
			for outcome, n := range map[memory.Outcome]int{
				memory.OutcomeKept: y.Kept, memory.OutcomeUndone: y.Undone, memory.OutcomeAccepted: y.Accepted,
				memory.OutcomeRejected: y.Rejected, memory.OutcomeExpired: y.Expired, memory.OutcomeUnjudged: y.Unjudged,
			} {
				if n > 0 {
					counts[outcome] += n
				}
			}
		}
	}
	return counts
}

// play plays a random story. Issues are opened on two days. People act on them within hours, and on the second
// day the actions of the first are judged at the same time.
func (s *outcomeRound) play(t *testing.T) {
	t.Helper()
	for range 2 {
		n := len(s.issues)
		for range 1 + s.IntN(3) {
			s.open(t, 2, s.random)
		}
		for _, i := range s.Perm(len(s.issues) - n) {
			s.pass(time.Minute)
			s.react(t, s.issues[n+i])
		}
		s.pass(26 * time.Hour)
		s.scheduled(t)
		s.pass(25 * time.Hour)
	}
	for range 3 {
		s.pass(26 * time.Hour)
		s.scheduled(t)
	}
	s.end(t)
}

// end makes two scheduled runs, after which everything is judged.
func (s *outcomeRound) end(t *testing.T) {
	t.Helper()
	for range 2 {
		s.pass(3 * 24 * time.Hour)
		s.gh.Lag(0)
		s.schedule(t)
		s.attempts(t, 0, nil, false)
	}
}

// short plays a story on three issues, of which people keep, undo and do not see the label. The run after the
// undoing, and the first one that judges, are killed at a point.
func (s *outcomeRound) short(t *testing.T, at crashPoint, leave bool) {
	t.Helper()
	next := func() crashPoint { return at }
	for range 3 {
		s.open(t, 0, nil)
	}
	s.pass(time.Hour)
	repo, kept, undone := s.gh.Repo(crashRepo), s.issues[0], s.issues[1]
	repo.LabelAs("mona", kept.number, "triage")
	repo.UnlabelAs("mona", undone.number, "bug")
	kept.there, undone.there, undone.undone = true, true, true
	s.number = undone.number
	s.gh.Lag(maxLag)
	s.deliver(t, "issues", map[string]any{"action": "unlabeled", "label": map[string]any{"name": "bug"}}, "mona")
	s.attempts(t, 1, next, leave)
	s.pass(26 * time.Hour) // the proposals expire
	s.gh.Lag(0)
	s.schedule(t)
	s.attempts(t, 0, nil, false)
	s.pass(24 * time.Hour)
	s.gh.Lag(maxLag)
	s.schedule(t)
	s.attempts(t, 1, next, leave)
	s.end(t)
}

func (s *outcomeRound) open(t *testing.T, most int, next func() crashPoint) {
	t.Helper()
	i := &judgedIssue{number: 101 + len(s.issues)}
	s.issues = append(s.issues, i)
	s.number = i.number
	author := fmt.Sprint("author-", i.number)
	s.gh.Repo(crashRepo).SetPermission(author, "read").AddIssue(githubtest.Issue{Number: i.number, Author: author})
	s.tell("#%d: opened", i.number)
	s.deliver(t, "issues", map[string]any{"action": "opened"}, author)
	s.attempts(t, most, next, false)
	if rec := s.record(t); len(rec.Pending()) != 1 {
		t.Errorf("%s, killed at %v: #%d has %d proposals", s.crashCase, s.at, i.number, len(rec.Pending()))
	}
}

// react lets people act on an issue.
func (s *outcomeRound) react(t *testing.T, i *judgedIssue) {
	t.Helper()
	s.number = i.number
	repo := s.gh.Repo(crashRepo)
	if s.IntN(8) == 0 {
		s.tell("#%d: deleted", i.number)
		repo.DeleteIssue(i.number)
		i.deleted = true
		return
	}
	author := fmt.Sprint("author-", i.number)
	switch s.IntN(6) {
	case 0:
		i.there = true
		repo.LabelAs("mona", i.number, "triage")
		s.changed(t, "labeled", "triage", "mona")
	case 1, 2:
		i.undone, i.there = true, true
		repo.UnlabelAs("mona", i.number, "bug")
		for range s.IntN(2) * 20 { // she changes her mind
			repo.LabelAs("mona", i.number, "bug").UnlabelAs("mona", i.number, "bug")
		}
		s.changed(t, "unlabeled", "bug", "mona")
	case 3:
		i.author = true
		repo.UnlabelAs(author, i.number, "bug")
		s.changed(t, "unlabeled", "bug", author)
	case 4:
		i.bot = true
		repo.UnlabelAs("other[bot]", i.number, "bug")
		s.changed(t, "unlabeled", "bug", "other[bot]")
	}
	switch s.IntN(4) {
	case 0:
		i.rejected, i.there = true, true
		s.answer(t, "reject")
	case 1:
		i.accepted, i.there = true, true
		s.answer(t, "accept")
	case 2:
		i.accepted, i.docsOff, i.there = true, true, true
		s.answer(t, "accept")
		repo.UnlabelAs("mona", i.number, "docs")
		s.changed(t, "unlabeled", "docs", "mona")
	}
}

// changed makes the run after somebody changed a label. It need not come to its end, and a scheduled run may
// happen at the same time.
func (s *outcomeRound) changed(t *testing.T, action, label, who string) {
	t.Helper()
	kind := "User"
	if strings.HasSuffix(who, "[bot]") {
		kind = "Bot"
	}
	var wait func()
	if s.IntN(3) == 0 {
		s.schedule(t)
		wait = s.atOnce(t)
	}
	s.tell("#%d: %s %s by %s", s.number, action, label, who)
	s.deliver(t, "issues", map[string]any{
		"action": action, "label": map[string]any{"name": label},
		"sender": map[string]any{"login": who, "type": kind},
	}, who)
	if !s.attempts(t, 2, s.random, s.IntN(3) == 0) {
		s.left++
		s.tell("killed, and not repeated")
	}
	if wait != nil {
		wait()
	}
}

// answer answers the proposal on the issue.
func (s *outcomeRound) answer(t *testing.T, verb string) {
	t.Helper()
	body := "/foreman " + verb + " 1"
	id := s.gh.Repo(crashRepo).AddComment(s.number, "mona", body)
	s.tell("#%d: mona: %s", s.number, body)
	s.deliver(t, "issue_comment", map[string]any{"action": "created", "comment": s.commentJSON(id, "mona", body)}, "mona")
	s.attempts(t, 2, s.random, false)
}

func (s *outcomeRound) schedule(t *testing.T) {
	t.Helper()
	s.tell("schedule")
	s.deliver(t, "schedule", map[string]any{"schedule": "17 4 * * *"}, "mona")
}

// scheduled makes a scheduled run with kills. It need not come to its end.
func (s *outcomeRound) scheduled(t *testing.T) {
	t.Helper()
	s.schedule(t)
	if !s.attempts(t, 2, s.random, s.IntN(3) == 0) {
		s.left++
		s.tell("killed, and not repeated")
	}
}

// atOnce starts the run of the newest event. The returned function waits for it. It may fail, because the
// answer of GitHub that is lost may be an answer to it.
func (s *outcomeRound) atOnce(t *testing.T) (wait func()) {
	t.Helper()
	s.both++
	run, done := s.crashRun, make(chan error, 1)
	go func() {
		_, err := s.attempt(t, run, 1, nil)
		done <- err
	}()
	return func() {
		if err := <-done; err != nil {
			s.tell("the run at the same time failed: %.300s", err)
		}
	}
}
