package judging_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/harness/observe"
	"github.com/org/foreman-action/internal/postgrestest"
	"github.com/org/foreman-action/internal/server/judging"
	"github.com/org/foreman-action/internal/server/supervisor"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/policy"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/runner/unimplemented"
	"github.com/org/foreman-action/store/postgres"
	"github.com/org/foreman-action/store/sqlite"
	"github.com/org/foreman-action/triage"
)

// A world is GitHub: each issue has a label that Foreman added, and a person commented on it an hour later. On
// the issues that are wrong the person took the label off.
type world struct {
	runner.Issues
	unimplemented.Search

	mu     sync.Mutex
	wrong  map[int]bool
	left   int // calls of the hour; 0: not reported
	limit  int // of the hour; 0: not reported
	down   bool
	byHand time.Time // when a person labelled each issue, and not Foreman; zero: never
	reads  []string  // "owner/name#1", for each issue that was read
}

var errDown = errors.New("GitHub is down")

// addedOn returns when Foreman labelled an issue: one issue a day, from the first of January 1999.
func addedOn(issue int) time.Time { return time.Date(1999, 1, issue, 12, 0, 0, 0, time.UTC) }

func (w *world) Issue(_ context.Context, ref triage.Ref) (triage.Snapshot, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reads = append(w.reads, fmt.Sprintf("%s/%s#%d", ref.Owner, ref.Repo, ref.Number))
	w.left = max(0, w.left-2)
	if w.down {
		return triage.Snapshot{}, errDown
	}
	i := triage.Issue{Number: ref.Number, Author: fmt.Sprint("author-", ref.Number), Association: "NONE", State: "open"}
	if !w.wrong[ref.Number] {
		i.Labels = []string{"bug"}
	}
	return triage.Snapshot{Issue: i}, nil
}

func (w *world) Timeline(_ context.Context, ref triage.Ref) (triage.Timeline, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := addedOn(ref.Number)
	then := triage.TimelineEvent{Kind: "commented", Actor: "mona", ActorType: "User", Association: "MEMBER", At: at.Add(time.Hour)}
	if w.wrong[ref.Number] {
		then = triage.TimelineEvent{Kind: "unlabeled", Actor: "mona", ActorType: "User", Label: "bug", At: at.Add(time.Hour)}
	}
	if !w.byHand.IsZero() {
		return triage.Timeline{Complete: true, Events: []triage.TimelineEvent{{Kind: "labeled", Actor: "mona", ActorType: "User", Label: "bug", At: w.byHand}}}, nil
	}
	return triage.Timeline{Complete: true, Events: []triage.TimelineEvent{{Kind: "labeled", Actor: runner.DefaultBot, ActorType: "Bot", Label: "bug", At: at}, then}}, nil
}

func (w *world) calls() (left, limit int, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.left, w.limit, w.left > 0
}

// change changes the world.
func (w *world) change(f func(w *world)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f(w)
}

// read returns how many issues of a repository were read since the last call.
func (w *world) read(repo string) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var rest []string
	for _, r := range w.reads {
		if strings.HasPrefix(r, repo+"#") {
			n++
		} else {
			rest = append(rest, r)
		}
	}
	w.reads = rest
	return n
}

