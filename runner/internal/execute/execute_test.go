package execute_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/policy"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner/internal/execute"
	"github.com/org/foreman-action/runner/internal/history"
	"github.com/org/foreman-action/runner/internal/plan"
	"github.com/org/foreman-action/triage"
)

var update = flag.Bool("update", false, "rewrite the expected parts of the files in testdata")

const applyRepo = "octo/hello"

// TestApply carries out the decision of every file in testdata/apply on a fake GitHub with faults.
// It compares the calls, the results of the actions, and the final state of the issue. The part
// "setup" has one instruction per line:
//
//	label NAME…                 labels of the repository
//	issue [label=L] [closed]    creates issue 7
//	comment AUTHOR TEXT         adds a comment; \n is a line break, $TASK the task
//	user LOGIN…, milestone TITLE
//	as LOGIN label NAME         another user adds or removes a label: label or unlabel NAME
//	as LOGIN close              another user closes or reopens the issue: close or reopen
//	archive, disable, block     the repository is archived, its issues are disabled, we are blocked
//	delete, transfer            the issue is deleted or transferred
//	recreate NAME               a label is deleted, created again, and added to the issue again
//	event                       the event has the current issue, with the ids of its labels
//	fault METHOD PATH [status=N] [cutbefore] [cutafter] [nth=N] [times=N] [header=K:V]
//	comments N                  N comments of other users
//	unchecked                   the responses are not validated, because there are many
//	sticky [loaded]             the memory has the last comment as a sticky one
//	bot LOGIN, nonce TEXT       see [history.Identity]
//	resumed, dry, attempts=N    options of the run; the writes of earlier attempts are settled
//	known                       the issue is not new, so its timeline may be read
//	lag DURATION                GitHub shows the results of writes that late
//	clock DURATION              moves the clocks of GitHub and of the program on
//	rule ID, override, together source of all actions, whether it may override people, and whether
//	                            all are carried out or none
//	command NAME                mona requests all actions by this command
//	undone TYPE [VALUE]         a person's undo command reverted something by this action
//	closed DURATION ID          the memory records that a rule closed the issue that long ago
//
// The part "policy.yml" is the section policy of a configuration.
func TestApply(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/apply/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatal("no cases", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			t.Parallel()
			ar, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			c := newApplyCase(t, ar)
			got := c.run(t)
			c.compare(t, path, got)
		})
	}
}

// An applyCase is one test file.
type applyCase struct {
	ar       *txtar.Archive
	gh       *githubtest.Server
	decision protocol.DecisionMessage
	client   *github.Client
	target   execute.Target
	resumed  bool
	fresh    bool
	comment  int64 // id of the comment with the command
	start    time.Time
	attempts int
	slept    []time.Duration
	source   triage.Source // source of every action
	passed   time.Duration
	record   memory.Record
	warnings []string
	event    *triage.Issue // nil: the event has the final issue, without ids
}

const applyTask = "a3f8c2d1-4b5e-4f6a-8c9d-0e1f2a3b4c5d"

func newApplyCase(t *testing.T, ar *txtar.Archive) *applyCase {
	t.Helper()
	start := time.Date(2026, 4, 10, 12, 0, 0, 0, time.UTC)
	c := &applyCase{ar: ar, attempts: 1}
	unchecked := slices.Contains(strings.Split(string(c.part("setup")), "\n"), "unchecked")
	c.gh = githubtest.New(t, githubtest.Config{Now: func() time.Time { return start }, SkipValidation: unchecked})
	m, err := protocol.ParseDecision(c.part("decision.json"))
	if err != nil {
		t.Fatal(err)
	}
	c.decision = m
	sleep := func(ctx context.Context, d time.Duration) error {
		c.slept = append(c.slept, d)
		c.passed += d
		c.gh.Advance(d)
		return ctx.Err()
	}
	client, err := github.New(github.Options{BaseURL: c.gh.URL, Token: "t", Sleep: sleep})
	if err != nil {
		t.Fatal(err)
	}
	c.client, c.fresh, c.start = client, true, start
	c.target = execute.Target{
		Host: client, Sleep: sleep, Log: slog.New(slog.DiscardHandler),
		Warn: func(format string, args ...any) { c.warnings = append(c.warnings, fmt.Sprintf(format, args...)) },
		Identity: history.Identity{
			Ref: triage.Ref{Owner: "octo", Repo: "hello", Number: 7}, Task: applyTask, Login: "github-actions[bot]",
		},
	}
	for line := range strings.Lines(string(c.part("setup"))) {
		c.setUp(t, strings.TrimSpace(line))
	}
	return c
}

func (c *applyCase) part(name string) []byte {
	for _, f := range c.ar.Files {
		if f.Name == name {
			return f.Data
		}
	}
	return nil
}

