package runner_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

const sweepRepo = "Codertocat/Hello-World"

// scheduled returns a world with a schedule event. Issue 1 is open and has the label bug.
func scheduled(t *testing.T, config string) (*githubtest.Server, triage.Delivery, options) {
	t.Helper()
	gh, _, o := world(t, config)
	e, err := triage.ParseEvent(triage.EventSource{Name: "schedule", Repo: sweepRepo, Payload: []byte(`{"schedule": "17 4 * * *"}`)})
	if err != nil {
		t.Fatal(err)
	}
	keepIn(&o, memory.New())
	return gh, e, o
}

func sweep(t *testing.T, o options, e triage.Delivery) (runner.Survey, error) {
	t.Helper()
	r, err := runner.New(o.Options)
	if err != nil {
		t.Fatal(err)
	}
	return r.Sweep(t.Context(), o.Task, e)
}

const (
	closesLater = "policy: {allow_close: true}\nrules:\n  - {id: old, on: issues.closed, then: [{close_issue: {after: 72h}}]}\n"
	scansBugs   = "rules:\n  - {id: r, on: schedule, scan: 'is:open label:bug', then: [{add_label: triage}]}\n"
)

// due stores a scheduled close of issue 1 by the rule old. It was decided at the time at, and is
// due at noon of April 9th 2026.
func due(t *testing.T, s memory.Store, at time.Time, veto ...string) {
	t.Helper()
	_, err := memory.Update(t.Context(), s, sweepRepo, 1, func(r *memory.Record) error {
		r.Plan(memory.ScheduledClose{At: at, Due: time.Date(2026, 4, 9, 12, 0, 0, 0, time.UTC), Rule: "old", Task: runTask, Veto: veto, Reason: "not_planned"})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

var (
	longAgo   = time.Date(2026, 4, 9, 11, 0, 0, 0, time.UTC) // before everything on the fake GitHub
	inFuture  = time.Date(2199, 1, 1, 0, 0, 0, 0, time.UTC)  // after everything on the fake GitHub
	allVetoes = []string{protocol.VetoThumbsDown, protocol.VetoComment, protocol.VetoReopen}
)

// stubbornHost returns its own results for some calls.
type stubbornHost struct {
	runner.Issues
	runner.Search

	timeline  func() (triage.Timeline, error)
	reactions error
}

func (h stubbornHost) Timeline(ctx context.Context, ref triage.Ref) (triage.Timeline, error) {
	if h.timeline != nil {
		return h.timeline()
	}
	return h.Issues.Timeline(ctx, ref)
}

func (h stubbornHost) Reactions(ctx context.Context, ref triage.Ref, comment int64, content string) ([]triage.Reaction, error) {
	if h.reactions != nil && (comment != 0 || !errors.Is(h.reactions, triage.ErrNotFound)) {
		return nil, h.reactions
	}
	return h.Search.Reactions(ctx, ref, comment, content)
}

// TestVetoes checks what vetoes a scheduled close that is due.
func TestVetoes(t *testing.T) {
	t.Parallel()
	const bot = "github-actions[bot]"
	notice := fmt.Sprintf("soon\n\n<!-- foreman:v1 task=%s comment=0 -->", runTask)
	other := strings.Replace(notice, runTask, strings.Replace(runTask, "a3", "b4", 1), 1)
	old := triage.TimelineEvent{Kind: "labeled", Label: "x", Actor: "mona", At: inFuture}
	tests := []struct {
		name  string
		at    time.Time
		veto  []string
		setup func(r *githubtest.Repo)
		host  stubbornHost
		want  string // a part of the reason; empty: the issue is closed
		kept  bool   // the close stays scheduled for another run
	}{
		{name: "nothing", veto: allVetoes},
		{name: "a comment", veto: allVetoes, setup: func(r *githubtest.Repo) { r.AddComment(1, "mona", "no") }, want: "mona commented on"},
		{name: "a comment that is no veto", setup: func(r *githubtest.Repo) { r.AddComment(1, "mona", "no") }},
		{name: "a comment that asks why", veto: allVetoes, setup: func(r *githubtest.Repo) { r.AddComment(1, "mona", "/foreman why\n") }},
		{name: "a comment that asks why and more", veto: allVetoes, setup: func(r *githubtest.Repo) { r.AddComment(1, "mona", "/foreman why\nno") }, want: "mona commented on"},
		{name: "a comment before", at: inFuture, veto: allVetoes, setup: func(r *githubtest.Repo) { r.AddComment(1, "mona", "no") }},
		{name: "a comment of ours", veto: allVetoes, setup: func(r *githubtest.Repo) { r.AddComment(1, bot, notice) }},
		{name: "a comment of a bot", veto: allVetoes, setup: func(r *githubtest.Repo) { r.AddComment(1, "dependabot[bot]", "no") }},
		{name: "reopened", veto: allVetoes, setup: func(r *githubtest.Repo) { r.CloseAs("mona", 1, "").ReopenAs("mona", 1) }, want: "mona reopened it on"},
		{name: "-1 on the issue", veto: allVetoes, setup: func(r *githubtest.Repo) { r.ReactAs("mona", 1, 0, "-1") }, want: "mona reacted with -1 on"},
		{name: "-1 on the issue before", at: inFuture, veto: allVetoes, setup: func(r *githubtest.Repo) { r.ReactAs("mona", 1, 0, "-1") }},
		{name: "-1 of a bot", veto: allVetoes, setup: func(r *githubtest.Repo) { r.ReactAs("robot[bot]", 1, 0, "-1") }},
		{name: "+1", veto: allVetoes, setup: func(r *githubtest.Repo) { r.ReactAs("mona", 1, 0, "+1") }},
		{name: "-1 on the notice", at: inFuture, veto: allVetoes, setup: func(r *githubtest.Repo) {
			r.ReactAs("mona", 1, r.AddComment(1, bot, notice), "-1")
		}, want: "mona reacted with -1 on"},
		{name: "-1 on a later task's comment", veto: allVetoes, setup: func(r *githubtest.Repo) {
			r.ReactAs("mona", 1, r.AddComment(1, bot, other), "-1")
		}, want: "mona reacted with -1 on"},
		{name: "-1 on an earlier task's comment", at: inFuture, veto: allVetoes, setup: func(r *githubtest.Repo) {
			r.ReactAs("mona", 1, r.AddComment(1, bot, other), "-1")
		}},
		{name: "-1 on a forged notice", at: inFuture, veto: allVetoes, setup: func(r *githubtest.Repo) {
			r.ReactAs("mona", 1, r.AddComment(1, "mallory", notice), "-1")
		}},
		{name: "many reactions", veto: allVetoes, host: stubbornHost{reactions: triage.ErrTruncated}, want: "too many reactions"},
		{name: "a vanished comment", veto: []string{protocol.VetoThumbsDown}, host: stubbornHost{reactions: triage.ErrNotFound}, setup: func(r *githubtest.Repo) {
			r.ReactAs("mona", 1, r.AddComment(1, bot, notice), "-1")
		}},
		{name: "unreadable reactions", veto: allVetoes, host: stubbornHost{reactions: errors.New("no")}, want: "look for vetoes: no", kept: true},
		{name: "unreadable timeline", veto: allVetoes, host: stubbornHost{timeline: func() (triage.Timeline, error) {
			return triage.Timeline{}, errors.New("no")
		}}, want: "look for vetoes: no", kept: true},
		{name: "a long timeline", veto: allVetoes, host: stubbornHost{timeline: func() (triage.Timeline, error) {
			return triage.Timeline{Events: []triage.TimelineEvent{old}}, nil
		}}, want: "too long to decide"},
		{name: "an endless timeline", veto: allVetoes, host: stubbornHost{timeline: func() (triage.Timeline, error) {
			return triage.Timeline{}, triage.ErrTruncated
		}}, want: "too long to decide"},
		{name: "closed", setup: func(r *githubtest.Repo) { r.CloseAs("mona", 1, "") }, want: "it is closed already"},
		{name: "deleted", setup: func(r *githubtest.Repo) { r.DeleteIssue(1) }, want: "the issue is gone"},
		{name: "transferred", setup: func(r *githubtest.Repo) { r.TransferIssue(1, "o/r", 2) }, want: "the issue is gone"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			gh, e, o := scheduled(t, closesLater)
			if tt.at.IsZero() {
				tt.at = longAgo
			}
			due(t, o.Memory.Store, tt.at, tt.veto...)
			if tt.setup != nil {
				tt.setup(gh.Repo(sweepRepo))
			}
			tt.host.Issues, tt.host.Search = o.Host.Issues, o.Host.Search
			o.Host.Issues, o.Host.Search = tt.host, tt.host
			s, err := sweep(t, o, e)
			if (err != nil) != tt.kept || len(s.Reports) != 1 {
				t.Fatalf("got %v and %d reports", err, len(s.Reports))
			}
			closed := s.Closed == 1 && s.Dropped == 0 && gh.Issue(sweepRepo, 1).StateReason == "not_planned"
			if closed != (tt.want == "") || !strings.Contains(s.Reports[0].Reason, tt.want) {
				t.Errorf("got closed %t, %q, want %q", closed, s.Reports[0].Reason, tt.want)
			}
			r, err := o.Memory.Store.Load(t.Context(), sweepRepo, 1)
			if err != nil {
				t.Fatal(err)
			}
			if _, kept := r.Due(); kept != tt.kept {
				t.Errorf("kept: got %t, want %t", kept, tt.kept)
			}
		})
	}
}

// TestClosingOnce: the memory fails after a close, before the run records it. The next run must
// find that the issue is closed and record that; a third run has nothing to do.
func TestClosingOnce(t *testing.T) {
	t.Parallel()
	gh, e, o := scheduled(t, closesLater)
	store := o.Memory.Store.(memory.Agenda)
	due(t, store, longAgo)
	keepIn(&o, readOnly{store})
	s, err := sweep(t, o, e)
	if err != nil || s.Closed != 1 || !strings.Contains(strings.Join(s.Warnings, "\n"), "the medium is full") {
		t.Fatalf("got %+v, %v", s, err)
	}
	keepIn(&o, store)
	o.Task.ID = strings.Replace(runTask, "a3", "b4", 1)
	for i, want := range []string{"it is closed already", ""} {
		gh.ResetCalls()
		s, err := sweep(t, o, e)
		got := ""
		for _, rep := range s.Reports {
			got += rep.Reason
		}
		if err != nil || !strings.HasSuffix(got, want) || len(got) > 0 != (want != "") {
			t.Errorf("run %d: got %q, %v, want %q", i, got, err, want)
		}
		if calls := strings.Join(gh.Log(), "\n"); strings.Contains(calls, "PATCH") {
			t.Errorf("run %d: got the calls\n%s", i, calls)
		}
	}
}

// readOnly is a store that cannot save.
type readOnly struct{ memory.Agenda }

func (readOnly) Save(context.Context, memory.Record) error { return errors.New("the medium is full") }

// blind is a store that cannot list scheduled closes.
type blind struct{ memory.Agenda }

func (blind) Pending(context.Context, string) ([]memory.Due, bool, error) {
	return nil, false, errors.New("denied")
}

// hasty is a store that lists wrong scheduled closes.
type hasty struct{ memory.Agenda }

func (hasty) Pending(context.Context, string) ([]memory.Due, bool, error) {
	return []memory.Due{{Issue: 1}, {Issue: 99}}, false, nil
}

// TestSweepCounts counts an issue once that has two due closes, and that a scan finds as well.
func TestSweepCounts(t *testing.T) {
	t.Parallel()
	for name, reactions := range map[string]error{"decided": nil, "failed": errors.New("no network")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gh, e, o := scheduled(t, closesLater+"  - {id: other, on: issues.closed, then: [{close_issue: {after: 72h}}]}\n  - {id: r, on: schedule, scan: 'is:open label:bug', then: [{add_label: triage}]}\n")
			gh.Repo(sweepRepo).AddComment(1, "mona", "no")
			due(t, o.Memory.Store, longAgo, allVetoes...)
			_, err := memory.Update(t.Context(), o.Memory.Store, sweepRepo, 1, func(r *memory.Record) error {
				c, _ := r.Planned("old")
				c.Rule = "other"
				r.Plan(c)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			want := "2 of them dropped, 1 decided, 0 failed, 3 reports"
			if reactions != nil {
				o.Host.Issues = stubbornHost{Issues: o.Host.Issues, timeline: func() (triage.Timeline, error) { return triage.Timeline{}, reactions }}
				want = "0 of them dropped, 1 decided, 1 failed, 2 reports"
			}
			s, _ := sweep(t, o, e)
			if got := fmt.Sprintf("%d of them dropped, %d decided, %d failed, %d reports", s.Dropped, s.Decided, s.Failed, len(s.Reports)); got != want {
				t.Errorf("got %s, want %s; %+v", got, want, s.Reports)
			}
		})
	}
}

// TestSweepMemory uses memories that do not list scheduled closes, or list wrong ones.
func TestSweepMemory(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name      string
		config    string
		store     func(memory.Agenda) memory.Store
		byDefault bool
		warning   string
	}{
		{"none", closesLater, func(memory.Agenda) memory.Store { return nil }, false, ""},
		{"no agenda", closesLater, func(s memory.Agenda) memory.Store { return struct{ memory.Store }{s} }, false, ""},
		{"denied", closesLater, func(s memory.Agenda) memory.Store { return blind{s} }, false, "memory: denied; due closes wait for the next run"},
		{"denied by default", closesLater, func(s memory.Agenda) memory.Store { return blind{s} }, true, "memory: denied; due closes wait for the next run"},
		{"denied, and nobody cares", scansBugs, func(s memory.Agenda) memory.Store { return blind{s} }, true, ""},
		{"wrong hints", closesLater, func(s memory.Agenda) memory.Store { return hasty{s} }, false, "memory: could not search all records for due closes; some may be late or missed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, e, o := scheduled(t, tt.config)
			keepIn(&o, tt.store(o.Memory.Store.(memory.Agenda)))
			o.Memory.Implicit = tt.byDefault
			s, err := sweep(t, o, e)
			if got := strings.Join(s.Warnings, "\n"); err != nil || got != tt.warning || s.Dropped > 0 {
				t.Errorf("got %q, %v, want %q", got, err, tt.warning)
			}
		})
	}
}

