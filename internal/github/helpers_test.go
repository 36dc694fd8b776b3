package github_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/triage"
)

const token = "ghs_0123456789secret"

var ref = triage.Ref{Owner: "octo", Repo: "hello", Number: 7}

var hello = github.Tree{Owner: "octo", Repo: "hello"}

// A clock is a time that advances only when the client sleeps.
type clock struct {
	mu    sync.Mutex
	now   time.Time
	waits []time.Duration
}

func newClock() *clock {
	return &clock{now: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)}
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Sleep(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waits = append(c.waits, d)
	c.now = c.now.Add(d)
	return ctx.Err()
}

func (c *clock) Waits() []time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.waits)
}

// fake starts a GitHub with one repository that contains every kind of object.
func fake(t *testing.T) *githubtest.Server {
	t.Helper()
	s := githubtest.New(t, githubtest.Config{Token: token})
	furnish(s)
	return s
}

func furnish(s *githubtest.Server) {
	r := s.Repo("octo/hello").AddLabel("bug", "Kind/Feature").AddUser("alice", "bob").AddMilestone("v1", "V2")
	r.AddIssue(githubtest.Issue{Number: 7, Title: "It breaks", Labels: []string{"bug"}})
	r.AddIssue(githubtest.Issue{Number: 8, Title: "A pull request", PullRequest: true})
	r.AddIssue(githubtest.Issue{Number: 9}).DeleteIssue(9)
	r.AddIssue(githubtest.Issue{Number: 10}).TransferIssue(10, "octo/other", 3)
	r.AddIssue(githubtest.Issue{Number: 11, Title: "The original"})
	r.AddFile(".github/foreman.yml", "version: 1\n").AddFile(".github/foreman/b.yml", "b").AddFile(".github/foreman/a b.yml", "a")
}

// client returns a client of a server. Its clock makes waits take no time.
func client(t *testing.T, url string, change ...func(*github.Options)) (*github.Client, *clock) {
	t.Helper()
	ticks := newClock()
	o := github.Options{BaseURL: url, Token: token, Now: ticks.Now, Sleep: ticks.Sleep}
	for _, f := range change {
		f(&o)
	}
	c, err := github.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c, ticks
}

// because is an intent with which a change is made at once.
var because = effect.Intent{Rationale: "rule crash: always", Confidence: protocol.ConfidenceHigh}

// A write is a call of one of the client's writing methods with valid arguments.
type write struct {
	name string
	call func(context.Context, *github.Client, triage.Ref) error
	want []string // the requests of a successful call
}

func writes() []write {
	const issue = "/repos/octo/hello/issues/7"
	return []write{
		{"AddLabels", func(ctx context.Context, c *github.Client, r triage.Ref) error {
			return put(ctx, c, r, effect.AddLabels{Names: []string{"Kind/Feature"}})
		}, []string{"POST " + issue + "/labels 200"}},
		{"RemoveLabel", func(ctx context.Context, c *github.Client, r triage.Ref) error {
			return put(ctx, c, r, effect.RemoveLabels{Names: []string{"bug"}})
		}, []string{"DELETE " + issue + "/labels/bug 200"}},
		{"CreateComment", func(ctx context.Context, c *github.Client, r triage.Ref) error {
			_, err := c.Write(ctx, r, effect.Comment{Body: "hello"})
			return err
		}, []string{"POST " + issue + "/comments 201"}},
		{"CloseIssue", func(ctx context.Context, c *github.Client, r triage.Ref) error {
			return put(ctx, c, r, effect.Close{Reason: "not_planned"})
		}, []string{"PATCH " + issue + " 200"}},
		{"ReopenIssue", func(ctx context.Context, c *github.Client, r triage.Ref) error {
			return put(ctx, c, r, effect.Reopen{})
		}, []string{"PATCH " + issue + " 200"}},
		{"Assign", func(ctx context.Context, c *github.Client, r triage.Ref) error {
			err := put(ctx, c, r, effect.Assign{Logins: []string{"alice"}})
			return err
		}, []string{"POST " + issue + "/assignees 201"}},
		{"Unassign", func(ctx context.Context, c *github.Client, r triage.Ref) error {
			return put(ctx, c, r, effect.Unassign{Logins: []string{"alice"}})
		}, []string{"DELETE " + issue + "/assignees 200"}},
		{"SetType", func(ctx context.Context, c *github.Client, r triage.Ref) error {
			return put(ctx, c, r, effect.SetType{Name: "bug"})
		}, []string{"PATCH " + issue + " 200"}},
		{"AddLabelsWithIntents", func(ctx context.Context, c *github.Client, r triage.Ref) error {
			return put(ctx, c, r, effect.AddLabels{Names: []string{"Kind/Feature"}, Intents: []effect.Intent{because}})
		}, []string{"POST " + issue + "/labels 200"}},
		{"AssignWithIntents", func(ctx context.Context, c *github.Client, r triage.Ref) error {
			return put(ctx, c, r, effect.Assign{Logins: []string{"alice"}, Intents: []effect.Intent{because}})
		}, []string{"POST " + issue + "/assignees 201"}},
		{"SetTypeWithIntent", func(ctx context.Context, c *github.Client, r triage.Ref) error {
			return put(ctx, c, r, effect.SetType{Name: "bug", Intent: because})
		}, []string{"PATCH " + issue + " 200"}},
		{"Lock", func(ctx context.Context, c *github.Client, r triage.Ref) error {
			return put(ctx, c, r, effect.Lock{Reason: "too heated"})
		}, []string{"PUT " + issue + "/lock 204"}},
		{"Unlock", func(ctx context.Context, c *github.Client, r triage.Ref) error {
			return put(ctx, c, r, effect.Unlock{})
		}, []string{"DELETE " + issue + "/lock 204"}},
		{"RemoveMilestone", func(ctx context.Context, c *github.Client, r triage.Ref) error {
			return put(ctx, c, r, effect.SetMilestone{})
		}, []string{"PATCH " + issue + " 200"}},
		{"React", func(ctx context.Context, c *github.Client, r triage.Ref) error {
			return put(ctx, c, r, effect.React{Content: "eyes"})
		}, []string{"POST " + issue + "/reactions 201"}},
		{"SetMilestone", func(ctx context.Context, c *github.Client, r triage.Ref) error {
			return put(ctx, c, r, effect.SetMilestone{Title: "v1"})
		}, []string{"GET /repos/octo/hello/milestones 200", "PATCH " + issue + " 200"}},
		{"MarkDuplicate", func(ctx context.Context, c *github.Client, r triage.Ref) error {
			return put(ctx, c, r, effect.MarkDuplicate{Of: 11})
		}, []string{"GET /repos/octo/hello/issues/11 200", "PATCH " + issue + " 200"}},
	}
}

// put performs an effect and returns only the error.
func put(ctx context.Context, c *github.Client, ref triage.Ref, e effect.Effect) error {
	_, err := c.Write(ctx, ref, e)
	return err
}
