//go:build unix && !race

package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/memory/file"
	"github.com/org/foreman-action/store/sqlite"
)

const proposingRules = `version: 1
policy: {allow_close: true, limits: {comment: 3, add_label: 6}}
%srules:
  - id: more
    on: issues.labeled
    when: label("triage")
    then: [add_label: {label: more, suggest: true}]
`

const proposingAgent = `agent: {when: event.action == "opened"}
`

const proposingRule = `  - id: all
    on: issues.opened
    then:
      - add_label: bug
      - add_label: {label: docs, suggest: true}
      - add_labels: {labels: [one, two], confidence: low}
      - comment: {body: "Asked.", suggest: true}
  - id: close
    on: issues.opened
    then:
      - comment: "Closing."
      - close_issue: {reason: not_planned, suggest: true}
`

const proposingDecision = `{"task_id": %q, "decision": "close", "rationale": "", "actions": [
	{"type": "add_label", "label": "bug"}, {"type": "add_label", "label": "docs", "suggest": true},
	{"type": "add_labels", "labels": ["one", "two"], "confidence": "low"}, {"type": "remove_label", "label": "old", "suggest": true},
	{"type": "comment", "body": "Asked. %[2]d"}, {"type": "comment", "body": "Closing. %[2]d"}, {"type": "close_issue", "suggest": true}]}`

// crashProposals plays random stories on an issue: rules or an agent propose, people answer, and others
// try to. It kills runs at random calls, and repeats them, or leaves them. Then it checks that every
// proposal is shown, that nothing happened twice, and that nothing was carried out without a yes.
func crashProposals(t *testing.T, program string) {
	random := rand.New(rand.NewPCG(crashSeed, 1))
	var sum proposalTally
	for round := range *crashRounds {
		s := newProposalRound(t, program, round, random)
		s.play(t)
		sum.add(t, s)
		if sum.lost+sum.doubled+sum.forbidden > 20 {
			t.FailNow()
		}
	}
	t.Logf("%d rounds, %d kills, %d lost answers, %d runs left, %d at once, %d proposals, %d answers, %d carried out: %d lost, %d doubled, %d without a yes",
		*crashRounds, sum.kills, sum.cuts, sum.left, sum.both, sum.proposals, sum.answers, sum.did, sum.lost, sum.doubled, sum.forbidden)
	if sum.kills < *crashRounds/2 || sum.proposals < 2**crashRounds || sum.did == 0 {
		t.Errorf("only %d kills, %d proposals and %d carried out in %d rounds: nothing was tried", sum.kills, sum.proposals, sum.did, *crashRounds)
	}
}

// crashAnswers kills the runs that propose, and those that carry out a tick and a command, at every call
// in turn, before and after the effect of the call. Then it repeats the run, or makes a scheduled one.
func crashAnswers(t *testing.T, program string) {
	for round, c := range proposingCases() {
		for _, leave := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, left %t", c, leave), func(t *testing.T) {
				t.Parallel()
				var sum proposalTally
				for run := range 4 {
					for _, results := range []bool{false, true} {
						if results && c.memory != "artifact" {
							continue
						}
						for nth, killed := 1, true; killed; nth++ {
							for _, after := range []bool{false, true} {
								s := newProposalRound(t, program, round, nil)
								s.gh.Lag(maxLag)
								killed = s.scheduled(t, run, crashPoint{results, nth, after}, leave)
								sum.add(t, s)
							}
						}
					}
				}
				t.Logf("%d kills, %d proposals, %d carried out: %d lost, %d doubled, %d without a yes", sum.kills, sum.proposals, sum.did, sum.lost, sum.doubled, sum.forbidden)
				if sum.kills < 50 {
					t.Errorf("only %d kills: the schedule does not reach every call", sum.kills)
				}
			})
		}
	}
}

// proposingCases are the cases with a memory. Without one nothing is proposed.
func proposingCases() []crashCase {
	return []crashCase{{false, "file"}, {true, "file"}, {false, "artifact"}, {true, "artifact"}}
}

// A proposalTally adds up the results of rounds.
type proposalTally struct {
	kills, cuts, left, both, proposals, answers, did int
	lost, doubled, forbidden                         int
}