// TestSweepAgendaAlone checks that due closes are ignored if there is no store with their records.
func TestSweepAgendaAlone(t *testing.T) {
	t.Parallel()
	_, e, o := scheduled(t, closesLater)
	due(t, o.Memory.Store, longAgo)
	o.Memory.Store = nil
	if s, err := sweep(t, o, e); err != nil || len(s.Reports) != 0 {
		t.Errorf("got %+v, %v", s, err)
	}
}

// TestSweepAgent checks that a scheduled run asks the agent only if agent.when names the schedule.
func TestSweepAgent(t *testing.T) {
	t.Parallel()
	for when, want := range map[string]int{
		"": 0, "agent: {when: true}\n": 0, "agent: {when: 'event.name == \"schedule\"'}\n": 1,
		"agent: {when: 'event.name == \"schedule\" and label(\"nobody\")'}\n": 0,
	} {
		t.Run(when, func(t *testing.T) {
			t.Parallel()
			_, e, o := scheduled(t, when+"rules:\n  - {id: r, on: schedule, scan: 'is:open', when: label(\"nobody\"), then: [{add_label: triage}]}\n")
			asked := 0
			o.Agent.Agent = answers(&asked, protocol.LabelAndRespond, labelDocs)
			if _, err := sweep(t, o, e); err != nil || asked != want {
				t.Errorf("asked %d times, %v, want %d", asked, err, want)
			}
		})
	}
}

