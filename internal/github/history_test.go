package github_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/triage"
)

// A library is a repository with many issues, and the folder of a cache for them.
type library struct {
	*githubtest.Server
	*clock
	dir string
}

// newLibrary creates a repository of 250 issues. Each is a minute newer than the one before, and
// the last is from now.
func newLibrary(t *testing.T) library {
	t.Helper()
	ticks := newClock()
	s := githubtest.New(t, githubtest.Config{Token: token, Now: ticks.Now})
	r := s.Repo("octo/hello").AddLabel("bug")
	for n := 1; n <= 250; n++ {
		r.AddIssue(githubtest.Issue{Number: n, Title: fmt.Sprint("Issue ", n), Body: "It breaks.", CreatedAt: ticks.now.Add(time.Duration(n-250) * time.Minute), PullRequest: n%50 == 0})
	}
	return library{s, ticks, t.TempDir()}
}

// history returns the repository's history with a new client, as in a new process.
func (l library) history(t *testing.T, reserve int) *github.History {
	t.Helper()
	c, err := github.New(github.Options{BaseURL: l.URL, Token: token, Now: l.Now, Sleep: l.Sleep})
	if err != nil {
		t.Fatal(err)
	}
	h, err := github.NewHistory(c, "Octo", "hello", github.HistoryOptions{Dir: l.dir, Reserve: reserve})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// readAll reads the pages until there is no other.
func readAll(ctx context.Context, h *github.History) ([]triage.Issue, error) {
	var list []triage.Issue
	for n := 1; ; n++ {
		page, err := h.Issues(ctx, n)
		list = append(list, page.Issues...)
		if err != nil || !page.More {
			return list, err
		}
	}
}

// statuses returns the statuses of the calls since the last call of statuses.
func (l library) statuses() string {
	var list []string
	for _, c := range l.Calls() {
		list = append(list, fmt.Sprint(c.Status))
	}
	l.ResetCalls()
	return strings.Join(list, " ")
}

func TestHistoryIsKept(t *testing.T) {
	t.Parallel()
	l := newLibrary(t)
	steps := []struct {
		name   string
		change func()
		done   bool // Done is called after the list was read
		calls  string
		kept   int
	}{
		{name: "nothing is known", calls: "200 200 200", kept: 0},
		{name: "the last one did not finish", calls: "", kept: 3, done: true},
		{name: "nothing changed", calls: "304 304 304", done: true},
		{name: "an old issue changed", change: func() { l.Repo("octo/hello").LabelAs("max", 20, "bug") }, calls: "304 304 200", done: true},
		{name: "an issue was opened", change: func() { l.Repo("octo/hello").AddIssue(githubtest.Issue{Number: 251}) }, calls: "200 200 200"},
		{name: "the last one is too long ago", change: func() { _ = l.Sleep(t.Context(), 6*time.Hour) }, calls: "304 304 304"},
	}
	for _, step := range steps {
		if step.change != nil {
			step.change()
		}
		h := l.history(t, 100)
		list, err := readAll(t.Context(), h)
		if err != nil || len(list) < 250 || list[len(list)-1].Number != 1 {
			t.Fatalf("%s: got %d issues, %v", step.name, len(list), err)
		}
		if !slices.IsSortedFunc(list, func(a, b triage.Issue) int { return b.Number - a.Number }) || !list[1].PullRequest && !list[0].PullRequest {
			t.Errorf("%s: not in order, or without pull requests", step.name)
		}
		if step.done {
			h.Done()
		}
		calls := h.Calls()
		if got := l.statuses(); got != step.calls || calls.Kept != step.kept || calls.Made != len(strings.Fields(step.calls)) ||
			calls.Unchanged != strings.Count(step.calls, "304") || calls.Cache != nil {
			t.Errorf("%s: got calls %q, %+v, want %q and %d kept", step.name, got, calls, step.calls, step.kept)
		}
	}
}

// TestHistoryResumes checks that pages which were read before a failure are not read again.
func TestHistoryResumes(t *testing.T) {
	t.Parallel()
	l := newLibrary(t)
	l.Fault(githubtest.Fault{Nth: 2, Times: -1, CutBefore: true})
	if list, err := readAll(t.Context(), l.history(t, 0)); err == nil || len(list) != 100 {
		t.Fatalf("got %d issues, %v, want 100 and a failure", len(list), err)
	}
	l.ClearFaults()
	l.ResetCalls()
	// Two new issues shift the others to later pages, but the history resumes the old list.
	l.Repo("octo/hello").AddIssue(githubtest.Issue{Number: 251}).AddIssue(githubtest.Issue{Number: 252})
	list, err := readAll(t.Context(), l.history(t, 0))
	if err != nil || len(list) != 252 || list[0].Number != 250 || list[100].Number != 152 {
		t.Fatalf("got %d issues, %v", len(list), err)
	}
	if got := l.statuses(); got != "200 200" {
		t.Errorf("got calls %q, want those for two pages", got)
	}
	// Cached pages that are older than the new list are requested again.
	h := l.history(t, 0)
	h.Done()
	_ = l.Sleep(t.Context(), time.Minute)
	l.Fault(githubtest.Fault{Nth: 2, Times: -1, CutBefore: true})
	if _, err := readAll(t.Context(), h); err == nil {
		t.Fatal("want a failure")
	}
	l.ClearFaults()
	l.ResetCalls()
	if list, err := readAll(t.Context(), l.history(t, 0)); err != nil || len(list) != 252 {
		t.Fatalf("got %d issues, %v", len(list), err)
	}
	if got := l.statuses(); got != "304 304" {
		t.Errorf("got calls %q, want those for the other two pages", got)
	}
}

func TestHistoryBudget(t *testing.T) {
	t.Parallel()
	l := newLibrary(t)
	l.LimitCalls(102, 40*time.Minute)
	h := l.history(t, 100)
	list, err := readAll(t.Context(), h)
	budget, ok := errors.AsType[*github.BudgetError](err)
	if !ok || len(list) != 200 || budget.Remaining != 100 || !budget.Reset.Equal(l.Now().Add(40*time.Minute)) {
		t.Fatalf("got %d issues, %v, want 200 and a stop", len(list), err)
	}
	if want := "the token has 100 calls left until 12:40 UTC, and 100 are reserved for other users of the token"; err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
	// The limit of the next hour, and a token that has no calls left.
	_ = l.Sleep(t.Context(), 41*time.Minute)
	if page, err := h.Issues(t.Context(), 3); err != nil || len(page.Issues) != 50 {
		t.Fatalf("the same process, later: got %d issues, %v", len(page.Issues), err)
	}
	if list, err = readAll(t.Context(), l.history(t, 100)); err != nil || len(list) != 250 {
		t.Fatalf("got %d issues, %v", len(list), err)
	}
	if got := l.statuses(); got != "200 200 200" {
		t.Errorf("got calls %q, want one for each page", got)
	}
	l.LimitCalls(0, 30*time.Minute)
	h = l.history(t, 0)
	if _, err := h.Timeline(t.Context(), triage.Issue{Number: 7}); !errors.As(err, &budget) || budget.Reset.Sub(l.Now()) != 30*time.Minute {
		t.Errorf("got %v, want a stop for half an hour", err)
	}
	if _, err := h.Timeline(t.Context(), triage.Issue{Number: 8}); !errors.As(err, &budget) {
		t.Errorf("got %v, want a stop", err)
	}
	if got := l.statuses(); got != "403" {
		t.Errorf("got calls %q, want one that is refused", got)
	}
}

func TestHistoryTimeline(t *testing.T) {
	t.Parallel()
	l := newLibrary(t)
	repo := l.Repo("octo/hello")
	repo.LabelAs("max", 7, "bug").RenameAs("max", 7, "Another title").AddComment(7, "max", "a secret")
	h := l.history(t, 0)
	find := func() triage.Issue {
		list, err := readAll(t.Context(), h)
		k := slices.IndexFunc(list, func(i triage.Issue) bool { return i.Number == 7 })
		if err != nil || k < 0 {
			t.Fatal("no issue 7", err)
		}
		l.ResetCalls()
		return list[k]
	}
	issue := find()
	first, err := h.Timeline(t.Context(), issue)
	if err != nil || !first.Complete || len(first.Events) != 3 || first.Events[1].From != "Issue 7" || first.Events[2].Body != "" {
		t.Fatalf("got %+v, %v", first, err)
	}
	again, err := l.history(t, 0).Timeline(t.Context(), issue)
	if diff := cmp.Diff(first, again); err != nil || diff != "" || l.statuses() != "200" {
		t.Errorf("%v, the second time (-want +got):\n%s", err, diff)
	}
	_ = l.Sleep(t.Context(), time.Minute)
	repo.UnlabelAs("max", 7, "bug")
	h.Done()
	h = l.history(t, 0)
	changed, err := h.Timeline(t.Context(), find())
	if err != nil || len(changed.Events) != 4 {
		t.Errorf("got %d events, %v, want 4", len(changed.Events), err)
	}
	repo.DeleteIssue(8)
	if _, err := h.Timeline(t.Context(), triage.Issue{Number: 8}); !errors.Is(err, triage.ErrGone) {
		t.Errorf("got %v, want ErrGone", err)
	}
}

func TestHistoryFails(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		fault githubtest.Fault
		want  string
	}{
		{"no list", githubtest.Fault{Status: 200, Body: "{}"}, "list the issues of Octo/hello: json: "},
		{"null", githubtest.Fault{Status: 200, Body: "null"}, "list the issues of Octo/hello: the answer is not a list"},
		{"no issue", githubtest.Fault{Status: 200, Body: `[{"title":"x"}]`}, "list the issues of Octo/hello: decode issue: it has no number"},
		{"not asked for", githubtest.Fault{Status: 304}, "list the issues of Octo/hello: 304 Not Modified"},
		{"gone", githubtest.Fault{Status: 404}, "list the issues of Octo/hello: not found: 404"},
		{"denied", githubtest.Fault{Status: 403, Body: `{"message":"Resource not accessible by integration"}`}, "issues: read"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := newLibrary(t)
			l.Fault(tt.fault)
			h := l.history(t, 0)
			if _, err := h.Issues(t.Context(), 1); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
			l.ClearFaults()
			if list, err := readAll(t.Context(), h); err != nil || len(list) != 250 {
				t.Errorf("afterwards: got %d issues, %v", len(list), err)
			}
		})
	}
	c, _ := client(t, "https://api.github.com")
	for _, repo := range []string{"", "..", "a/b", "a b"} {
		if _, err := github.NewHistory(c, "octo", repo, github.HistoryOptions{Dir: t.TempDir()}); err == nil {
			t.Errorf("a history of repository %q", repo)
		}
	}
}