// label records that Foreman labelled issues of a repository.
func label(t *testing.T, s memory.Store, repo string, from, to int) {
	t.Helper()
	for issue := from; issue <= to; issue++ {
		_, err := memory.Update(t.Context(), s, repo, issue, func(r *memory.Record) error {
			r.Put(memory.Task{ID: fmt.Sprint("task-", issue), At: addedOn(issue), By: "rules", Actions: []memory.Action{
				{Type: "add_label", Values: []string{"bug"}, Rule: "crash", Pair: "rule:00ff", Result: triage.Done},
			}})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// A database is what servers share.
type database struct {
	memory  memory.Agenda
	cursors judging.Cursors
	pauses  queue.Pauses
	lead    func(ctx context.Context, name string, f func(context.Context) error) error
}

// cursors are Cursors in memory. err is the error of each call.
type cursors struct {
	all sync.Map
	err error
}

func (c *cursors) Cursor(_ context.Context, name string) ([]byte, error) {
	data, _ := c.all.Load(name)
	stored, _ := data.([]byte)
	return stored, c.err
}

func (c *cursors) SaveCursor(_ context.Context, name string, data []byte) error {
	c.all.Store(name, data)
	return c.err
}

func inMemory() database {
	return database{memory: memory.New(), cursors: &cursors{}, pauses: queue.New(queue.Options{})}
}

// A server is a Judger that runs. Its log and its observations can be read.
type server struct {
	*judging.Judger

	stop func()
	mu   sync.Mutex
	text strings.Builder
	seen map[string]int // by event, status and repository
}

func (s *server) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *server) log() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// saw returns the sum of the observations of a kind.
func (s *server) saw(e observe.Event, status, repo string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen[fmt.Sprint(e, status, repo)]
}

// serve starts a server that judges repositories with the default policy and earned permissions. alter may
// change its options.
func serve(t *testing.T, w *world, d database, alter func(*judging.Options), repos ...string) *server {
	t.Helper()
	s := &server{seen: map[string]int{}}
	o := judging.Options{
		Repos: repos, Cursors: d.cursors, Pauses: d.pauses, Lead: d.lead, Log: slog.New(slog.NewTextHandler(s, nil)),
		Runner: func(context.Context, triage.Repo) (*runner.Runner, func() (int, int, bool), error) {
			r, err := runner.New(runner.Options{
				Config: &config.Config{Mode: config.ModeApply, Policy: policy.Policy{Earned: true, JudgeReads: 100}}, Host: runner.Host{Issues: w, Repository: unimplemented.Repository{}, Search: w},
				Memory: runner.Memory{Store: d.memory, Agenda: d.memory},
			})
			return r, w.calls, err
		},
		Observe: func(o observe.Observation) {
			s.mu.Lock()
			defer s.mu.Unlock()
			key := fmt.Sprint(o.Event, o.Status, o.Repo)
			if s.seen[key] += o.N; o.Event == observe.JudgingWaits {
				s.seen[key] = o.N
			}
		},
	}
	if alter != nil {
		alter(&o)
	}
	j, err := judging.New(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan struct{})
	go func() {
		defer close(done)
		j.Run(ctx)
	}()
	s.Judger = j
	s.stop = sync.OnceFunc(func() {
		cancel()
		<-done
	})
	t.Cleanup(s.stop)
	return s
}

// kept returns how many outcomes of the label in a repository were counted.
func kept(t *testing.T, s memory.Store, repo string) (p memory.Pair) {
	t.Helper()
	r, err := s.Load(t.Context(), repo, memory.Repository)
	if err != nil && !errors.Is(err, memory.ErrNotFound) {
		t.Fatal(err)
	}
	p, _ = r.Outcomes.Pair(memory.PairKey{Source: "rule:00ff", Action: "add_label", Value: "bug"})
	return p
}

// TestJudges judges the actions of two repositories, an hour after an hour, and reports the permission that a
// rule earns and loses.
func TestJudges(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, d := &world{wrong: map[int]bool{}}, inMemory()
		label(t, d.memory, "o/a", 1, 60)
		label(t, d.memory, "o/b", 1, 10)
		for issue := 52; issue <= 60; issue += 2 {
			w.wrong[issue] = true
		}
		s := serve(t, w, d, nil, "o/a", "o/b", "O/A")
		time.Sleep(30 * time.Minute)
		if a, b := w.read("o/a"), w.read("o/b"); a != 50 || b != 10 {
			t.Errorf("after the first pass %d and %d issues were read, want 50 and 10", a, b)
		}
		if n := s.saw(observe.JudgingWaits, "", "o/a"); n != 10 {
			t.Errorf("%d issues wait, want 10", n)
		}
		if p := kept(t, d.memory, "o/a"); p.Kept != 50 || p.Granted.IsZero() {
			t.Errorf("got %+v", p)
		}
		time.Sleep(time.Hour)
		if a, b := w.read("o/a"), w.read("o/b"); a != 10 || b != 0 {
			t.Errorf("the second pass read %d and %d issues, want 10 and 0", a, b)
		}
		if p := kept(t, d.memory, "o/a"); !p.Granted.IsZero() || p.Lost.IsZero() {
			t.Errorf("got %+v", p)
		}
		for _, tt := range []struct {
			event  observe.Event
			status string
			want   int
		}{
			{observe.PermissionChanged, "granted", 1}, {observe.PermissionChanged, "lost", 1}, {observe.ActionsJudged, "undone", 5},
			{observe.ActionsJudged, "other", 55}, {observe.JudgingWaits, "", 0},
		} {
			if got := s.saw(tt.event, tt.status, "o/a"); got != tt.want {
				t.Errorf("observed %d of %d %s, want %d", got, tt.event, tt.status, tt.want)
			}
		}
		for _, want := range []string{
			"level=INFO msg=\"permission earned: the action is carried out from now on\" repo=o/a source=rule:00ff rule=crash action=add_label value=bug since=2000-01-01T00:00:00.000Z why=\"20 of 20 were right, bound 0.88\"",
			"level=WARN msg=\"permission lost: the action is proposed to people again\" repo=o/a source=rule:00ff rule=crash action=add_label value=bug since=2000-01-01T01:00:00.000Z why=\"people undid or rejected 4 of the last 10\"",
		} {
			if strings.Count(s.log(), want) != 1 {
				t.Errorf("%q is not once in\n%s", want, s.log())
			}
		}
		time.Sleep(24 * time.Hour)
		if n := w.read("o/a"); n != 0 {
			t.Errorf("%d issues were judged again", n)
		}
		if h := s.Health(); !h.OK || !h.Optional {
			t.Errorf("got the health %+v", h)
		}
	})
}

// TestRestart checks that a server that starts again does not begin a pass before the interval has passed, and goes
// on where the last one ended.
func TestRestart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, d := &world{}, inMemory()
		label(t, d.memory, "o/a", 1, 80)
		s := serve(t, w, d, nil, "o/a")
		time.Sleep(time.Minute)
		s.stop()
		first := w.read("o/a")
		s = serve(t, w, d, nil, "o/a")
		time.Sleep(30 * time.Minute)
		if n := w.read("o/a"); n != 0 {
			t.Errorf("the second server read %d issues within the hour", n)
		}
		time.Sleep(31 * time.Minute)
		if n := w.read("o/a"); first != 50 || n != 30 || kept(t, d.memory, "o/a").Kept != 80 {
			t.Errorf("read %d and then %d issues, want 50 and 30", first, n)
		}
		s.stop()
		// The clock was set back by two years, or the cursor is damaged: the repository is due.
		for _, cursor := range []string{"2002-01-01T00:00:00Z", "\x00"} {
			label(t, d.memory, "o/a", 81, 90)
			if err := d.cursors.SaveCursor(t.Context(), "judging:o/a", []byte(cursor)); err != nil {
				t.Fatal(err)
			}
			s = serve(t, w, d, nil, "o/a")
			time.Sleep(time.Minute)
			if due, err := d.cursors.Cursor(t.Context(), "judging:o/a"); err != nil || !strings.HasPrefix(string(due), "2000-01-01T") {
				t.Errorf("after %q: got the cursor %q, %v", cursor, due, err)
			}
			s.stop()
		}
	})
}