// TestSweepTasks checks that each issue has its own task id, which is the same in every attempt.
func TestSweepTasks(t *testing.T) {
	t.Parallel()
	gh, e, o := scheduled(t, scansBugs)
	gh.Repo(sweepRepo).AddIssue(githubtest.Issue{Number: 2, Labels: []string{"bug"}})
	first, err := sweep(t, o, e)
	if err != nil || len(first.Reports) != 2 || first.Reports[0].TaskID == first.Reports[1].TaskID || first.Executed != 2 {
		t.Fatalf("got %+v, %v", first, err)
	}
	o.Task.First = false
	again, err := sweep(t, o, e)
	if err != nil || len(again.Reports) != 2 || again.Reports[0].TaskID != first.Reports[0].TaskID {
		t.Errorf("again: got %+v, %v", again, err)
	}
	o.Task.ID = strings.Replace(runTask, "a3", "b4", 1)
	if other, err := sweep(t, o, e); err != nil || other.Reports[0].TaskID == first.Reports[0].TaskID {
		t.Errorf("another run: got %+v, %v", other, err)
	}
}

// TestSweepNeeds checks the error for each missing option.
func TestSweepNeeds(t *testing.T) {
	t.Parallel()
	_, e, o := scheduled(t, scansBugs)
	host := o.Host
	o.Host, o.DryRun = runner.Host{}, true
	if s, err := sweep(t, o, e); !errors.Is(err, triage.ErrNeedsHost) || s.Status != runner.StatusFailed {
		t.Errorf("no host: got %v, %s", err, s.Status)
	}
	o.Host = runner.Host{Issues: host.Issues, Repository: host.Repository}
	if _, err := sweep(t, o, e); err == nil || err.Error() != "search for issues: the host cannot search" {
		t.Errorf("no scanner: got %v", err)
	}
	o.Host = host
	if _, err := run(t, o, e); err == nil || !strings.Contains(err.Error(), "use Sweep") {
		t.Errorf("Run: got %v", err)
	}
}

// TestSweepStops checks that no further issue is started after the run is asked to stop.
func TestSweepStops(t *testing.T) {
	t.Parallel()
	gh, e, o := scheduled(t, scansBugs)
	r, err := runner.New(o.Options)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if s, err := r.Sweep(ctx, o.Task, e); !errors.Is(err, context.Canceled) || s.Executed != 0 || len(gh.Log()) != 0 {
		t.Errorf("got %v, %+v, %v", err, s, gh.Log())
	}
}