// TestHistoryCache checks that a cache that is broken, denied or full only causes more calls.
func TestHistoryCache(t *testing.T) {
	t.Parallel()
	l := newLibrary(t)
	if _, err := readAll(t.Context(), l.history(t, 0)); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(l.dir, "*", "octo", "hello", "*.json"))
	if err != nil || len(files) != 4 {
		t.Fatalf("got %q, %v, want three pages and the list", files, err)
	}
	for k, name := range files {
		info, err := os.Stat(name)
		if err != nil || info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" { // Windows has no such modes
			t.Errorf("%s: %v, %v, want it for the user alone", name, info.Mode(), err)
		}
		data := []string{"", "{}", `{"Version":1,"Value":[]}`, "\x00"}[k]
		if err := os.WriteFile(name, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l.ResetCalls()
	if list, err := readAll(t.Context(), l.history(t, 0)); err != nil || len(list) != 250 || l.statuses() != "200 200 200" {
		t.Errorf("broken: got %d issues, %v", len(list), err)
	}
	// The folder is deleted.
	h := l.history(t, 0)
	if err := os.RemoveAll(filepath.Dir(files[0])); err != nil {
		t.Fatal(err)
	}
	if list, err := readAll(t.Context(), h); err != nil || len(list) != 250 || h.Calls().Cache == nil {
		t.Errorf("without its folder: got %d issues, %v, %v", len(list), err, h.Calls())
	}
	// No cache, and a folder that cannot be created.
	c, _ := client(t, l.URL)
	none, err := github.NewHistory(c, "octo", "hello", github.HistoryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if list, err := readAll(t.Context(), none); err != nil || len(list) != 250 || none.Calls().Kept != 0 {
		t.Errorf("none: got %d issues, %v", len(list), err)
	}
	none.Done()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := github.NewHistory(c, "octo", "hello", github.HistoryOptions{Dir: file}); err == nil || !strings.Contains(err.Error(), "open the cache") {
		t.Errorf("a file for a folder: got %v", err)
	}
}
