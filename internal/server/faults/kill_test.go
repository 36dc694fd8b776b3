//go:build unix

package faults_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/postgrestest"
)

// patience is how long a test waits for a request at a point. endTime is how long it waits for
// the end of a run, which is longer than any lease.
const (
	patience = 3 * time.Second
	endTime  = 3 * time.Minute
)

// TestKill repeatedly kills the server and the agent, at steps of a seeded schedule, while issues
// are opened. It checks that each decision was carried out exactly once.
func TestKill(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it starts and kills processes for some seconds")
	}
	program := build(t)
	for _, d := range deployments() {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			killing(t, newStage(t, d.setting(t, program)), points(), *killRounds)
		})
	}
}

// TestPause suspends one of two servers for longer than its leases last.
func TestPause(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it starts and stops processes for some seconds")
	}
	program := build(t)
	for _, d := range deployments() {
		if d.servers < 2 {
			continue
		}
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			o := d.setting(t, program)
			o.lease = pauseLease
			killing(t, newStage(t, o), pauses(), (*killRounds+7)/8)
		})
	}
}

// A deployment is a number of servers on one queue.
type deployment struct {
	name     string
	servers  int
	postgres bool // the queue is in PostgreSQL; false: in a file
}

// deployments returns the tested deployments. A single server is started again after a kill. With
// two servers, the other one may carry on first.
func deployments() []deployment {
	return []deployment{
		{"SQLite, one server", 1, false},
		{"SQLite, two servers", 2, false},
		{"PostgreSQL, two servers", 2, true},
	}
}

// setting returns the setting of a stage of the deployment, with an empty queue.
func (d deployment) setting(t *testing.T, program string) setting {
	t.Helper()
	o := setting{program: program, servers: d.servers}
	if d.postgres {
		c, err := databases()
		if errors.Is(err, postgrestest.ErrMissing) {
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		o.queue = c.Database(t)
	}
	return o
}

// killing kills processes a number of times, waits for the end, and checks the result.
func killing(t *testing.T, s *stage, schedule []point, rounds int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(rounds)*(2*patience+pauseTime)+endTime)
	defer cancel()
	issues := &feed{stage: s}
	issues.run(ctx)
	kills := 0
	for i := 0; kills < rounds && ctx.Err() == nil; i++ {
		if i%len(schedule) == 0 {
			s.gate.random.Shuffle(len(schedule), func(a, b int) { schedule[a], schedule[b] = schedule[b], schedule[a] })
		}
		s.gate.arm(schedule[i%len(schedule)])
		issues.more(2)
		select {
		case <-s.gate.killed:
			kills++
			if schedule[i%len(schedule)].pause {
				issues.more(4) // for the other server
				wait(ctx, pauseTime+time.Second)
			}
		case <-time.After(patience): // no request of this step came
			s.gate.disarm()
		case <-ctx.Done():
		}
	}
	s.gate.disarm()
	last := issues.stop(t)
	finished := s.finished(ctx, last)
	lost, doubled := s.judge(t, last)
	t.Logf("%d kills at %d of %d steps, %d issues: %d lost, %d doubled", kills, len(s.gate.hits), len(schedule), last, lost, doubled)
	if !finished || lost+doubled > 0 {
		t.Errorf("%d lost, %d doubled after kills at %v\n%s", lost, doubled, s.gate.hits, s.logs())
	}
	if kills < rounds/2 {
		t.Errorf("only %d kills in %d rounds: nothing was tried", kills, rounds)
	}
}

// A feed opens issues, one after another.
type feed struct {
	*stage

	wanted chan struct{}
	done   sync.WaitGroup
	mu     sync.Mutex
	last   int
	err    error
}

func (f *feed) run(ctx context.Context) {
	f.wanted = make(chan struct{}, 1<<16)
	for range 4 {
		f.done.Go(func() {
			for range f.wanted {
				f.mu.Lock()
				f.last++
				n := f.last
				f.mu.Unlock()
				err := f.deliver(ctx, n)
				if err == nil && f.people != nil {
					err = f.people(ctx, n)
				}
				if err != nil {
					f.mu.Lock()
					f.err = err
					f.mu.Unlock()
				}
			}
		})
	}
}

// more opens n more issues.
func (f *feed) more(n int) {
	for range n {
		f.wanted <- struct{}{}
	}
}

// stop waits until the webhooks of all issues were delivered, and returns the number of issues.
func (f *feed) stop(t *testing.T) int {
	t.Helper()
	close(f.wanted)
	f.done.Wait()
	if f.err != nil {
		t.Errorf("%v\n%s", f.err, f.logs())
	}
	return f.last
}

// finished waits until each issue has its last comment.
func (s *stage) finished(ctx context.Context, last int) bool {
	for n := 1; n <= last; {
		if len(s.gh.Issue(repo, n).Comments) >= s.comments() {
			n++
			continue
		}
		if !wait(ctx, 50*time.Millisecond) {
			return false
		}
	}
	return wait(ctx, 500*time.Millisecond) // wait for surplus comments
}

// comments is the number of comments that an issue has in the end.
func (s *stage) comments() int {
	if s.people != nil {
		return 3
	}
	return 2
}

// judge counts the missing and the duplicated comments and labels.
func (s *stage) judge(t *testing.T, last int) (lost, doubled int) {
	t.Helper()
	for n := 1; n <= last; n++ {
		i := s.gh.Issue(repo, n)
		for _, label := range []string{"bug", "seen"} {
			if !slices.Contains(i.Labels, label) {
				t.Errorf("issue %d has no label %s", n, label)
				lost++
			}
		}
		marks := map[string]bool{}
		for _, start := range []string{"First. ", "Second. "} {
			count := 0
			for _, c := range i.Comments {
				_, body, _ := strings.Cut(c.Body, " -->\n\n") // the text after the marker
				if rest, ok := strings.CutPrefix(body, start); ok {
					count++
					line, _, _ := strings.Cut(rest, "\n")
					marks[strings.TrimSpace(line)] = true
				}
			}
			if count == 0 {
				t.Errorf("issue %d has no comment %q", n, start)
				lost++
			}
			doubled += max(count-1, 0)
		}
		if len(marks) > 1 {
			t.Errorf("issue %d: parts of several decisions were carried out: %v", n, marks)
		}
	}
	return lost, doubled + s.relabelled(last)
}

// relabelled counts the labels that were added to an issue more often than kills can explain.
func (s *stage) relabelled(last int) int {
	seen, again := map[string]int{}, 0
	for _, c := range s.gh.Calls() {
		if c.Method != "POST" || !strings.HasSuffix(c.Path, "/labels") || c.Status != 200 {
			continue
		}
		seen[c.Path+" "+c.Body]++
	}
	for n := 1; n <= last; n++ {
		for _, label := range []string{"bug", "seen"} {
			// A label may be added again if the answer to the first request was lost. That does
			// not count as a second write. More than three requests cannot be explained by kills.
			if k := seen[fmt.Sprintf(`/repos/%s/issues/%d/labels {"labels":[%q]}`, repo, n, label)]; k > 3 {
				again++
			}
		}
	}
	return again
}