// TestSearchLimited checks that the remaining issues are left to the next run if no more searches
// are allowed.
func TestSearchLimited(t *testing.T) {
	t.Parallel()
	gh, e, o := scheduled(t, scansBugs+"  - {id: s, on: schedule, scan: 'is:open label:docs no:assignee', then: [{add_label: triage}]}\n")
	gh.Fault(githubtest.Fault{Method: "GET", Path: "/search/issues", Nth: 2, Status: 403, Header: map[string]string{"Retry-After": "3000"}, Times: 9})
	s, err := sweep(t, o, e)
	if err != nil || s.Status != runner.StatusSkipped || s.Failed != 0 || s.Found != 1 || s.Left != 1 {
		t.Errorf("got %+v, %v", s, err)
	}
	if got := strings.Join(s.Warnings, "\n"); !strings.HasPrefix(got, `scan "is:open label:docs no:assignee": `) || !strings.HasSuffix(got, "; the remaining issues wait for the next run") {
		t.Errorf("got the warnings %q", got)
	}
}

// TestSweepLists checks that one list of the open issues replaces several searches, if it needs no
// more calls. The decisions and their order must be the same.
func TestSweepLists(t *testing.T) {
	t.Parallel()
	const two = "rules:\n  - {id: p, on: schedule, scan: 'is:open is:pr -label:done', then: [{add_label: triage}]}\n" +
		"  - {id: i, on: schedule, scan: 'is:issue is:open label:\"bug\"', then: [{add_label: triage}]}\n"
	list, search := "GET /repos/"+sweepRepo+"/issues 200", "GET /search/issues 200"
	tests := []struct {
		name   string
		config string
		open   int // number of further open issues
		fault  githubtest.Fault
		reads  []string
	}{
		{name: "one page", config: two, reads: []string{list}},
		{name: "two pages for two searches", config: two, open: 150, reads: []string{list, list}},
		{name: "more pages than searches", config: two, open: 250, reads: []string{list, search, search}},
		{
			name: "an unreadable list", config: two, fault: githubtest.Fault{Path: "/repos/" + sweepRepo + "/issues", Status: 403},
			reads: []string{"GET /repos/" + sweepRepo + "/issues 403", search, search},
		},
		{name: "one search", config: strings.Replace(two, "is:issue is:open", "is:issue is:open no:assignee", 1), reads: []string{search, search}},
		{
			name:   "a search that needs more",
			config: two + "  - {id: n, on: schedule, scan: 'is:open no:assignee label:bug', then: [{add_label: triage}]}\n",
			reads:  []string{list, search},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			gh, e, o := scheduled(t, tt.config)
			r := gh.Repo(sweepRepo).AddLabel("done")
			r.AddIssue(githubtest.Issue{Number: 2, PullRequest: true}).AddIssue(githubtest.Issue{Number: 3, PullRequest: true, Labels: []string{"Done"}})
			r.AddIssue(githubtest.Issue{Number: 4, Labels: []string{"docs"}}).AddIssue(githubtest.Issue{Number: 5, Labels: []string{"Bug"}, State: "closed"})
			r.AddIssue(githubtest.Issue{Number: 6, PullRequest: true}).AddIssue(githubtest.Issue{Number: 7, Labels: []string{"BUG"}})
			for n := range tt.open {
				r.AddIssue(githubtest.Issue{Number: 100 + n})
			}
			gh.Advance(time.Hour)
			r.LabelAs("mona", 2, "docs") // the last change on the fake
			if tt.fault.Path != "" {
				gh.Fault(tt.fault)
			}
			s, err := sweep(t, o, e)
			var decided []int
			for _, rep := range s.Reports {
				decided = append(decided, rep.Issue)
			}
			if diff := cmp.Diff([]int{2, 6, 1, 7}, decided); diff != "" || err != nil || s.Executed != 4 || len(s.Warnings) != 0 {
				t.Errorf("%v, %+v, decided on (-want +got):\n%s", err, s, diff)
			}
			var reads []string
			for _, line := range gh.Log() {
				if strings.HasPrefix(line, "GET /search/") || strings.HasPrefix(line, "GET /repos/"+sweepRepo+"/issues ") {
					reads = append(reads, line)
				}
			}
			if diff := cmp.Diff(tt.reads, reads); diff != "" {
				t.Errorf("reads (-want +got):\n%s", diff)
			}
		})
	}
}

// A noCursors store cannot read the record of the repository.
type noCursors struct{ memory.Agenda }

func (s noCursors) Load(ctx context.Context, repo string, issue int) (memory.Record, error) {
	if issue == memory.Repository {
		return memory.Record{}, errors.New("the disk is gone")
	}
	return s.Agenda.Load(ctx, repo, issue)
}