func (c *proposalTally) add(t *testing.T, s *proposalRound) {
	t.Helper()
	s.judge(t)
	c.kills, c.cuts, c.left, c.both = c.kills+s.kills, c.cuts+len(s.cut), c.left+s.left, c.both+s.both
	c.proposals, c.answers, c.did = c.proposals+s.record(t).LastProposal, c.answers+s.answers, c.did+len(s.did)
	c.lost, c.doubled, c.forbidden = c.lost+s.lost, c.doubled+s.doubled, c.forbidden+s.forbidden
	s.close()
}

// A proposalRound is a story on one issue.
type proposalRound struct {
	*crashRound
	*rand.Rand

	yes      map[string]bool // what a person with the permission accepted, by effect: a label, a text, "close"
	did      map[string]bool // what the program carried out of it
	checked  int             // calls that were checked
	repeated map[string]int  // writes by their effect
	story    []string
	expects  int // proposals that the first run makes
	runs     int

	left, both, answers      int
	lost, doubled, forbidden int
}

func newProposalRound(t *testing.T, program string, round int, random *rand.Rand) *proposalRound {
	t.Helper()
	c := proposingCases()[round%len(proposingCases())]
	s := &proposalRound{Rand: random, yes: map[string]bool{}, did: map[string]bool{}, repeated: map[string]int{}, runs: 99}
	rules := fmt.Sprintf(proposingRules, "") + proposingRule
	if c.agent {
		rules = fmt.Sprintf(proposingRules, proposingAgent)
	}
	s.crashRound = newCrashRoundOf(t, program, c, rules, proposingDecision)
	s.gh.Repo(crashRepo).AddLabel("docs", "more", "triage").AddUser("mona", "tess", "rita", "octocat").
		SetPermission("mona", "admin").SetPermission("tess", "triage").SetPermission("rita", "read").SetPermission("octocat", "read")
	s.expects = 4
	if c.agent {
		s.expects = 3
	}
	return s
}