// TestPaused checks that a repository is not judged while it is paused, or everything is.
func TestPaused(t *testing.T) {
	t.Parallel()
	for _, scope := range []queue.Scope{{Kind: queue.ScopeRepo, Name: "O/A"}, {Kind: queue.ScopeEverything}, {Kind: queue.ScopeRules}} {
		t.Run(string(scope.Kind), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w, d := &world{}, inMemory()
				label(t, d.memory, "o/a", 1, 5)
				label(t, d.memory, "o/b", 1, 5)
				if _, _, err := d.pauses.Pause(t.Context(), scope, "ada", ""); err != nil {
					t.Fatal(err)
				}
				serve(t, w, d, nil, "o/a", "o/b")
				time.Sleep(3 * time.Hour)
				wantA, wantB := 0, 5
				if scope.Kind == queue.ScopeEverything {
					wantB = 0
				}
				if scope.Kind == queue.ScopeRules {
					wantA = 5
				}
				if a, b := w.read("o/a"), w.read("o/b"); a != wantA || b != wantB {
					t.Errorf("%d and %d issues were read, want %d and %d", a, b, wantA, wantB)
				}
				if _, _, err := d.pauses.Resume(t.Context(), scope); err != nil {
					t.Fatal(err)
				}
				time.Sleep(5 * time.Minute)
				if a, b := w.read("o/a"), w.read("o/b"); a != 5-wantA || b != 5-wantB {
					t.Errorf("after the pause %d and %d issues were read", a, b)
				}
			})
		})
	}
}