// TestSweepContinues runs scans that find more issues than one run examines.
func TestSweepContinues(t *testing.T) {
	t.Parallel()
	const (
		most = "policy: {max_scanned_issues: 3}\nrules:\n"
		bugs = "  - {id: b, on: schedule, scan: 'is:open label:bug no:assignee', then: [{add_label: triage}]}\n"
		docs = "  - {id: d, on: schedule, scan: 'is:open label:docs no:assignee', then: [{add_label: triage}]}\n"
	)
	tests := []struct {
		name   string
		config string
		budget int           // the calls of the token that are left at the beginning of each run; 0: unknown
		pause  time.Duration // between the creation of two issues
		setup  func(o *options)
		want   string // the examined issues of each run
		report string // the end of the last run's warning
	}{
		{name: "days apart", config: most + bugs, pause: 24 * time.Hour, want: "1 2 3, 4 5, 6 7, 8 1 2, 3 4", report: "finds 8 issues, and this run examined 2 of them (policy.max_scanned_issues), up to #4 of "},
		{name: "its own dates", config: most + strings.Replace(bugs, "no:assignee", "created:>=2020-01-01", 1), pause: 24 * time.Hour, want: "1 2 3, 4 5 6, 7 8 1", report: "; the next run continues there"},
		{name: "one day", config: most + bugs, want: "1 2 3, 4 5 6, 7 8 1, 2 3", report: "; the next run continues there"},
		{name: "listed", config: most + "  - {id: b, on: schedule, scan: ['is:open label:bug', 'is:pr is:open label:bug'], then: [{add_label: triage}]}\n", want: "1 2 3, 4 5 6, 7 8 1", report: "; the next run continues there"},
		{name: "two scans", config: most + bugs + docs, want: "1 2 11, 3 4 12, 5 6 13, 7 8 11", report: "; the next run continues there"},
		{name: "few calls left", config: strings.Replace(most, "3", "50", 1) + strings.Replace(bugs, "then:", "when: author.issues > 99, then:", 1), budget: 104,
			want: "1 2 3 4 5, 1 6 7 8 2, 1 3 4 5 6", report: "finds 8 issues, and this run examined 5 of them (then it stopped), up to #6 of "},
		{name: "few calls left for the look-ups", config: strings.Replace(most, "3", "50", 1) + strings.Replace(bugs, "then:", `when: author.merged_pulls + author.closed_pulls > 99 and contrib.score > 0, then:`, 1), budget: 160,
			setup: func(o *options) { keepIn(o, noCursors{memory.New()}) }, want: "1 2 3 4 5 6 7 8, 1 2 3 4 5 6 7 8", report: "the scans begin with the oldest issues"},
		{name: "enough calls left for two look-ups", config: strings.Replace(most, "3", "50", 1) + strings.Replace(bugs, "then:", `when: author.merged_pulls + author.issues > 99 and contrib.score > 0, then:`, 1), budget: 160,
			setup: func(o *options) { keepIn(o, noCursors{memory.New()}) }, want: "1 2 3 4 5 6 7 8, 1 2 3 4 5 6 7 8"},
		{name: "enough calls left", config: strings.Replace(most, "3", "50", 1) + strings.Replace(bugs, "then:", "when: author.issues > 99, then:", 1), budget: 200,
			setup: func(o *options) { keepIn(o, noCursors{memory.New()}) }, want: "1 2 3 4 5 6 7 8, 1 2 3 4 5 6 7 8"},
		{name: "exempt", config: most + "  - {id: b, on: schedule, scan: 'is:open no:assignee', when: 'not any_label(\"bug\", \"x*\")', then: [{add_label: triage}]}\n", want: "11 12 13, 11 12 13"},
		{name: "exempt in a later attempt", config: most + "  - {id: b, on: schedule, scan: 'is:open no:assignee', when: 'not any_label(\"bug\", \"x*\")', then: [{add_label: triage}]}\n",
			setup: func(o *options) { o.Task.First = false }, want: "1 2 3, 4 5 6", report: "; the next run continues there"},
		{name: "exempt, and undone", config: most + "  - {id: b, on: schedule, scan: 'is:open no:assignee', else_undo: true, when: 'not any_label(\"bug\", \"x*\")', then: [{add_label: triage}]}\n",
			want: "1 2 3, 4 5 6", report: "; the next run continues there"},
		{name: "its own sort", config: most + strings.Replace(bugs, "no:assignee", "sort:created-asc", 1), want: "8 7 6, 8 7 6", report: "; it has its own sort, so every run begins with the same issues: narrow the search"},
		{name: "no memory", config: most + bugs, setup: func(o *options) { o.Memory = runner.Memory{} }, want: "1 2 3, 1 2 3", report: "; no memory stores that, so every run begins with the oldest issues: narrow the search, or configure a memory"},
		{name: "dry run", config: most + bugs, setup: func(o *options) { o.DryRun = true }, want: "1 2 3, 1 2 3", report: "; a dry run does not store that"},
		{name: "unreadable", config: most + bugs, setup: func(o *options) { keepIn(o, noCursors{memory.New()}) }, want: "1 2 3, 1 2 3", report: "; the next run examines the same issues again"},
		{name: "all", config: strings.Replace(most, "3", "8", 1) + bugs, setup: func(o *options) { keepIn(o, noCursors{memory.New()}) }, want: "1 2 3 4 5 6 7 8, 1 2 3 4 5 6 7 8"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			gh, e, o := scheduled(t, tt.config)
			if tt.setup != nil {
				tt.setup(&o)
			}
			r := gh.Repo(sweepRepo)
			for n := 2; n <= 8; n++ {
				gh.Advance(tt.pause)
				r.AddIssue(githubtest.Issue{Number: n, Labels: []string{"bug", "triage"}})
			}
			for n := 11; n <= 13; n++ {
				r.AddIssue(githubtest.Issue{Number: n, Labels: []string{"docs", "triage"}})
			}
			wanted := strings.Split(tt.want, ", ")
			var warnings string
			for _, want := range wanted {
				if tt.budget > 0 {
					gh.SetBudget(tt.budget)
					host, err := github.New(github.Options{BaseURL: gh.URL, Token: "t", Sleep: noSleep})
					if err != nil {
						t.Fatal(err)
					}
					o.Host = runner.HostOf(host)
				}
				s, err := sweep(t, o, e)
				var numbers []string
				for _, rep := range s.Reports {
					numbers = append(numbers, fmt.Sprint(rep.Issue))
				}
				warnings = strings.Join(s.Warnings, "\n")
				if got := strings.Join(numbers, " "); got != want || err != nil {
					t.Fatalf("examined %s, %v, want %s of %s\n%s", got, err, want, tt.want, warnings)
				}
			}
			if !strings.Contains(warnings, tt.report) || (tt.report == "") != (warnings == "") {
				t.Errorf("got the warnings:\n%s\nwant: %s", warnings, tt.report)
			}
		})
	}
}

// TestShadowSweep checks that shadow mode decides, but writes nothing to issues or to the memory.
func TestShadowSweep(t *testing.T) {
	t.Parallel()
	gh, e, o := scheduled(t, "mode: shadow\n"+closesLater)
	due(t, o.Memory.Store, longAgo)
	s, err := sweep(t, o, e)
	if err != nil || s.Status != runner.StatusDryRun || s.Closed+s.Dropped != 0 || gh.Issue(sweepRepo, 1).State != "open" {
		t.Errorf("got %+v, %v", s, err)
	}
	if r, err := o.Memory.Store.Load(t.Context(), sweepRepo, 1); err != nil || len(r.Closings) != 1 || r.Revision != 1 {
		t.Errorf("got %+v, %v", r, err)
	}
}