func (c *applyCase) setUp(t *testing.T, line string) {
	t.Helper()
	repo := c.gh.Repo(applyRepo)
	verb, rest, _ := strings.Cut(line, " ")
	args := strings.Fields(rest)
	switch verb {
	case "label":
		repo.AddLabel(args...)
	case "user":
		repo.AddUser(args...)
	case "milestone":
		repo.AddMilestone(rest)
	case "issue":
		i := githubtest.Issue{Number: 7}
		for _, a := range args {
			if author, ok := strings.CutPrefix(a, "author="); ok {
				i.Author = author
			}
			if l, ok := strings.CutPrefix(a, "label="); ok {
				i.Labels = append(i.Labels, l)
			}
			if a == "closed" {
				i.State = "closed"
			}
		}
		repo.AddIssue(i)
	case "comment":
		author, text, _ := strings.Cut(rest, " ")
		text = strings.NewReplacer(`\n`, "\n", "$TASK", applyTask).Replace(text)
		repo.AddComment(7, author, text)
	case "as":
		actAs(t, repo, rest)
	case "archive":
		c.gh.Describe(applyRepo, githubtest.About{Archived: true})
	case "disable":
		c.gh.Describe(applyRepo, githubtest.About{NoIssues: true})
	case "block":
		c.gh.Describe(applyRepo, githubtest.About{Blocked: []string{c.target.Identity.Login}})
	case "delete":
		repo.DeleteIssue(7)
	case "transfer":
		repo.TransferIssue(7, "octo/other", 3)
	case "recreate":
		c.gh.DeleteLabel(applyRepo, rest)
		repo.AddLabel(rest).LabelAs("github-actions[bot]", 7, rest)
	case "event":
		issue, err := c.client.Issue(t.Context(), c.target.Identity.Ref)
		if err != nil {
			t.Fatal(err)
		}
		c.event = &issue.Issue
		c.gh.ResetCalls()
	case "fault":
		f, err := githubtest.ParseFault(args)
		if err != nil {
			t.Fatal(err)
		}
		c.gh.Fault(f)
	case "comments":
		n, _ := strconv.Atoi(rest)
		for range n {
			repo.AddComment(7, "octocat", "me too")
		}
	case "unchecked":
	case "sticky":
		comments := c.gh.Issue(applyRepo, 7).Comments
		c.record.Put(memory.Task{ID: "before", At: c.now(), Actions: []memory.Action{{
			Type: protocol.ActionUpdateComment, Rule: c.source.ID(), Result: triage.Done,
			URL: fmt.Sprintf("https://github.com/octo/hello/issues/7#issuecomment-%d", comments[len(comments)-1].ID),
		}}})
		loaded := rest == "loaded"
		c.target.Sticky = func(_ context.Context, source string, load bool) int64 {
			if !load && !loaded {
				return 0
			}
			return history.StickyOf(c.record, source)
		}
	case "bot":
		c.target.Identity.Login = rest
	case "nonce":
		c.target.Identity.Nonce = rest
	case "resumed":
		c.resumed = true
	case "known":
		c.fresh = false
	case "rule":
		c.source.Rule = rest
	case "command":
		c.source.Command = rest
		c.comment = repo.AddComment(7, "mona", "/foreman "+rest)
	case "together":
		c.source.Together = true
	case "override":
		c.source.OverrideHumans = true
	case "lag":
		d, err := time.ParseDuration(rest)
		if err != nil {
			t.Fatal(err)
		}
		c.gh.Lag(d)
	case "clock":
		d, err := time.ParseDuration(rest)
		if err != nil {
			t.Fatal(err)
		}
		c.passed += d
		c.gh.Advance(d)
	case "undone":
		c.record.Put(memory.Task{ID: "undo", At: c.now(), By: "command", Actions: []memory.Action{
			{Type: args[0], Values: args[1:], Rule: "/undo", Result: triage.Done},
		}})
	case "closed":
		c.remember(t, args)
	case "dry":
		c.target.DryRun = true
	default:
		n, ok := strings.CutPrefix(verb, "attempts=")
		if !ok {
			t.Fatalf("setup: unknown line %q", line)
		}
		c.attempts, _ = strconv.Atoi(n)
	}
}

// actAs performs an action as another user: LOGIN VERB [NAME].
func actAs(t *testing.T, repo *githubtest.Repo, line string) {
	t.Helper()
	who, rest, _ := strings.Cut(line, " ")
	verb, name, _ := strings.Cut(rest, " ")
	switch verb {
	case "label":
		repo.LabelAs(who, 7, name)
	case "unlabel":
		repo.UnlabelAs(who, 7, name)
	case "close":
		repo.CloseAs(who, 7, name)
	case "reopen":
		repo.ReopenAs(who, 7)
	case "lock":
		repo.LockAs(who, 7, name)
	default:
		t.Fatalf("setup: unknown act %q", line)
	}
}

// remember records a close by a rule in the memory.
func (c *applyCase) remember(t *testing.T, args []string) {
	t.Helper()
	ago, err := time.ParseDuration(args[0])
	if err != nil {
		t.Fatal(err)
	}
	c.record.Put(memory.Task{
		ID: "t" + args[1], At: c.now().Add(-ago), By: "rules",
		Actions: []memory.Action{{Type: protocol.ActionCloseIssue, Rule: args[1], Result: triage.Done}},
	})
}

