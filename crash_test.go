//go:build unix && !race

// These tests start many processes, so they run without the race detector.

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/actions/results/resultstest"
	"github.com/org/foreman-action/internal/agenttest"
	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/memory/file"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/triage"
)

var crashRounds = flag.Int("crash.rounds", 12, "how often the program is killed and run again")

const (
	crashRepo = "octo-org/widgets"
	crashSeed = 20_260_410
)

// A crashCase is a combination of who decides and where the memory is stored.
type crashCase struct {
	agent  bool   // an agent decides, differently each time; else the rules do
	memory string // the input memory: "off", "file" or "artifact"
}

func (c crashCase) String() string {
	if c.agent {
		return "agent, memory " + c.memory
	}
	return "rules, memory " + c.memory
}

func crashCases() []crashCase {
	return []crashCase{{false, "off"}, {true, "off"}, {false, "file"}, {true, "file"}, {true, "artifact"}}
}

// TestCrash kills the program with SIGKILL. It repeats the workflow run at once until an attempt
// succeeds, and checks that every write happened exactly once. GitHub shows writes up to 10 s late.
func TestCrash(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath(crashProgram)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]func(t *testing.T, program string){
		"random": crashRandom, "schedule": crashSchedule, "command": crashCommand, "proposals": crashProposals, "answers": crashAnswers, "outcomes": crashOutcomes, "judging": crashJudging,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, program)
		})
	}
}

// crashRandom kills the program at a random call, before or after the service handled the call. In
// some attempts GitHub's answer to another call is lost.
func crashRandom(t *testing.T, program string) {
	random := rand.New(rand.NewPCG(crashSeed, 0))
	var sum crashTally
	for round := range *crashRounds {
		r := newCrashRound(t, program, crashCases()[round%len(crashCases())])
		r.run(t, maxCrashes, func() crashPoint {
			r.gh.Lag(time.Duration(random.IntN(int(maxLag/time.Second)+1)) * time.Second)
			if random.IntN(2) == 0 {
				r.gh.Fault(githubtest.Fault{Method: []string{"POST", "PATCH"}[random.IntN(2)], Nth: 1 + random.IntN(5), CutAfter: true, Reached: r.cut})
			}
			p := crashPoint{results: r.memory == "artifact" && random.IntN(3) == 0, nth: 1 + random.IntN(14), after: random.IntN(2) == 0}
			if p.results {
				p.nth = 1 + random.IntN(7)
			}
			return p
		})
		sum.add(t, r)
	}
	t.Logf("%d rounds, %d kills, %d lost answers: %d lost, %d doubled", *crashRounds, sum.kills, sum.cuts, sum.lost, sum.doubled)
	if sum.kills < *crashRounds/2 {
		t.Errorf("only %d kills in %d rounds: nothing was tried", sum.kills, *crashRounds)
	}
}

// crashSchedule kills the first attempt at every call in turn, before and after the effect of
// the call. So it interrupts the run between each two entries of the journal.
func crashSchedule(t *testing.T, program string) {
	for _, c := range crashCases() {
		t.Run(c.String(), func(t *testing.T) {
			t.Parallel()
			var sum crashTally
			for _, results := range []bool{false, true} {
				for nth, killed := 1, true; killed; nth++ {
					for _, after := range []bool{false, true} {
						r := newCrashRound(t, program, c)
						r.gh.Lag(maxLag)
						r.run(t, 1, func() crashPoint { return crashPoint{results, nth, after} })
						killed = r.kills > 0
						sum.add(t, r)
					}
				}
			}
			t.Logf("%d kills: %d lost, %d doubled", sum.kills, sum.lost, sum.doubled)
			if sum.kills < 16 {
				t.Errorf("only %d kills: the schedule does not reach every call", sum.kills)
			}
		})
	}
}

// A crashTally adds up the results of rounds.
type crashTally struct{ kills, cuts, lost, doubled int }