// TestSweepCut interrupts a run after every call in turn, and before or after the effect of every
// write. The next attempt must make the remaining writes, and none twice.
func TestSweepCut(t *testing.T) {
	t.Parallel()
	const config = closesLater + "  - {id: r, on: schedule, scan: 'is:open label:docs', then: [{add_label: triage}, {comment: hello}]}\n"
	for n := range 16 {
		for _, how := range []string{"at", "before", "after"} {
			t.Run(fmt.Sprint(how, n), func(t *testing.T) {
				t.Parallel()
				gh, e, o := scheduled(t, config)
				repo := gh.Repo(sweepRepo).AddIssue(githubtest.Issue{Number: 2, Labels: []string{"docs"}})
				repo.AddIssue(githubtest.Issue{Number: 3, Labels: []string{"docs"}})
				due(t, o.Memory.Store, longAgo, allVetoes...)
				switch how {
				case "at":
					gh.CutAt(n)
				case "before":
					gh.Fault(githubtest.Fault{Path: "/repos/*/*/issues/*/*", Nth: n + 1, CutBefore: true})
				case "after":
					gh.Fault(githubtest.Fault{Method: "POST", Nth: n + 1, CutAfter: true})
					gh.Fault(githubtest.Fault{Method: "PATCH", Nth: n + 1, CutAfter: true})
				}
				_, _ = sweep(t, o, e)
				gh.ClearFaults()
				o.Task.First = false
				if s, err := sweep(t, o, e); err != nil {
					t.Fatalf("%+v, %v", s, err)
				}
				if i := gh.Issue(sweepRepo, 1); i.State != "closed" {
					t.Errorf("issue 1 is %s", i.State)
				}
				for _, number := range []int{2, 3} {
					if i := gh.Issue(sweepRepo, number); len(i.Comments) != 1 || strings.Join(i.Labels, " ") != "docs triage" {
						t.Errorf("issue %d: got %v and %d comments", number, i.Labels, len(i.Comments))
					}
				}
				if r, err := o.Memory.Store.Load(t.Context(), sweepRepo, 1); err != nil || len(r.Closings) != 0 {
					t.Errorf("got %+v, %v", r.Closings, err)
				}
			})
		}
	}
}

// A losingBatch reports at the end of a run that another run has replaced the record of issue 1.
type losingBatch struct {
	memory.Agenda

	deferred bool
	err      error
}

func (b *losingBatch) Defer() { b.deferred = true }

func (b *losingBatch) Settle(ctx context.Context) ([]int, error) {
	b.deferred = false
	_, err := memory.Update(ctx, b.Agenda, sweepRepo, 1, func(r *memory.Record) error {
		r.Tasks = []memory.Task{{ID: "another", By: "rules"}}
		return nil
	})
	return []int{1}, errors.Join(err, b.err)
}

// TestSweepBatch checks that records are saved again after a conflict with another run, and that
// there is a warning if records are not stored.
func TestSweepBatch(t *testing.T) {
	t.Parallel()
	for _, broken := range []error{nil, errors.New("the medium is full")} {
		_, e, o := scheduled(t, scansBugs)
		b := &losingBatch{Agenda: o.Memory.Store.(memory.Agenda), err: broken}
		keepIn(&o, b)
		o.Memory.Batch = b
		s, err := sweep(t, o, e)
		if err != nil || s.Executed != 1 || b.deferred {
			t.Fatalf("got %+v, %v", s, err)
		}
		if got := strings.Join(s.Warnings, "\n"); (got != "") != (broken != nil) || broken != nil && !strings.Contains(got, broken.Error()) {
			t.Errorf("got the warnings %q", got)
		}
		r, err := b.Load(t.Context(), sweepRepo, 1)
		if err != nil || len(r.Tasks) != 2 || r.Tasks[0].ID != "another" || r.Tasks[1].ID != s.Reports[0].TaskID {
			t.Errorf("got %+v, %v", r.Tasks, err)
		}
	}
}