// deliver makes the next run's event.
func (s *proposalRound) deliver(t *testing.T, name string, more map[string]any, sender string) {
	t.Helper()
	s.gh.ClearFaults()
	s.results.ClearFaults()
	s.runs++
	s.event, s.id = name, s.runs
	payload := map[string]any{
		"repository": map[string]any{"full_name": crashRepo, "default_branch": "main"},
		"sender":     map[string]any{"login": sender, "type": "User"},
	}
	if name != "schedule" {
		payload["issue"] = json.RawMessage(s.issue(t))
	}
	for k, v := range more {
		payload[k] = v
	}
	data, err := json.Marshal(payload)
	if err != nil {
		t.Fatal(err)
	}
	s.file = fmt.Sprintf("event%d.json", s.runs)
	if err := os.WriteFile(filepath.Join(s.dir, s.file), data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// pass lets time pass on both clocks.
func (s *proposalRound) pass(d time.Duration) {
	s.clock.epoch = s.clock.epoch.Add(-d / (crashSpeed - 1))
}

// comment returns the comment with proposals.
func (s *proposalRound) comment() (c githubtest.Comment, n int) {
	for _, other := range s.gh.Issue(crashRepo, 7).Comments {
		if strings.Contains(other.Body, " key=foreman-suggestions ") && other.Author == "github-actions[bot]" {
			c = other
			n++
		}
	}
	return c, n
}

var proposalLine = regexp.MustCompile(`(?m)^- \[([ x])\] (\*\*([0-9]+)\*\* (.*) <!-- foreman:p [0-9]+ [0-9a-f]{16} -->)$`)

// effects returns what a proposal of the record carries out.
func effects(p memory.Proposal) []string {
	var list []string
	for _, a := range p.Actions() {
		values := memory.NewAction(0, a).Values
		switch a.Type {
		case "comment":
			body, _, _ := a.Text("body")
			list = append(list, body)
		case "close_issue":
			list = append(list, "close")
		case "remove_label":
			list = append(list, "-"+values[0])
		default:
			list = append(list, values...)
		}
	}
	return list
}

// record returns the record of the issue.
func (s *proposalRound) record(t *testing.T) memory.Record {
	t.Helper()
	return s.recordOf(t, s.number)
}

// recordOf returns the record of an issue, or that of the repository.
func (r *crashRound) recordOf(t *testing.T, issue int) memory.Record {
	t.Helper()
	switch r.memory {
	case "file":
		store, err := file.Open(filepath.Join(r.dir, ".foreman/memory"))
		if err != nil {
			t.Fatal(err)
		}
		return loaded(t, store, issue)
	case crashDatabase:
		store, err := sqlite.Open(t.Context(), filepath.Join(r.dir, crashDatabase), sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		return loaded(t, store.Memory(), issue)
	}
	var newest memory.Record
	for _, a := range r.results.Artifacts() {
		if a.Name != fmt.Sprint("foreman-memory-i", issue) {
			continue
		}
		z, err := zip.NewReader(bytes.NewReader(a.Zip), int64(len(a.Zip)))
		if err != nil {
			t.Fatal(err)
		}
		f, err := z.File[0].Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(f)
		if err != nil {
			t.Fatal(err)
		}
		if newest, err = memory.Decode(data, crashRepo, issue); err != nil { // the newest is the last
			t.Fatal(err)
		}
	}
	return newest
}

func loaded(t *testing.T, s memory.Store, issue int) memory.Record {
	t.Helper()
	rec, err := s.Load(t.Context(), crashRepo, issue)
	if err != nil && !errors.Is(err, memory.ErrNotFound) {
		t.Fatal(err)
	}
	return rec
}

func (s *proposalRound) tell(format string, args ...any) {
	s.story = append(s.story, fmt.Sprintf(format, args...))
}

// carryOn makes the run of the newest event, with kills. It reports whether the run came to its end.
func (s *proposalRound) carryOn(t *testing.T) (ended bool) {
	t.Helper()
	ended = s.attempts(t, 2, s.random, s.IntN(5) == 0)
	if !ended {
		s.left++
		s.tell("killed, and not repeated")
	}
	s.check(t)
	return ended
}

// random returns a random point of a kill, and lets GitHub be late and lose an answer.
func (s *proposalRound) random() crashPoint {
	s.gh.Lag(time.Duration(s.IntN(int(maxLag/time.Second)+1)) * time.Second)
	if s.IntN(3) == 0 {
		s.gh.Fault(githubtest.Fault{Method: []string{"POST", "PATCH"}[s.IntN(2)], Nth: 1 + s.IntN(3), CutAfter: true, Reached: s.cut})
	}
	p := crashPoint{results: s.memory == "artifact" && s.IntN(3) == 0, nth: 1 + s.IntN(12), after: s.IntN(2) == 0}
	if p.results {
		p.nth = 1 + s.IntN(9)
	}
	return p
}

// play plays a random story.
func (s *proposalRound) play(t *testing.T) {
	t.Helper()
	s.deliver(t, "issues", map[string]any{"action": "opened"}, "octocat")
	s.tell("opened")
	if s.carryOn(t) {
		s.expect(t, s.expects)
	}
	for range 2 + s.IntN(4) {
		s.pass(time.Minute)
		s.step(t)
	}
	s.pass(time.Hour)
	s.end(t)
}

// end makes a last scheduled run.
func (s *proposalRound) end(t *testing.T) {
	t.Helper()
	s.deliver(t, "schedule", map[string]any{"schedule": "17 4 * * *"}, "mona")
	s.tell("schedule")
	s.gh.Lag(0)
	s.attempts(t, 0, nil, false)
	s.check(t)
	s.visible(t)
}

// expect checks that a run proposed.
func (s *proposalRound) expect(t *testing.T, n int) {
	t.Helper()
	if got := s.record(t).LastProposal; got < n {
		s.wrong(t, &s.lost, "%d proposals were made, want %d", got, n)
	}
	s.visible(t)
}

// step lets somebody do something, and makes its run.
func (s *proposalRound) step(t *testing.T) {
	t.Helper()
	repo := s.gh.Repo(crashRepo)
	rec := s.record(t)
	numbers := func() []int {
		var list []int
		for _, p := range rec.Pending() {
			if s.IntN(2) == 0 {
				list = append(list, p.Number)
			}
		}
		return list
	}
	switch s.IntN(10) {
	case 0, 1, 2:
		who := []string{"mona", "mona", "mona", "tess", "rita"}[s.IntN(5)]
		s.tick(t, who, numbers(), s.IntN(6) == 0, s.IntN(8) == 0)
	case 3, 4:
		who := []string{"mona", "mona", "tess", "rita", "octocat"}[s.IntN(5)]
		verb := []string{"accept", "accept", "reject"}[s.IntN(3)]
		words := "all"
		if list := numbers(); s.IntN(3) > 0 && len(list) > 0 {
			words = strings.Trim(fmt.Sprint(list), "[]")
		}
		s.command(t, who, verb, words)
	case 5:
		label := []string{"docs", "one", "more"}[s.IntN(3)]
		s.tell("mona labels %s", label)
		repo.LabelAs("mona", 7, label)
		s.deliver(t, "issues", map[string]any{"action": "labeled", "label": map[string]any{"name": label}}, "mona")
		s.carryOn(t)
	case 6:
		s.tell("mona labels triage")
		repo.LabelAs("mona", 7, "triage")
		s.deliver(t, "issues", map[string]any{"action": "labeled", "label": map[string]any{"name": "triage"}}, "mona")
		if s.carryOn(t) {
			s.visible(t)
		}
	case 7:
		if s.IntN(3) > 0 {
			s.stranger(t)
			return
		}
		verb := "closed"
		if s.gh.Issue(crashRepo, 7).State == "closed" {
			verb = "reopened"
			repo.ReopenAs("mona", 7)
		} else {
			repo.CloseAs("mona", 7, "completed")
		}
		s.tell("mona %s", verb)
		s.deliver(t, "issues", map[string]any{"action": verb}, "mona")
		if s.carryOn(t) {
			s.visible(t)
		}
	case 8:
		s.pass(time.Hour)
		s.deliver(t, "schedule", map[string]any{"schedule": "17 4 * * *"}, "mona")
		s.tell("schedule")
		if s.carryOn(t) {
			s.visible(t)
		}
	case 9:
		s.atOnce(t, rec)
	}
}

// stranger edits a comment of her own.
func (s *proposalRound) stranger(t *testing.T) {
	t.Helper()
	c, _ := s.comment()
	id := s.gh.Repo(crashRepo).AddComment(7, "rita", c.Body)
	s.tell("rita ticks a copy")
	s.deliver(t, "issue_comment", map[string]any{
		"action": "edited", "comment": s.commentJSON(id, "rita", strings.ReplaceAll(c.Body, "- [ ]", "- [x]")),
		"changes": map[string]any{"body": map[string]any{"from": c.Body}},
	}, "rita")
	s.carryOn(t)
}

func (s *proposalRound) commentJSON(id int64, author, body string) map[string]any {
	kind := "User"
	if strings.HasSuffix(author, "[bot]") {
		kind = "Bot"
	}
	now := s.clock.now().UTC().Truncate(time.Second)
	return map[string]any{"id": id, "body": body, "user": map[string]any{"login": author, "type": kind}, "created_at": now, "updated_at": now}
}

// ticked makes the event of ticked boxes, and returns the proposals that are accepted by it.
func (s *proposalRound) ticked(t *testing.T, who string, numbers []int, forged bool) []memory.Proposal {
	t.Helper()
	c, n := s.comment()
	if n == 0 || len(numbers) == 0 {
		return nil
	}
	rec := s.record(t)
	if forged { // the text is changed before, and no run sees it
		c.Body = strings.Replace(c.Body, "`docs`", "`older`", 1)
		forged = strings.Contains(c.Body, "`older`")
	}
	after := c.Body
	var accepted []memory.Proposal
	for _, number := range numbers {
		old, ticked := fmt.Sprintf("- [ ] **%d** ", number), fmt.Sprintf("- [x] **%d** ", number)
		if p, ok := rec.Proposal(number); ok && p.State == memory.Pending && strings.Contains(after, old) && rec.ProposalComment == c.ID && who == "mona" && !forged {
			accepted = append(accepted, p)
		}
		after = strings.Replace(after, old, ticked, 1)
	}
	s.gh.Repo(crashRepo).EditComment(c.ID, after)
	s.deliver(t, "issue_comment", map[string]any{
		"action": "edited", "comment": s.commentJSON(c.ID, "github-actions[bot]", after),
		"changes": map[string]any{"body": map[string]any{"from": c.Body}},
	}, who)
	return accepted
}

// accept notes a yes.
func (s *proposalRound) accept(list []memory.Proposal) {
	for _, p := range list {
		for _, e := range effects(p) {
			s.yes[e] = true
		}
	}
	s.answers += len(list)
}

// tick ticks boxes. Of a lost tick no run is made.
func (s *proposalRound) tick(t *testing.T, who string, numbers []int, forged, lost bool) {
	t.Helper()
	accepted := s.ticked(t, who, numbers, forged)
	s.tell("%s ticks %v, forged %t, lost %t", who, numbers, forged, lost)
	if _, n := s.comment(); n == 0 || len(numbers) == 0 || lost {
		return
	}
	s.accept(accepted)
	open := s.gh.Issue(crashRepo, 7).State == "open"
	if s.carryOn(t) {
		s.carriedOut(t, accepted, open)
		s.visible(t)
	}
}

// commanded makes the event of a command, and returns the proposals that are answered by it.
func (s *proposalRound) commanded(t *testing.T, who, verb, words string) []memory.Proposal {
	t.Helper()
	body := "/foreman " + verb + " " + words
	id := s.gh.Repo(crashRepo).AddComment(7, who, body)
	var list []memory.Proposal
	rec := s.record(t)
	for _, p := range rec.Pending() {
		named := words == "all" || slices.Contains(strings.Fields(words), fmt.Sprint(p.Number))
		label := !slices.ContainsFunc(effects(p), func(e string) bool { return strings.Contains(e, ".") })
		if named && (who == "mona" || who == "tess" && label) {
			list = append(list, p)
		}
	}
	s.deliver(t, "issue_comment", map[string]any{"action": "created", "comment": s.commentJSON(id, who, body)}, who)
	return list
}

func (s *proposalRound) command(t *testing.T, who, verb, words string) {
	t.Helper()
	list := s.commanded(t, who, verb, words)
	s.tell("%s: %s %s", who, verb, words)
	if verb == "accept" {
		s.accept(list)
	}
	open := s.gh.Issue(crashRepo, 7).State == "open"
	if !s.carryOn(t) {
		return
	}
	if verb == "accept" {
		s.carriedOut(t, list, open)
	} else {
		rec := s.record(t)
		for _, p := range list {
			if now, ok := rec.Proposal(p.Number); ok && now.State == memory.Pending {
				s.wrong(t, &s.lost, "the rejected proposal %d waits", p.Number)
			}
		}
	}
	if len(list) > 0 {
		s.visible(t)
	}
}

// atOnce makes a scheduled run while a run of the issue is killed and repeated.
func (s *proposalRound) atOnce(t *testing.T, rec memory.Record) {
	t.Helper()
	var numbers []int
	for _, p := range rec.Pending() {
		numbers = append(numbers, p.Number)
	}
	if len(numbers) == 0 {
		return
	}
	s.both++
	s.deliver(t, "schedule", map[string]any{"schedule": "17 4 * * *"}, "mona")
	scheduled := s.crashRun
	s.tell("at once: schedule, and mona accepts %v", numbers[:1])
	list := s.commanded(t, "mona", "accept", fmt.Sprint(numbers[0]))
	s.accept(list)
	open := s.gh.Issue(crashRepo, 7).State == "open"
	done := make(chan error, 1)
	go func() {
		_, err := s.attempt(t, scheduled, 1, nil)
		done <- err
	}()
	ended := s.carryOn(t)
	if err := <-done; err != nil && ended {
		s.tell("the scheduled run: %v", err) // for example, because GitHub's answer was lost
	}
	s.check(t)
	if ended {
		s.carriedOut(t, list, open)
	}
}

// carriedOut checks that accepted proposals were carried out.
func (s *proposalRound) carriedOut(t *testing.T, list []memory.Proposal, open bool) {
	t.Helper()
	rec, issue := s.record(t), s.gh.Issue(crashRepo, 7)
	for _, p := range list {
		now, ok := rec.Proposal(p.Number)
		switch {
		case !ok || now.State == memory.Pending:
			s.wrong(t, &s.lost, "the accepted proposal %d is %q", p.Number, now.State)
		case now.State == memory.Accepted || now.State == memory.Overtaken && open:
			for _, e := range effects(now) {
				name, removes := strings.CutPrefix(e, "-")
				there := s.repeated[e] > 0 || slices.Contains(issue.Labels, e) || removes && !slices.Contains(issue.Labels, name) ||
					e == "close" && issue.State == "closed"
				if !there {
					s.wrong(t, &s.lost, "%q of the proposal %d, which is %s, was not carried out: %s", e, p.Number, now.State, now.Reason)
				}
			}
		}
	}
}

// visible checks that the comment shows all proposals that wait, each once.
func (s *proposalRound) visible(t *testing.T) {
	t.Helper()
	rec := s.record(t)
	c, n := s.comment()
	if n > 1 {
		s.wrong(t, &s.doubled, "%d comments with proposals", n)
	}
	shown := map[string]int{}
	for _, m := range proposalLine.FindAllStringSubmatch(c.Body, -1) {
		shown[m[3]]++
	}
	seen := map[string]bool{}
	for _, p := range rec.Pending() {
		if shown[fmt.Sprint(p.Number)] != 1 || rec.ProposalComment != c.ID {
			s.wrong(t, &s.lost, "the proposal %d waits, and is shown %d times; the comment is %d, in the record %d", p.Number, shown[fmt.Sprint(p.Number)], c.ID, rec.ProposalComment)
		}
		for _, e := range effects(p) {
			if seen[e] {
				s.wrong(t, &s.doubled, "%q is proposed twice", e)
			}
			seen[e] = true
		}
	}
}

// check compares the new writes with the answers.
func (s *proposalRound) check(t *testing.T) {
	t.Helper()
	calls := s.gh.Calls()
	for _, c := range calls[s.checked:] {
		if c.Method == http.MethodGet || c.Status == 0 || c.Status >= 300 {
			continue
		}
		for _, e := range written(c) {
			s.repeated[e]++
			switch {
			case e == "bug":
			case !s.yes[e]:
				s.wrong(t, &s.forbidden, "%q was carried out: %s %s", e, c, c.Body)
			default:
				s.did[e] = true
			}
			if s.repeated[e] > 1 {
				s.wrong(t, &s.doubled, "%q was carried out again: %s", e, c)
			}
		}
	}
	s.checked = len(calls)
}

// written returns the effects of a write on the issue. Reactions, and the comment with the proposals,
// have none.
func written(c githubtest.Call) []string {
	var in struct {
		Body, State string
		Labels      []string
		Query       string
	}
	_ = json.Unmarshal([]byte(c.Body), &in) // of another form: no effect that is known
	switch {
	case strings.HasSuffix(c.Path, "/issues/7/labels"):
		return in.Labels
	case c.Method == http.MethodDelete && strings.Contains(c.Path, "/issues/7/labels/"):
		return []string{"-" + c.Path[strings.LastIndex(c.Path, "/")+1:]}
	case c.Path == "/graphql":
		return []string{"-old"} // only that label is removed
	case strings.HasSuffix(c.Path, "/issues/7/comments") && !strings.Contains(in.Body, " key=foreman-suggestions "):
		_, text, _ := strings.Cut(in.Body, " -->\n\n")
		return []string{text}
	case strings.HasSuffix(c.Path, "/issues/7") && in.State == "closed":
		return []string{"close"}
	case strings.HasSuffix(c.Path, "/issues/7"):
		return []string{"another edit"}
	}
	return nil
}

func (s *proposalRound) wrong(t *testing.T, count *int, format string, args ...any) {
	t.Helper()
	*count++
	t.Errorf("%s, killed at %v: %s\n%s\n%s", s.crashCase, s.at, fmt.Sprintf(format, args...), strings.Join(s.story, "\n"), strings.Join(s.gh.Log(), "\n"))
}

// judge checks the issue at the end.
func (s *proposalRound) judge(t *testing.T) {
	t.Helper()
	s.check(t)
	s.visible(t)
}

// scheduled plays a short story, and kills its run with that index at a point. If leave is set, the run is
// not repeated, and a scheduled run is next. It reports whether the run reached the point.
func (s *proposalRound) scheduled(t *testing.T, run int, at crashPoint, leave bool) (killed bool) {
	t.Helper()
	attempts := func(i int) (ended bool) {
		most := 0
		if i == run {
			most = 1
		}
		before := s.kills
		ended = s.attempts(t, most, func() crashPoint { return at }, leave)
		killed = killed || s.kills > before
		s.check(t)
		s.pass(time.Minute)
		return ended
	}
	s.deliver(t, "issues", map[string]any{"action": "opened"}, "octocat")
	if !attempts(0) {
		s.pass(time.Hour)
		s.end(t)
		return killed
	}
	s.expect(t, s.expects)
	s.gh.Repo(crashRepo).LabelAs("mona", 7, "triage")
	s.deliver(t, "issues", map[string]any{"action": "labeled", "label": map[string]any{"name": "triage"}}, "mona")
	if !attempts(1) {
		s.pass(time.Hour)
		s.end(t)
	} else {
		s.expect(t, s.expects+1)
	}
	list := s.ticked(t, "mona", []int{1, 2}, false)
	s.accept(list)
	if attempts(2) {
		s.carriedOut(t, list, true)
	} else {
		s.pass(time.Hour)
		s.end(t)
	}
	list = s.commanded(t, "mona", "accept", "all")
	s.accept(list)
	if attempts(3) {
		s.carriedOut(t, list, true)
	}
	s.pass(time.Hour)
	s.end(t)
	return killed
}