// TestPauseDuringPass checks that a pause ends a pass before its next issue.
func TestPauseDuringPass(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, d := &world{}, inMemory()
		label(t, d.memory, "o/a", 1, 20)
		scope := queue.Scope{Kind: queue.ScopeRepo, Name: "o/a"}
		paused := false
		s := serve(t, w, d, func(o *judging.Options) {
			forRepo := o.Runner
			o.Runner = func(ctx context.Context, repo triage.Repo) (*runner.Runner, func() (int, int, bool), error) {
				r, _, err := forRepo(ctx, repo)
				return r, func() (int, int, bool) {
					w.mu.Lock()
					n := len(w.reads)
					w.mu.Unlock()
					if n == 7 && !paused {
						paused = true
						if _, _, err := d.pauses.Pause(ctx, scope, "ada", ""); err != nil {
							t.Error(err)
						}
					}
					return 0, 0, false
				}, err
			}
		}, "o/a")
		time.Sleep(2 * time.Hour)
		if n := w.read("o/a"); n != 7 || kept(t, d.memory, "o/a").Kept != 7 || s.saw(observe.JudgingWaits, "", "o/a") != 13 {
			t.Errorf("%d issues were read, want 7\n%s", n, s.log())
		}
		if _, _, err := d.pauses.Resume(t.Context(), scope); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		if p := kept(t, d.memory, "o/a"); p.Kept != 20 {
			t.Errorf("got %+v", p.Tally)
		}
	})
}

// TestGitHubDown checks that an operator hears of an outage, and that no outcome is lost.
func TestGitHubDown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, d := &world{down: true}, inMemory()
		label(t, d.memory, "o/a", 1, 20)
		s := serve(t, w, d, nil, "o/a")
		time.Sleep(16 * time.Minute) // after 0, 5 and 15 minutes
		if n, failed := w.read("o/a"), s.saw(observe.LoopFailed, "judging", "o/a"); n != 9 || failed != 3 {
			t.Errorf("%d issues were read and %d failures observed, want 9 and 3\n%s", n, failed, s.log())
		}
		if want := `level=WARN msg="judging actions failed; the next pass continues" repo=o/a error="judge the actions on #1: GitHub is down" failures=3 wait=20m0s`; !strings.Contains(s.log(), want) {
			t.Errorf("%s is missing in\n%s", want, s.log())
		}
		if h := s.Health(); h.OK || h.Stuck || !h.Optional || h.Reason != "judging the actions of o/a failed 3 times in a row: judge the actions on #1: GitHub is down" {
			t.Errorf("got the health %+v", h)
		}
		w.change(func(w *world) { w.down = false })
		time.Sleep(20 * time.Minute)
		if p, h := kept(t, d.memory, "o/a"), s.Health(); p.Kept != 20 || !h.OK || !strings.Contains(s.log(), "judging actions succeeded again") {
			t.Errorf("got %+v, %+v", p.Tally, h)
		}
	})
}

// TestBudgetLow checks that judging leaves a fifth of the calls to polls and decisions, and continues when there are enough.
func TestBudgetLow(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ limit, reserve int }{{0, 1000}, {5000, 1000}, {15000, 3000}, {1000, 200}, {60, 12}} {
		synctest.Test(t, func(t *testing.T) {
			w, d := &world{left: tt.reserve + 5, limit: tt.limit}, inMemory()
			label(t, d.memory, "o/a", 1, 20)
			s := serve(t, w, d, nil, "o/a")
			time.Sleep(time.Hour)
			if n := w.read("o/a"); n != 3 || kept(t, d.memory, "o/a").Kept != 3 {
				t.Errorf("of %d: %d issues were read, want 3", tt.limit, n)
			}
			if h := s.Health(); !h.OK || s.saw(observe.LoopFailed, "judging", "o/a") != 0 || !strings.Contains(s.log(), "few API calls are left") {
				t.Errorf("got %+v\n%s", h, s.log())
			}
			w.change(func(w *world) { w.left = 50000 })
			time.Sleep(16 * time.Minute)
			if p := kept(t, d.memory, "o/a"); p.Kept != 20 {
				t.Errorf("of %d: got %+v", tt.limit, p.Tally)
			}
		})
	}
}