func (c *crashTally) add(t *testing.T, r *crashRound) {
	t.Helper()
	lost, doubled := r.judge(t)
	if lost+doubled > 0 {
		t.Errorf("%s, killed at %v: %d lost, %d doubled\n%s", r.crashCase, r.at, lost, doubled, strings.Join(r.gh.Log(), "\n"))
	}
	c.kills, c.cuts, c.lost, c.doubled = c.kills+r.kills, c.cuts+len(r.cut), c.lost+lost, c.doubled+doubled
	r.close()
}

// A crashRound is one workflow run with its own fake services.
type crashRound struct {
	crashCase
	program string
	dir     string
	number  int // of the issue
	gh      *githubtest.Server
	results *resultstest.Server
	api     *httptest.Server // serves gh and results under one GITHUB_API_URL
	url     string           // address of the agent; empty if rules decide
	asked   atomic.Int64     // how often the agent was asked
	crashRun
	clock fastClock

	kills int
	cut   chan struct{} // gets a value for each lost answer of GitHub
	at    []crashPoint
}

// A crashRun is a workflow run.
type crashRun struct {
	event string // its name
	file  string // with the event, in the folder of the round
	id    int
}

// A crashPoint is a call at which the program is killed, before or after the service handles the
// call.
type crashPoint struct {
	results bool // whether nth counts the calls of the memory's service instead of GitHub's
	nth     int
	after   bool
}

// maxLag is the longest time until GitHub shows a write: the time after which it ends a request.
const maxLag = 10 * time.Second

// maxCrashes is the maximum number of killed attempts in one random round.
const maxCrashes = 4

const crashRules = `version: 1
policy: {allow_close: true, limits: {comment: 2}}
`

const crashRule = `rules:
  - id: all
    on: issues.opened
    then:
      - add_label: bug
      - comment: "First."
      - add_labels: [one, two]
      - update_comment: {body: Sticky., key: state}
      - comment: "Second."
      - remove_label: old
      - remove_label: older
      - close_issue: not_planned
`

const crashDecision = `{"task_id": %q, "decision": "close", "rationale": "", "actions": [
	{"type": "add_label", "label": "bug"}, {"type": "comment", "body": "First. %[2]d"},
	{"type": "add_labels", "labels": ["one", "two"]}, {"type": "update_comment", "body": "Sticky. %[2]d", "key": "state"},
	{"type": "comment", "body": "Second. %[2]d"}, {"type": "remove_label", "label": "old"},
	{"type": "remove_label", "label": "older"}, {"type": "close_issue"}]}`

const crashEvent = `{"action": "opened", "issue": %s,
	"repository": {"full_name": "octo-org/widgets", "default_branch": "main"}, "sender": {"login": "mona"}}`

func newCrashRound(t *testing.T, program string, c crashCase) *crashRound {
	t.Helper()
	rules := crashRules
	if !c.agent {
		rules += crashRule
	}
	return newCrashRoundOf(t, program, c, rules, crashDecision)
}

