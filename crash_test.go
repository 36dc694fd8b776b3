package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/github/githubtest"
)

var crashRounds = flag.Int("crash.rounds", 12, "how often the program is killed and run again")

const (
	crashRepo = "octo-org/widgets"
	crashSeed = 20_260_410
)

// TestCrash kills the program with SIGKILL at a random call, before or after GitHub
// did what was asked, runs the same workflow run again until an attempt gets through,
// and looks whether every write happened, and happened once.
func TestCrash(t *testing.T) {
	t.Parallel()
	program := build(t)
	random := rand.New(rand.NewPCG(crashSeed, 0))
	kills, lost, doubled := 0, 0, 0
	for round := range *crashRounds {
		r := newCrashRound(t, program, round)
		kills += r.run(t, random)
		l, d := r.judge()
		if l+d > 0 {
			t.Errorf("round %d: %d lost, %d doubled\n%s", round, l, d, strings.Join(r.gh.Log(), "\n"))
		}
		lost, doubled = lost+l, doubled+d
		r.gh.Close()
	}
	t.Logf("%d rounds, %d kills: %d lost, %d doubled", *crashRounds, kills, lost, doubled)
	if kills < *crashRounds/2 {
		t.Errorf("only %d kills in %d rounds: nothing was tried", kills, *crashRounds)
	}
}

// build makes the program, as it is installed.
func build(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "foreman")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return program
}

// A crashRound is one workflow run on a GitHub of its own.
type crashRound struct {
	program string
	dir     string
	run0    int // number of the workflow run
	gh      *githubtest.Server
}

const crashRules = `version: 1
policy: {allow_close: true, limits: {comment: 2}}
rules:
  - id: all
    on: issues.opened
    then:
      - add_label: bug
      - comment: First.
      - add_labels: [one, two]
      - update_comment: {body: Sticky., key: state}
      - comment: Second.
      - remove_label: old
      - close_issue: not_planned
`

const crashEvent = `{"action": "opened", "issue": {"number": 7, "title": "T", "body": "b", "state": "open",
	"user": {"login": "mona"}, "labels": [{"name": "old"}], "updated_at": "2026-04-10T00:00:00Z"},
	"repository": {"full_name": "octo-org/widgets"}, "sender": {"login": "mona"}}`

func newCrashRound(t *testing.T, program string, round int) *crashRound {
	t.Helper()
	gh, err := githubtest.Start(githubtest.Config{SkipValidation: true})
	if err != nil {
		t.Fatal(err)
	}
	r := &crashRound{program: program, dir: t.TempDir(), run0: round, gh: gh}
	gh.Repo(crashRepo).AddLabel("bug", "one", "two", "old").AddIssue(githubtest.Issue{Number: 7, Author: "mona", Labels: []string{"old"}})
	for name, text := range map[string]string{"event.json": crashEvent, ".github/foreman.yml": crashRules} {
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

// maxCrashes bounds the attempts that are killed in one round.
const maxCrashes = 4

// run starts attempts until one gets through, and returns how many were killed.
func (r *crashRound) run(t *testing.T, random *rand.Rand) int {
	t.Helper()
	kills := 0
	for attempt := 1; ; attempt++ {
		var reached chan struct{}
		r.gh.ClearFaults()
		if kills < maxCrashes {
			reached = make(chan struct{})
			fault := githubtest.Fault{Nth: 1 + random.IntN(12), Times: 1, Reached: reached}
			fault.CutAfter = random.IntN(2) == 0
			fault.CutBefore = !fault.CutAfter
			r.gh.Fault(fault)
		}
		killed, err := r.attempt(t, attempt, reached)
		switch {
		case killed:
			kills++
		case err != nil:
			t.Fatalf("round %d, attempt %d: %v", r.run0, attempt, err)
		default:
			return kills
		}
	}
}

// attempt runs the program once, and kills it when a call is reached.
func (r *crashRound) attempt(t *testing.T, attempt int, reached <-chan struct{}) (killed bool, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var log strings.Builder
	cmd := exec.CommandContext(ctx, r.program, "action")
	cmd.Stdout, cmd.Stderr = &log, &log
	cmd.Env = []string{
		"GITHUB_ACTIONS=true", "GITHUB_EVENT_NAME=issues", "GITHUB_EVENT_PATH=" + filepath.Join(r.dir, "event.json"),
		"GITHUB_WORKSPACE=" + r.dir, "GITHUB_REPOSITORY=" + crashRepo, "GITHUB_API_URL=" + r.gh.URL, "INPUT_TOKEN=t0ken",
		fmt.Sprintf("GITHUB_RUN_ID=%d", r.run0+1), fmt.Sprintf("GITHUB_RUN_ATTEMPT=%d", attempt), "NO_PROXY=127.0.0.1",
	}
	if err := cmd.Start(); err != nil {
		return false, err
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case <-reached: // never, for a nil channel
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

// judge counts what is missing on the issue and what is there twice.
func (r *crashRound) judge() (lost, doubled int) {
	i := r.gh.Issue(crashRepo, 7)
	for _, label := range []string{"bug", "one", "two"} {
		if !slices.Contains(i.Labels, label) {
			lost++
		}
	}
	if slices.Contains(i.Labels, "old") {
		lost++
	}
	if i.State != "closed" {
		lost++
	}
	for _, text := range []string{"First.", "Sticky.", "Second."} {
		n := 0
		for _, c := range i.Comments {
			if strings.HasPrefix(c.Body, text+"\n") {
				n++
			}
		}
		switch {
		case n == 0:
			lost++
		case n > 1:
			doubled += n - 1
		}
	}
	return lost, doubled + r.repeated()
}

// repeated counts the writes that GitHub carried out although an earlier one of the
// same form had done the same. A sticky comment is rewritten in place, which does no
// harm.
func (r *crashRound) repeated() int {
	seen := map[string]int{}
	n := 0
	for _, c := range r.gh.Calls() {
		if c.Method == "GET" || c.Status == 0 || c.Status >= 300 || strings.Contains(c.Body, "Sticky.") {
			continue
		}
		what := c.Method + " " + c.Path + " " + c.Body
		if i := strings.Index(what, " run="); i >= 0 {
			what = what[:i] // the secret of the run differs
		}
		if seen[what]++; seen[what] > 1 {
			n++
		}
	}
	return n
}