// policy parses the part policy.yml.
func (c *applyCase) policy(t *testing.T) policy.Policy {
	t.Helper()
	src := "version: 1\npolicy:\n  allow_close: true\n" + string(c.part("policy.yml"))
	cfg, err := config.Parse("policy.yml", []byte(src), nil)
	if err != nil {
		t.Fatal(err)
	}
	return cfg.Policy
}

// run applies the plan as often as the case requires, and describes the result.
func (c *applyCase) run(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	now := c.gh.Issue(applyRepo, 7)
	issue := triage.Issue{
		Number: 7, State: now.State, Labels: now.Labels, Assignees: now.Assignees, Milestone: now.Milestone,
		Type: now.Type, Locked: now.Locked, Author: now.Author, CreatedAt: now.CreatedAt,
	}
	if c.event != nil {
		issue = *c.event
	}
	c.target.Issue = issue
	d := plan.Decision{Message: c.decision}
	for range c.decision.Actions {
		d.Sources = append(d.Sources, c.source)
	}
	if issue.State == "" {
		issue.State = "open"
	}
	for attempt := 1; attempt <= c.attempts; attempt++ {
		p := plan.Make(plan.Input{Decision: d, Issue: issue, Policy: c.policy(t), MayComment: true, CommentID: c.comment})
		out := c.apply(t, p, c.resumed || attempt > 1)
		for i, r := range out.Results {
			fmt.Fprintf(&b, "%d. %s: %s\n", i+1, r.Action.Type, strings.TrimSpace(r.State.Result()+" "+strings.ReplaceAll(r.Reason, c.gh.URL, "URL")))
		}
		if out.Err != nil {
			fmt.Fprintf(&b, "error: %s\n", strings.ReplaceAll(out.Err.Error(), c.gh.URL, "URL"))
		}
		if out.Gone {
			b.WriteString("gone\n")
		}
	}
	for _, text := range c.warnings {
		fmt.Fprintf(&b, "warning: %s\n", strings.ReplaceAll(text, c.gh.URL, "URL"))
	}
	for _, line := range c.gh.Log() {
		fmt.Fprintf(&b, "> %s\n", line)
	}
	if len(c.slept) > 0 {
		fmt.Fprintf(&b, "slept %v\n", c.slept)
	}
	left := c.gh.Issue(applyRepo, 7)
	fmt.Fprintf(&b, "issue: %s %s [%s] %d comments\n", left.State, left.StateReason, strings.Join(left.Labels, ", "), len(left.Comments))
	return b.String()
}

func (c *applyCase) now() time.Time { return c.start.Add(c.passed) }

// apply reads the data for the review of a plan, reviews the plan, and carries it out.
func (c *applyCase) apply(t *testing.T, p plan.Plan, resumed bool) execute.Outcome {
	t.Helper()
	a := plan.Attempt{Identity: c.target.Identity, Now: c.now(), Resumed: resumed, Fresh: c.fresh}
	var seen plan.Snapshot
	for {
		need := plan.Needs(p, a, seen)
		if need.Nothing() {
			break
		}
		if err := c.read(t.Context(), need, &seen); err != nil {
			return execute.Abort(p, plan.Review(p, a, seen), err)
		}
	}
	target := c.target
	target.Comments = seen.Comments
	if seen.Issue != nil {
		target.Issue = *seen.Issue
	}
	reviewed := plan.Review(p, a, seen)
	c.warnings = append(c.warnings, reviewed.Warnings...)
	return execute.Run(t.Context(), p, reviewed, target)
}

// read reads the data that a review needs next.
func (c *applyCase) read(ctx context.Context, n plan.Need, seen *plan.Snapshot) error {
	ref := c.target.Identity.Ref
	var err error
	switch {
	case n.Issue:
		var issue triage.Snapshot
		issue, err = c.client.Issue(ctx, ref)
		seen.Issue = &issue.Issue
	case n.Comments:
		seen.Comments = &plan.Comments{}
		if seen.Comments.List, err = c.client.Comments(ctx, ref, time.Time{}, nil); errors.Is(err, triage.ErrTruncated) {
			seen.Comments.Err, err = err, nil
		}
	case n.Earlier:
		*seen.Timeline, err = c.client.Earlier(ctx, ref, *seen.Timeline)
	case n.Timeline:
		seen.Timeline = &triage.Timeline{}
		*seen.Timeline, err = c.client.Timeline(ctx, ref)
	case n.Record:
		seen.Record = &c.record
	}
	for _, name := range n.Labels {
		label, lerr := c.client.Label(ctx, ref, name)
		if lerr != nil && !errors.Is(lerr, triage.ErrNotFound) {
			return lerr
		}
		if seen.Labels == nil {
			seen.Labels = map[string]string{}
		}
		seen.Labels[text.Fold(name)] = label
	}
	return err
}

func (c *applyCase) compare(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		for i := range c.ar.Files {
			if c.ar.Files[i].Name == "want" {
				c.ar.Files[i].Data = []byte(got)
			}
		}
		if err := os.WriteFile(path, txtar.Format(c.ar), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want := string(c.part("want")); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}