// newCrashRoundOf returns a round with rules. decision is the answer of the agent, with the id of the task
// and the number of the answer.
func newCrashRoundOf(t *testing.T, program string, c crashCase, rules, decision string) *crashRound {
	t.Helper()
	r := &crashRound{crashCase: c, program: program, dir: t.TempDir(), number: 7, crashRun: crashRun{"issues", "event.json", 99}, clock: fastClock{time.Now().Round(0)}, cut: make(chan struct{}, 100)}
	var err error
	if r.gh, err = githubtest.Start(githubtest.Config{SkipValidation: true, Now: func() time.Time { return r.clock.now() }}); err != nil {
		t.Fatal(err)
	}
	if r.results, err = resultstest.Start(resultstest.Config{Repo: crashRepo, Lenient: true, Now: func() time.Time { return r.clock.now() }}); err != nil {
		t.Fatal(err)
	}
	r.api = r.results.Front(r.gh)
	if c.agent {
		r.url = agenttest.New(t, func(task protocol.TaskMessage) agenttest.Answer {
			n := r.asked.Add(1)
			return agenttest.Raw(fmt.Sprintf(decision, task.TaskID, n))
		}).URL
	}
	r.gh.Repo(crashRepo).AddLabel("bug", "one", "two", "old", "older").
		AddIssue(githubtest.Issue{Number: 7, Author: "mona", Labels: []string{"old", "older"}})
	event := fmt.Sprintf(crashEvent, r.issue(t))
	for name, text := range map[string]string{"event.json": event, ".github/foreman.yml": rules} {
		path := filepath.Join(r.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// issue returns the JSON of the issue, as in an event from GitHub.
func (r *crashRound) issue(t *testing.T) []byte {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf("%s/repos/%s/issues/%d", r.gh.URL, crashRepo, r.number), nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%d %s, %v", resp.StatusCode, raw, err)
	}
	return raw
}

// run starts attempts until one succeeds. The first attempts, at most the number most, are killed
// at the points that next returns.
func (r *crashRound) run(t *testing.T, most int, next func() crashPoint) {
	t.Helper()
	r.attempts(t, most, next, false)
}

// attempts is run. If leave is set, it starts no further attempt after a kill; ended is false then.
func (r *crashRound) attempts(t *testing.T, most int, next func() crashPoint, leave bool) (ended bool) {
	t.Helper()
	kills, armed := 0, 0
	for attempt := 1; ; attempt++ {
		var reached chan struct{}
		r.gh.ClearFaults()
		r.results.ClearFaults()
		if kills < most && armed < 3*most {
			reached = make(chan struct{})
			armed++
			r.arm(next(), reached)
		}
		killed, err := r.attempt(t, r.crashRun, attempt, reached)
		switch {
		case killed && leave:
			r.kills++
			return false
		case killed:
			kills++
			r.kills++
		case err != nil:
			t.Fatalf("%s, killed at %v, attempt %d: %v", r.crashCase, r.at, attempt, err)
		default:
			return true
		}
	}
}

func (r *crashRound) arm(p crashPoint, reached chan struct{}) {
	r.at = append(r.at, p)
	if p.results {
		r.results.Fault(resultstest.Fault{Nth: p.nth, Times: 1, CutBefore: !p.after, CutAfter: p.after, Reached: reached})
		return
	}
	r.gh.Fault(githubtest.Fault{Nth: p.nth, Times: 1, CutBefore: !p.after, CutAfter: p.after, Reached: reached})
}

// attempt runs the program once, and kills it when reached is closed.
func (r *crashRound) attempt(t *testing.T, run crashRun, attempt int, reached <-chan struct{}) (killed bool, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	var log strings.Builder
	cmd := exec.CommandContext(ctx, r.program, "action")
	cmd.Stdout, cmd.Stderr = &log, &log
	cmd.Env = []string{
		"GITHUB_ACTIONS=true", "GITHUB_EVENT_NAME=" + run.event, "GITHUB_EVENT_PATH=" + filepath.Join(r.dir, run.file),
		"GITHUB_REF=refs/heads/" + r.results.Branch(), "GITHUB_WORKSPACE=" + r.dir, "GITHUB_REPOSITORY=" + crashRepo, "GITHUB_API_URL=" + r.api.URL, "INPUT_TOKEN=t0ken",
		"GITHUB_REPOSITORY_ID=" + fmt.Sprint(r.results.RepositoryID()), "ACTIONS_RESULTS_URL=" + r.results.URL,
		"ACTIONS_RUNTIME_TOKEN=" + r.results.RuntimeToken(resultstest.Job{Run: int64(run.id)}), "INPUT_MEMORY=" + r.memory, "INPUT_AGENT-URL=" + r.url,
		fmt.Sprintf("%s=%d", crashEpoch, r.clock.epoch.UnixNano()), fmt.Sprintf("GITHUB_RUN_ID=%d", run.id), fmt.Sprintf("GITHUB_RUN_ATTEMPT=%d", attempt), "NO_PROXY=127.0.0.1",
	}
	if err := cmd.Start(); err != nil {
		return false, err
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case <-reached: // never for a nil channel, so the attempt is not killed
		if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return false, err
		}
		<-done
		return true, nil
	case err := <-done:
		if err != nil {
			err = fmt.Errorf("%w\n%s", err, log.String())
		}
		return false, err
	}
}

// judge counts missing and repeated writes on the issue.
func (r *crashRound) judge(t *testing.T) (lost, doubled int) {
	t.Helper()
	i := r.gh.Issue(crashRepo, 7)
	for _, label := range []string{"bug", "one", "two"} {
		if !slices.Contains(i.Labels, label) {
			lost++
		}
	}
	for _, label := range []string{"old", "older"} {
		if slices.Contains(i.Labels, label) {
			lost++
		}
	}
	if i.State != "closed" {
		lost++
	}
	said := map[string]bool{}
	for _, text := range []string{"First.", "Sticky.", "Second."} {
		n := 0
		for _, c := range i.Comments {
			_, body, _ := strings.Cut(c.Body, " -->\n\n")
			if rest, ok := strings.CutPrefix(body, text); ok {
				n++
				line, _, _ := strings.Cut(rest, "\n")
				said[line] = true
			}
		}
		switch {
		case n == 0:
			lost++
		case n > 1:
			doubled += n - 1
		}
	}
	r.checkRemoval(t)
	r.checkMemory(t, said)
	return lost, doubled + r.repeated()
}

// checkRemoval checks that one call removed all labels.
func (r *crashRound) checkRemoval(t *testing.T) {
	t.Helper()
	for _, c := range r.gh.Calls() {
		if c.Path == "/graphql" {
			return
		}
	}
	t.Errorf("%s, killed at %v: labels were not removed together\n%s", r.crashCase, r.at, strings.Join(r.gh.Log(), "\n"))
}

// checkMemory checks that something was stored. For the file store it also checks that the writes
// come from a single decision, and that all actions are stored as done.
func (r *crashRound) checkMemory(t *testing.T, said map[string]bool) {
	t.Helper()
	if r.memory == "artifact" && len(r.results.Artifacts()) == 0 {
		t.Errorf("%s, killed at %v: nothing is remembered", r.crashCase, r.at)
	}
	if r.memory != "file" {
		return
	}
	if len(said) > 1 {
		t.Errorf("%s, killed at %v: parts of several decisions were carried out: %v", r.crashCase, r.at, said)
	}
	store, err := file.Open(filepath.Join(r.dir, ".foreman/memory"))
	if err != nil {
		t.Fatal(err)
	}
	rec, err := store.Load(t.Context(), crashRepo, 7)
	if err != nil || len(rec.Tasks) != 1 {
		t.Fatalf("%s, killed at %v: the record is %+v, %v", r.crashCase, r.at, rec, err)
	}
	done := 0
	for _, a := range rec.Tasks[0].Actions {
		if a.Result == triage.Done {
			done++
		}
	}
	if done != 8 {
		t.Errorf("%s, killed at %v: %d of 8 actions are remembered as done", r.crashCase, r.at, done)
	}
}

// secret matches the secret of a run in a marker. Each run has another one.
var secret = regexp.MustCompile(` run=\w+`)

// repeated counts successful writes that repeat an earlier one. Updates of the sticky comment do
// not count, because repeating them does no harm.
func (r *crashRound) repeated() int {
	seen := map[string]int{}
	n := 0
	for _, c := range r.gh.Calls() {
		if c.Method == "GET" || c.Status == 0 || c.Status >= 300 || strings.Contains(c.Body, "Sticky.") {
			continue
		}
		what := c.Method + " " + c.Path + " " + secret.ReplaceAllString(c.Body, "")
		if seen[what]++; seen[what] > 1 {
			n++
		}
	}
	return n
}

func (r *crashRound) close() {
	r.api.Close()
	r.results.Close()
	r.gh.Close()
}