// TestSweepReads checks that an issue and its timeline are read again only if there is work to do.
// An issue that changed since the search is skipped.
func TestSweepReads(t *testing.T) {
	t.Parallel()
	const rules = `rules:
  - {id: r, on: schedule, scan: 'is:open', when: 'idle() > duration("60d") and not label("triage")', then: [{add_label: triage}]}
`
	gh, e, o := scheduled(t, rules)
	now := o.Clock.Now()
	repo := gh.Repo(sweepRepo)
	repo.AddIssue(githubtest.Issue{Number: 1, CreatedAt: now.AddDate(0, 0, -10)})
	for n, days := range map[int]int{2: 59, 3: 61, 4: 100} {
		repo.AddIssue(githubtest.Issue{Number: n, CreatedAt: now.AddDate(0, 0, -days)})
	}
	repo.LagSearch(4).CloseAs("mona", 4, "")
	gh.ResetCalls()
	s, err := sweep(t, o, e)
	if err != nil || s.Found != 4 || s.Executed != 1 {
		t.Fatalf("got %+v, %v", s, err)
	}
	var got []string
	for _, line := range gh.Log() {
		got = append(got, strings.TrimPrefix(line, "GET /repos/"+sweepRepo+"/"))
	}
	want := []string{
		"GET /search/issues 200", "issues/4 200", "issues/3 200", "issues/3/timeline 200", "labels/triage 200",
		"POST /repos/" + sweepRepo + "/issues/3/labels 200",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

// TestSweepWarnsOnce checks that warnings of the first look are reported once, if the issue is then
// written.
func TestSweepWarnsOnce(t *testing.T) {
	t.Parallel()
	_, e, o := scheduled(t, "rules:\n  - {id: r, on: schedule, scan: 'is:open', when: 'memory.tasks == 0', then: [{add_label: triage}]}\n")
	keepIn(&o, unreadable{o.Memory.Store.(memory.Agenda)})
	s, err := sweep(t, o, e)
	if err != nil || s.Executed != 1 || len(s.Warnings) != 1 || !strings.HasPrefix(s.Warnings[0], "#1: ") || !strings.Contains(s.Warnings[0], "the disk is gone") {
		t.Errorf("got %+v, %v", s, err)
	}
}

// TestSweepStatus checks the result of a scheduled run on two issues.
func TestSweepStatus(t *testing.T) {
	t.Parallel()
	locked := func(n ...int) func(*githubtest.Server) {
		return func(gh *githubtest.Server) {
			for _, i := range n {
				gh.Repo(sweepRepo).LockAs("mona", i, "")
			}
		}
	}
	fault := func(f githubtest.Fault) func(*githubtest.Server) {
		return func(gh *githubtest.Server) { gh.Fault(f) }
	}
	const refused = "comment was refused by GitHub: 403 Forbidden: Unable to create comment because issue is locked."
	comments := "/repos/" + sweepRepo + "/issues/*/comments"
	tests := []struct {
		name     string
		change   func(*githubtest.Server)
		status   runner.Status
		executed int
		left     int
		refused  int // issues in the warning, which lists each
	}{
		{"done", locked(), runner.StatusApplied, 2, 0, 0},
		{"one refused", locked(2), runner.StatusPartial, 1, 0, 1},
		{"all refused", locked(1, 2), runner.StatusDone, 0, 0, 2},
		{"one failed", fault(githubtest.Fault{Method: "POST", Path: comments, Status: 422, Nth: 1, Times: 1}), runner.StatusPartial, 1, 0, 0},
		{"one disappeared", func(gh *githubtest.Server) { gh.Repo(sweepRepo).LagSearch(2).DeleteIssue(2) }, runner.StatusApplied, 1, 0, 0},
		{
			"limited", fault(githubtest.Fault{Method: "GET", Path: "/repos/" + sweepRepo + "/issues/*", Status: 403, Times: -1, Header: map[string]string{"Retry-After": "3600"}, Body: `{"message":"You have exceeded a secondary rate limit"}`}),
			runner.StatusSkipped, 0, 2, 0,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			gh, e, o := scheduled(t, "rules:\n  - {id: r, on: schedule, scan: 'is:open', then: [{comment: hello}]}\n")
			gh.Repo(sweepRepo).AddIssue(githubtest.Issue{Number: 2})
			tt.change(gh)
			s, err := sweep(t, o, e)
			if s.Status != tt.status || s.Executed != tt.executed || s.Left != tt.left || strings.Count(strings.Join(s.Warnings, "\n"), refused) != tt.refused {
				t.Errorf("got %v, %s, executed %d, left %d, warnings %q, reports %+v", err, s.Status, s.Executed, s.Left, s.Warnings, s.Reports)
			}
			if tt.left > 0 && len(s.Reports) > 0 {
				t.Errorf("got reports on issues that are left: %+v", s.Reports)
			}
		})
	}
}

// TestSweepLimitedMidway checks that a rate limit after the first action of an issue stops the run.
func TestSweepLimitedMidway(t *testing.T) {
	t.Parallel()
	gh, e, o := scheduled(t, "rules:\n  - {id: r, on: schedule, scan: 'is:open', then: [{comment: hello}, {add_label: docs}]}\n")
	gh.Repo(sweepRepo).AddIssue(githubtest.Issue{Number: 2})
	gh.Fault(githubtest.Fault{
		Method: "POST", Path: "/repos/" + sweepRepo + "/issues/*/labels", Status: 403, Times: -1,
		Header: map[string]string{"Retry-After": "3600"}, Body: `{"message":"You have exceeded a secondary rate limit"}`,
	})
	if s, err := sweep(t, o, e); err == nil || s.Executed != 1 || s.Left != 1 || len(s.Reports) != 1 {
		t.Errorf("got %+v, %v", s, err)
	}
}

// TestSweepArchived checks that the first refusal of every write to the repository stops the run.
func TestSweepArchived(t *testing.T) {
	t.Parallel()
	gh, e, o := scheduled(t, scansBugs)
	gh.Repo(sweepRepo).AddIssue(githubtest.Issue{Number: 2, Labels: []string{"bug"}})
	gh.Fault(githubtest.Fault{Method: "POST", Path: "/repos/*/*/issues/*/labels", Status: 403, Times: -1, Body: `{"message":"Repository was archived so is read-only."}`})
	s, err := sweep(t, o, e)
	if err != nil || s.Status != runner.StatusDone || len(s.Reports) != 1 || s.Left != 1 || len(written(gh)) != 1 {
		t.Errorf("got %v, %+v, writes %q", err, s, written(gh))
	}
}

// TestSweepResumes checks that a second attempt completes the decision of the first one, although the
// rule no longer applies to the issue.
func TestSweepResumes(t *testing.T) {
	t.Parallel()
	gh, e, o := scheduled(t, "rules:\n  - {id: r, on: schedule, scan: 'is:open', when: 'not any_label(\"triage\")', then: [{comment: hello}, {add_label: docs}]}\n")
	o.Memory.Journal = memory.NewJournal()
	gh.Fault(githubtest.Fault{Method: "POST", Path: "/repos/" + sweepRepo + "/issues/*/labels", Status: 400, Nth: 1})
	if s, err := sweep(t, o, e); err == nil || s.Executed != 1 {
		t.Fatalf("the first attempt: got %+v, %v", s, err)
	}
	gh.Repo(sweepRepo).LabelAs("mona", 1, "triage")
	o.Task.First = false
	s, err := sweep(t, o, e)
	if i := gh.Issue(sweepRepo, 1); err != nil || !slices.Contains(i.Labels, "docs") || len(i.Comments) != 1 {
		t.Errorf("got %+v, %v, labels %q", s, err, i.Labels)
	}
}

// TestSweepCancelled checks that a run which was asked to stop searches nothing.
func TestSweepCancelled(t *testing.T) {
	t.Parallel()
	gh, e, o := scheduled(t, "rules:\n  - {id: r, on: schedule, scan: 'is:open label:bug', then: [{add_label: triage}]}\n"+
		"  - {id: s, on: schedule, scan: 'is:open label:docs', then: [{add_label: triage}]}\n")
	o.Memory.Agenda = hasty{memory.New()}
	var log strings.Builder
	o.Log = slog.New(slog.NewTextHandler(&log, nil))
	r, err := runner.New(o.Options)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s, err := r.Sweep(ctx, o.Task, e)
	if err == nil || s.Left != 2 || len(s.Warnings) != 1 || strings.Contains(err.Error(), "scan ") || !strings.Contains(err.Error(), "the run was stopped") || s.Status != runner.StatusFailed || len(gh.Log())+log.Len() > 0 {
		t.Errorf("got %v, %+v, calls %q, log %q", err, s, gh.Log(), log.String())
	}
}

// TestCloseOfClosed checks the record after a run on an issue with a scheduled close that a person
// closed: the close is dropped, and no task of ours is invented. A dry run changes nothing.
func TestCloseOfClosed(t *testing.T) {
	t.Parallel()
	for _, dry := range []bool{false, true} {
		gh, e, o := scheduled(t, closesLater)
		due(t, o.Memory.Store, longAgo)
		gh.Repo(sweepRepo).CloseAs("mona", 1, "completed")
		o.DryRun = dry
		if s, err := sweep(t, o, e); err != nil || s.Dropped != 1 {
			t.Errorf("dry %t: got %+v, %v", dry, s, err)
		}
		r, err := o.Memory.Store.Load(t.Context(), sweepRepo, 1)
		if err != nil || len(r.Tasks) != 0 || (len(r.Closings) == 1) != dry {
			t.Errorf("dry %t: got %+v, %v", dry, r, err)
		}
	}
}

// TestCloseDropped checks that a close is dropped if its rule is gone, or if the issue disappears while
// vetoes are looked for.
func TestCloseDropped(t *testing.T) {
	t.Parallel()
	for config, want := range map[string]string{scansBugs: "there is no rule old any more", closesLater: triage.ErrGone.Error()} {
		_, e, o := scheduled(t, config)
		due(t, o.Memory.Store, longAgo, allVetoes...)
		o.Host.Issues = stubbornHost{Issues: o.Host.Issues, timeline: func() (triage.Timeline, error) { return triage.Timeline{}, triage.ErrGone }}
		s, _ := sweep(t, o, e)
		if s.Dropped != 1 || !strings.Contains(s.Reports[0].Reason, want) {
			t.Errorf("got %+v, want %q", s, want)
		}
	}
}

// TestCloseDeferred checks that a due close stays scheduled while the policy permits no further change
// of the issue.
func TestCloseDeferred(t *testing.T) {
	t.Parallel()
	s := newStory(t, strings.Replace(closesLater, "allow_close: true", "allow_close: true, max_writes_per_hour: 1", 1))
	due(t, s.o.Memory.Store, longAgo)
	s.repo.LabelAs(runner.DefaultBot, 1, "docs")
	if v := s.sweep(""); v.Closed+v.Dropped != 0 || len(s.record().Closings) != 1 {
		t.Errorf("got %+v, %+v", v, s.record())
	}
	s.pass(2 * time.Hour)
	s.sweep("scheduled close carried out")
}

// TestCloseNotDue checks that an issue is not read for a close that is not due, although the agenda
// lists it.
func TestCloseNotDue(t *testing.T) {
	t.Parallel()
	gh, e, o := scheduled(t, closesLater)
	due(t, o.Memory.Store, longAgo)
	o.Memory.Agenda = hasty{memory.New()}
	o.Clock.Now = func() time.Time { return longAgo }
	if s, err := sweep(t, o, e); err != nil || s.Waiting != 1 || len(gh.Log()) > 0 {
		t.Errorf("got %+v, %v, calls %q", s, err, gh.Log())
	}
}

// An unreadable store returns no records.
type unreadable struct{ memory.Agenda }

func (unreadable) Load(context.Context, string, int) (memory.Record, error) {
	return memory.Record{}, errors.New("the disk is gone")
}

// TestSweepProposes counts actions that were proposed, apart from those that were carried out.
func TestSweepProposes(t *testing.T) {
	t.Parallel()
	_, e, o := scheduled(t, "policy: {approve: [comment]}\nrules:\n  - {id: r, on: schedule, scan: 'is:open', then: [{comment: hello}]}\n")
	s, err := sweep(t, o, e)
	got := fmt.Sprintf("%s: executed %d, suggested %d; %s", s.Status, s.Executed, s.Suggested, s.Reason)
	if want := "suggested: executed 0, suggested 1; 1 issue found, 0 actions carried out, 1 action proposed"; err != nil || got != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
	o.DryRun = true
	s, err = sweep(t, o, e)
	if err != nil || s.Suggested != 0 || s.Status == runner.StatusSuggested {
		t.Errorf("dry run: got %s, suggested %d, %v", s.Status, s.Suggested, err)
	}
}

// TestSweepProposesOnFew begins to propose on a tenth of the issues that a run may look at. Issues on which
// it proposes nothing, or that have the comment already, do not count.
func TestSweepProposesOnFew(t *testing.T) {
	t.Parallel()
	config := func(rules string) string {
		return "policy: {approve: [comment, close_issue], allow_close: true, max_scanned_issues: 10}\nrules:\n" + rules
	}
	const labels = "  - {id: l, on: schedule, scan: 'is:open', when: 'issue.number == 1', then: [{add_label: docs}]}\n"
	const comments = "  - {id: c, on: schedule, scan: 'is:open', when: 'issue.number != 1', then: [{comment: hello}]}\n"
	const more = "  - {id: m, on: schedule, scan: 'is:open', when: 'issue.number != 1', then: [close_issue]}\n"
	gh, e, o := scheduled(t, config(labels+comments))
	for n := 2; n <= 4; n++ {
		gh.Repo(sweepRepo).AddIssue(githubtest.Issue{Number: n})
	}
	for i, want := range []string{"executed 1, suggested 1, left 2", "executed 0, suggested 3, left 1", "executed 0, suggested 2, left 0"} {
		o.Task = runner.TaskIdentity{ID: protocol.DeriveTaskID("sweep", strconv.Itoa(i)), First: true}
		s, err := sweep(t, o, e)
		if got := fmt.Sprintf("executed %d, suggested %d, left %d", s.Executed, s.Suggested, s.Left); err != nil || got != want {
			t.Errorf("run %d: got %s, %v, want %s", i+1, got, err, want)
		}
		_, _, next := scheduled(t, config(labels+comments+more))
		o.Config = next.Config
	}
}
