package poll

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/triage"
)

// A source is a fake GitHub with the same answer to all requests.
type source struct {
	list func(ctx context.Context) (github.ListPage, error)

	mu    sync.Mutex
	at    []time.Time // times of the requests
	most  int         // maximum number of concurrent requests
	under int
}

func (s *source) ListIssues(ctx context.Context, _, _ string, _ github.ListQuery) (github.ListPage, error) {
	s.mu.Lock()
	s.at = append(s.at, time.Now())
	s.mu.Unlock()
	return s.list(ctx)
}

func (*source) Issue(context.Context, triage.Ref) (triage.Snapshot, error) {
	return triage.Snapshot{}, errors.New("not asked for")
}

func (*source) Timeline(context.Context, triage.Ref) (triage.Timeline, error) {
	return triage.Timeline{}, errors.New("not asked for")
}

func (*source) Budget() (int, bool) { return 0, false }

func (s *source) times() []time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.at)
}

func fine(context.Context) (github.ListPage, error) { return github.ListPage{}, nil }

func options(repos ...Repository) Options {
	return Options{
		Repositories: repos, Interval: time.Minute, Tasks: queue.New(queue.Options{}), Cursors: &kept{},
		Random: func() float64 { return 0.5 },
		Take:   func(context.Context, triage.Delivery, string) (bool, error) { return true, nil },
	}
}

func start(t *testing.T, o Options) (p *Poller, stop func()) {
	t.Helper()
	p, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- p.Run(ctx) }()
	return p, func() {
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("Run returned %v, want that it was cancelled", err)
		}
	}
}

// TestOthersGoOn checks that a repository that hangs, one that fails and one that panics do not
// delay others.
func TestOthersGoOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hangs := &source{list: func(ctx context.Context) (github.ListPage, error) { <-ctx.Done(); return github.ListPage{}, ctx.Err() }}
		fails := &source{list: func(context.Context) (github.ListPage, error) {
			return github.ListPage{}, fmt.Errorf("list: %w", &net.DNSError{Err: "no such host", Name: "api.github.com"})
		}}
		panics := &source{list: func(context.Context) (github.ListPage, error) { panic("a fault") }}
		works := &source{list: fine}
		began := time.Now()
		p, stop := start(t, options(Repository{"o/hangs", hangs}, Repository{"o/fails", fails}, Repository{"o/panics", panics}, Repository{"o/works", works}))
		time.Sleep(time.Hour + time.Second)
		synctest.Wait()
		if n := len(works.times()); n != 60 {
			t.Errorf("the one that works was asked %d times in an hour, want 60", n)
		}
		if first := works.times()[0].Sub(began); first != 45*time.Second {
			t.Errorf("the last of four was asked after %s, want that they are spread over the interval", first)
		}
		// The polls are 1, 2, 4, 8, 15, 15 … minutes apart.
		for name, s := range map[string]*source{"fails": fails, "panics": panics} {
			if n := len(s.times()); n != 7 {
				t.Errorf("the one that %s was asked %d times in an hour, want 7", name, n)
			}
		}
		health := map[string]Health{}
		for _, h := range p.Health() {
			health[h.Repo] = h
		}
		if h := health["o/works"]; time.Since(h.Success) > time.Minute || h.Err != "" {
			t.Errorf("got %+v, want that it works", h)
		}
		if h := health["o/fails"]; !h.Success.IsZero() || h.Failures != 7 || !strings.Contains(h.Err, "no such host") {
			t.Errorf("got %+v, want that it fails", h)
		}
		if h := health["o/panics"]; !strings.Contains(h.Err, "a fault") {
			t.Errorf("got %+v, want that it panics", h)
		}
		stop()
	})
}