// TestShare checks that judging takes no more than a fifth of an account's calls in an hour, however many repositories it has.
func TestShare(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, d := &world{left: 100000, limit: 1000}, inMemory()
		all := []string{"o/a", "O/b", "o/c", "p/a"}
		for _, repo := range all {
			label(t, d.memory, repo, 1, 50)
		}
		s := serve(t, w, d, nil, all...)
		read := func() (n int) {
			for _, repo := range all[:3] {
				n += w.read(repo)
			}
			return n
		}
		time.Sleep(59 * time.Minute)
		if o, p := read(), w.read("p/a"); o != 100 || p != 50 {
			t.Errorf("%d and %d issues were read, want 100 and 50\n%s", o, p, s.log())
		}
		time.Sleep(30 * time.Minute)
		if n := read(); n != 50 {
			t.Errorf("then %d issues were read, want 50", n)
		}
	})
}

// TestLostLead checks that a server that does not lead any more leaves the time of the next pass to the one that leads.
func TestLostLead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, d := &world{}, inMemory()
		label(t, d.memory, "o/a", 1, 20)
		later := []byte("2000-01-01T00:45:00Z")
		s := serve(t, w, d, func(o *judging.Options) {
			var lose context.CancelFunc
			o.Lead = func(ctx context.Context, _ string, f func(context.Context) error) error {
				ctx, lose = context.WithCancel(ctx)
				defer lose()
				return f(ctx)
			}
			forRepo := o.Runner
			o.Runner = func(ctx context.Context, repo triage.Repo) (*runner.Runner, func() (int, int, bool), error) {
				r, _, err := forRepo(ctx, repo)
				return r, func() (int, int, bool) {
					w.mu.Lock()
					defer w.mu.Unlock()
					if len(w.reads) == 7 {
						lose()
						if err := d.cursors.SaveCursor(context.WithoutCancel(ctx), "judging:o/a", later); err != nil {
							t.Error(err)
						}
					}
					return 0, 0, false
				}, err
			}
		}, "o/a")
		time.Sleep(30 * time.Minute)
		if got, err := d.cursors.Cursor(t.Context(), "judging:o/a"); err != nil || !bytes.Equal(got, later) {
			t.Errorf("got the cursor %q, %v\n%s", got, err, s.log())
		}
	})
}

// TestShadow judges in mode shadow what was only planned, after the time of shadow mode.
func TestShadow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		at := time.Now().AddDate(0, 0, -10)
		w, d := &world{byHand: at.AddDate(0, 0, 1)}, inMemory()
		_, err := memory.Update(t.Context(), d.memory, "o/a", 1, func(r *memory.Record) error {
			r.Put(memory.Task{ID: "task", At: at, By: "rules", Actions: []memory.Action{
				{Type: "add_label", Values: []string{"bug"}, Rule: "crash", Pair: "rule:00ff", Result: triage.Planned},
			}})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		serve(t, w, d, func(o *judging.Options) {
			o.Runner = func(context.Context, triage.Repo) (*runner.Runner, func() (int, int, bool), error) {
				r, err := runner.New(runner.Options{
					Config: &config.Config{Mode: config.ModeShadow, Policy: policy.Policy{JudgeAfter: 30 * 24 * time.Hour, ShadowPeriod: 11 * 24 * time.Hour}},
					Host:   runner.Host{Issues: w, Repository: unimplemented.Repository{}, Search: w}, Memory: runner.Memory{Store: d.memory, Agenda: d.memory},
				})
				return r, w.calls, err
			}
		}, "o/a")
		time.Sleep(12 * time.Hour)
		if p := kept(t, d.memory, "o/a"); p.Shadow.Kept != 0 {
			t.Errorf("too early: got %+v", p)
		}
		time.Sleep(24 * time.Hour)
		if p := kept(t, d.memory, "o/a"); p.Shadow.Kept != 1 || p.Kept != 0 || w.read("o/a") != 1 {
			t.Errorf("got %+v", p)
		}
	})
}

// TestStillFailing checks that a pass that read nothing, because few calls are left, ends no failure.
func TestStillFailing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, d := &world{down: true, left: 5000}, inMemory()
		label(t, d.memory, "o/a", 1, 20)
		s := serve(t, w, d, nil, "o/a")
		time.Sleep(16 * time.Minute)
		w.change(func(w *world) { w.left = 10 })
		time.Sleep(time.Hour)
		if h := s.Health(); h.OK || strings.Contains(s.log(), "succeeded again") {
			t.Errorf("got %+v\n%s", h, s.log())
		}
	})
}