func TestParallel(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &source{}
		s.list = func(context.Context) (github.ListPage, error) {
			s.mu.Lock()
			s.under++
			s.most = max(s.most, s.under)
			s.mu.Unlock()
			time.Sleep(10 * time.Second)
			s.mu.Lock()
			s.under--
			s.mu.Unlock()
			return github.ListPage{}, nil
		}
		var repos []Repository
		for n := range 30 {
			repos = append(repos, Repository{fmt.Sprintf("o/r%d", n), s})
		}
		o := options(repos...)
		o.Parallel = 3
		_, stop := start(t, o)
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if s.most != 3 {
			t.Errorf("%d were asked at once, want 3", s.most)
		}
		stop()
	})
}

// TestLeaders lets two processes poll in turn. One must not hand on what the other has handed on.
func TestLeaders(t *testing.T) {
	t.Parallel()
	s := newStory(t, "")
	for _, line := range []string{"issue 1 mona", "pass 1m"} {
		s.step(line)
	}
	s.poll()
	first := s.kept.poller
	s.restart()
	second := s.kept.poller
	for n, f := range []*repoPoller{second, first, second, first} {
		s.step(fmt.Sprintf("issue %d mona", n+2))
		s.step("pass 1m")
		s.kept.poller = f
		s.poll()
		if want := fmt.Sprintf("opened #%d added", n+2); !slices.Equal(s.made, []string{want}) {
			t.Errorf("poll %d: got %v, want %s", n, s.made, want)
		}
	}
	// Simulate concurrent polls, of which the slower one saves an older cursor.
	s.step("issue 9 mona")
	s.step("pass 1m")
	before, err := s.kept.Cursor(t.Context(), repo)
	if err != nil {
		t.Fatal(err)
	}
	s.poll()
	if err := s.kept.SaveCursor(t.Context(), repo, before); err != nil {
		t.Fatal(err)
	}
	s.kept.poller = second
	s.poll()
	if len(s.made) != 0 {
		t.Errorf("got %v, want nothing twice", s.made)
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	one := Repository{"o/r", &source{}}
	tests := []struct {
		name, want string
		change     func(*Options)
	}{
		{"interval", "interval", func(o *Options) { o.Interval = 0 }},
		{"first run", "first run", func(o *Options) { o.FirstRun = -1 }},
		{"take", "Take", func(o *Options) { o.Take = nil }},
		{"no owner", "owner/name", func(o *Options) { o.Repositories = []Repository{{"r", one.Source}} }},
		{"no source", "Source", func(o *Options) { o.Repositories = []Repository{{"o/r", nil}} }},
		{"twice", "twice", func(o *Options) { o.Repositories = []Repository{one, {"O/R", one.Source}} }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o := options(one)
			tt.change(&o)
			if _, err := New(o); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want something about %q", err, tt.want)
			}
		})
	}
}

// TestTakeFails checks that an issue whose task cannot be made does not block others, and is
// retried. If the queue cannot be written to, that is not the issue's fault.
func TestTakeFails(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		err     error
		waiting int
		fails   bool
	}{
		{"one issue", errors.New("it is too large"), 1, false},
		{"the queue", fmt.Errorf("enqueue: %w", queue.ErrUnavailable), 0, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newStory(t, "")
			for _, line := range []string{"issue 1 mona", "issue 2 mona", "pass 1m"} {
				s.step(line)
			}
			take := s.o.Take
			s.o.Take = func(ctx context.Context, e triage.Delivery, dedup string) (bool, error) {
				if e.Number == 2 { // the newest issue comes first
					return false, tt.err
				}
				return take(ctx, e, dedup)
			}
			s.restart()
			s.poll()
			h := s.kept.poller.health
			if h.Waiting != tt.waiting || (h.Err != "") != tt.fails || (len(s.made) == 1) == tt.fails {
				t.Errorf("got %+v and the tasks %v", h, s.made)
			}
			s.o.Take = take
			s.restart()
			s.step("pass 1m")
			s.poll()
			if made := strings.Join(s.made, ", "); !strings.Contains(made, "opened #2 added") {
				t.Errorf("got %s, want #2", made)
			}
		})
	}
}