// TestDatabaseDown checks that a failure of the database is one of the loop, which goes on.
func TestDatabaseDown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, d := &world{}, inMemory()
		label(t, d.memory, "o/a", 1, 5)
		broken := &cursors{err: fmt.Errorf("no disk: %w", queue.ErrUnavailable)}
		d.cursors = broken
		s := serve(t, w, d, nil, "o/a")
		time.Sleep(10 * time.Second)
		if h := s.Health(); h.OK || !strings.Contains(h.Reason, "no disk") || w.read("o/a") != 0 {
			t.Errorf("got %+v", h)
		}
		s.stop()
		broken.err = nil
		s = serve(t, w, d, nil, "o/a")
		time.Sleep(10 * time.Second)
		if h := s.Health(); !h.OK || kept(t, d.memory, "o/a").Kept != 5 {
			t.Errorf("got %+v", h)
		}
	})
}

// TestDrain checks that a server that is to stop leaves the rest to another one.
func TestDrain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, d := &world{}, inMemory()
		label(t, d.memory, "o/a", 1, 5)
		scope := queue.Scope{Kind: queue.ScopeEverything}
		if _, _, err := d.pauses.Pause(t.Context(), scope, "ada", ""); err != nil {
			t.Fatal(err)
		}
		s := serve(t, w, d, nil, "o/a")
		s.Drain()
		if _, _, err := d.pauses.Resume(t.Context(), scope); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Hour)
		if n := w.read("o/a"); n != 0 {
			t.Errorf("%d issues were read", n)
		}
		if h := s.Health(); !h.OK {
			t.Errorf("got the health %+v", h)
		}
	})
}

// TestTwoServers checks that of two servers on one database one judges at a time, each issue once, and that the other
// one goes on after a stop.
func TestTwoServers(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "foreman.db")
	synctest.Test(t, func(t *testing.T) {
		w := &world{}
		open := func() (database, func()) {
			s, err := sqlite.Open(t.Context(), path, sqlite.Options{Now: time.Now})
			if err != nil {
				t.Fatal(err)
			}
			return database{s.Memory(), s, s.Pauses(), s.Lead}, func() {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}
		}
		da, closeA := open()
		db, closeB := open()
		defer closeB()
		label(t, da.memory, "o/a", 1, 120)
		label(t, da.memory, "o/b", 1, 20)
		a := serve(t, w, da, nil, "o/a", "o/b")
		b := serve(t, w, db, nil, "o/a", "o/b")
		time.Sleep(20 * time.Minute)
		if na, nb := w.read("o/a"), w.read("o/b"); na != 50 || nb != 20 {
			t.Errorf("%d and %d issues were read, want 50 and 20", na, nb)
		}
		a.stop()
		closeA()
		time.Sleep(2 * time.Hour)
		if n := w.read("o/a"); n != 70 {
			t.Errorf("%d issues were read, want 70", n)
		}
		b.stop()
		if p := kept(t, db.memory, "o/a"); p.Kept != 120 {
			t.Errorf("got %+v", p.Tally)
		}
	})
}

// TestTwoServersPostgres checks that of two servers on PostgreSQL one judges, and that the other one learns of it.
func TestTwoServersPostgres(t *testing.T) {
	t.Parallel()
	cluster := postgrestest.Start(t, "fsync=off")
	w, url := &world{}, cluster.Schema(t)
	var all []*server
	for range 2 {
		s, err := postgres.Open(t.Context(), url, postgres.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		d := database{s.Memory(), s, s.Pauses(), s.Lead}
		if len(all) == 0 {
			label(t, d.memory, "o/a", 1, 30)
		}
		waits := make(chan struct{}, 10)
		one := serve(t, w, d, func(o *judging.Options) {
			seen := o.Observe
			o.Observe = func(ob observe.Observation) {
				if seen(ob); ob.Event == observe.JudgingWaits {
					waits <- struct{}{}
				}
			}
		}, "o/a")
		all = append(all, one)
		<-waits // it judged, or it saw that the other one has
		if p := kept(t, d.memory, "o/a"); p.Kept != 30 {
			t.Errorf("got %+v", p.Tally)
		}
	}
	if n := w.read("o/a"); n != 30 {
		t.Errorf("%d issues were read, want 30", n)
	}
	for _, s := range all {
		if h := s.Health(); h != (supervisor.Health{Loop: "judging", OK: true, Optional: true, Last: h.Last}) {
			t.Errorf("got the health %+v", h)
		}
	}
}
