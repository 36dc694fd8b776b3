package poll

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/internal/server/intake"
	"github.com/org/foreman-action/internal/testkit/brokenqueue"
	"github.com/org/foreman-action/memory/file"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/queue/queuetest"
	"github.com/org/foreman-action/triage"
)

var update = flag.Bool("update", false, "rewrite what the stories come to")

const (
	repo = "octo/hello"
	bot  = "foreman[bot]"
)

// TestStories plays each file. The part "story" contains events on GitHub, changes of tasks, and
// polls, one per line. "want" contains the calls, the new tasks and the wait of each poll.
// "options" configures the poller.
func TestStories(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/stories/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("got %d stories, %v, want some", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			parts := map[string]string{}
			for _, f := range a.Files {
				parts[f.Name] = string(f.Data)
			}
			s := newStory(t, parts["options"])
			for line := range strings.Lines(parts["story"]) {
				if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
					s.step(line)
				}
			}
			if *update {
				k := slices.IndexFunc(a.Files, func(f txtar.File) bool { return f.Name == "want" })
				if k < 0 {
					k, a.Files = len(a.Files), append(a.Files, txtar.File{Name: "want"})
				}
				a.Files[k].Data = s.out.Bytes()
				if err := os.WriteFile(file, txtar.Format(a), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(parts["want"], s.out.String()); diff != "" {
				t.Errorf("polls (-want +got):\n%s", diff)
			}
		})
	}
}

// A story is a GitHub, a queue and a poller.
type story struct {
	*testing.T
	gh     *githubtest.Server
	clock  *queuetest.Clock
	skew   time.Duration // offset of this machine's clock
	queue  *brokenqueue.Queue
	memory *file.Store
	kept   *kept
	client *github.Client
	o      Options
	out    bytes.Buffer
	log    bytes.Buffer
	made   []string       // tasks made by this poll
	before map[int]string // steps to run before the n-th list request of a poll
	lists  int
	takes  int // if more than 0, the number of the event at which the queue is unavailable
}

func newStory(t *testing.T, options string) *story {
	t.Helper()
	s := &story{T: t, clock: queuetest.NewClock(), kept: &kept{}, before: map[int]string{}}
	s.gh = githubtest.New(t, githubtest.Config{Now: s.clock.Now, Login: bot})
	s.gh.Repo(repo).AddLabel("bug", "triaged").AddUser("carol")
	s.queue = brokenqueue.New(queue.New(queue.Options{Now: s.clock.Now}))
	var err error
	if s.memory, err = file.Open(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	now := func() time.Time { return s.clock.Now().Add(s.skew) }
	s.client, err = github.New(github.Options{BaseURL: s.gh.URL, Now: now, Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }})
	if err != nil {
		t.Fatal(err)
	}
	in, err := intake.New(intake.Options{
		Queue: s.queue, Memory: s.memory, Maintainers: true,
		Routes: []intake.Route{{Repo: repo, Type: "issue-triage", URL: "http://127.0.0.1:9000"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.o = Options{
		Repositories: []Repository{{repo, s}}, Interval: time.Minute, FirstRun: 100, Bot: bot,
		Tasks: s.queue, Memory: s.memory, Cursors: s.kept, Now: now, Random: func() float64 { return 0.5 },
		Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
		Log:   slog.New(slog.NewTextHandler(&s.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Take: func(ctx context.Context, e triage.Delivery, dedup string) (bool, error) {
			if s.takes > 0 {
				if s.takes--; s.takes == 0 {
					return false, queue.ErrUnavailable
				}
			}
			got, err := in.Take(ctx, intake.Arrival{Event: e, Origin: queue.Origin{Source: queue.SourcePoll}, Dedup: dedup})
			if err == nil {
				what := e.Action
				if e.HasComment() {
					what = e.Comment.Body + " of " + e.Comment.Author + " for " + strconv.Quote(got.Agent)
				}
				s.made = append(s.made, strings.TrimSpace(fmt.Sprintf("%s #%d %s %s", what, e.Number, got.Result, got.Reason)))
			}
			return got.Task != "", err
		},
	}
	for line := range strings.Lines(options) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		s.option(name, value)
	}
	s.restart()
	return s
}

func (s *story) option(name, value string) {
	s.Helper()
	var err error
	switch name {
	case "first_run":
		s.o.FirstRun, err = strconv.Atoi(value)
	case "reserve":
		s.o.Reserve, err = strconv.Atoi(value)
	case "maintainers":
		s.o.Maintainers = true
	case "ignore":
		s.o.Ignore = strings.Fields(value)
	case "nobot":
		s.o.Bot = ""
	default:
		s.Fatalf("there is no option %q", name)
	}
	if err != nil {
		s.Fatal(err)
	}
}

// restart replaces the polling process by another one.
func (s *story) restart() {
	s.Helper()
	p, err := New(s.o)
	if err != nil {
		s.Fatal(err)
	}
	s.kept.poller = p.repos[0]
}

// ListIssues, Issue, Timeline and Budget implement Source.
func (s *story) ListIssues(ctx context.Context, owner, name string, q github.ListQuery) (github.ListPage, error) {
	s.lists++
	if line := s.before[s.lists]; line != "" {
		delete(s.before, s.lists)
		s.step(line)
	}
	return s.client.ListIssues(ctx, owner, name, q)
}

func (s *story) Issue(ctx context.Context, ref triage.Ref) (triage.Snapshot, error) {
	return s.client.Issue(ctx, ref)
}

func (s *story) Timeline(ctx context.Context, ref triage.Ref) (triage.Timeline, error) {
	return s.client.Timeline(ctx, ref)
}

// Budget implements Source.
func (s *story) Budget() (int, bool) { return s.client.Budget() }

// step runs one line: a verb and its arguments.
func (s *story) step(line string) {
	s.Helper()
	words := strings.Fields(line)
	verb, args := words[0], words[1:]
	if act, ok := actions()[verb]; ok {
		act(s, args)
		return
	}
	change, ok := changes()[verb]
	if !ok {
		s.Fatalf("%s: there is no such verb", line)
	}
	change(s, s.number(args[0]), args[1:])
}

func (s *story) number(word string) int {
	s.Helper()
	n, err := strconv.Atoi(word)
	if err != nil {
		s.Fatal(err)
	}
	return n
}

func (s *story) duration(word string) time.Duration {
	s.Helper()
	d, err := time.ParseDuration(word)
	if err != nil {
		s.Fatal(err)
	}
	return d
}

// poll polls, and prints the calls, tasks, warnings and the wait.
func (s *story) poll() {
	s.gh.ResetCalls()
	s.made, s.lists = nil, 0
	s.log.Reset()
	wait := s.kept.poller.poll(s.Context())
	fmt.Fprintf(&s.out, "poll %s\n", s.clock.Now().Format(time.TimeOnly))
	for _, c := range s.gh.Calls() {
		fmt.Fprintf(&s.out, "  %s\n", line(c))
	}
	for _, line := range s.made {
		fmt.Fprintf(&s.out, "  task %s\n", line)
	}
	for line := range strings.Lines(s.log.String()) {
		if strings.Contains(line, "level=WARN") || strings.Contains(line, "level=ERROR") {
			_, text, _ := strings.Cut(line, "msg=")
			text = regexp.MustCompile(` error=("(\\.|[^"\\])*"|\S*)`).ReplaceAllString(text, "")
			fmt.Fprintf(&s.out, "  log %s\n", strings.TrimSpace(text))
		}
	}
	fmt.Fprintf(&s.out, "  wait %s\n", wait)
}

// line formats a call and its query.
func line(c githubtest.Call) string {
	text := c.Method + " " + strings.TrimPrefix(c.Path, "/repos/")
	if strings.HasSuffix(c.Path, "/issues") {
		text += " " + c.Query.Get("sort") + " " + c.Query.Get("direction")
		if at, err := time.Parse(time.RFC3339, c.Query.Get("since")); err == nil {
			text += " since " + at.Format(time.TimeOnly)
		}
		if p := c.Query.Get("page"); p != "" {
			text += " page " + p
		}
	}
	if c.Cut {
		return text + " cut"
	}
	return fmt.Sprintf("%s %d", text, c.Status)
}

// kept is a store of cursors in memory. It can fail during a save, as if the process were killed
// there.
type kept struct {
	poller *repoPoller
	mu     sync.Mutex
	data   map[string][]byte
	kill   int // the save during which the process is killed, counted from now; 0: none
}

// Cursor implements Cursors.
func (k *kept) Cursor(_ context.Context, name string) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.data[name]), nil
}

// SaveCursor implements Cursors.
func (k *kept) SaveCursor(_ context.Context, name string, data []byte) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.kill--; k.kill == 0 {
		return errKilled
	}
	next := maps.Clone(k.data)
	if next == nil {
		next = map[string][]byte{}
	}
	next[name] = slices.Clone(data)
	k.data = next
	return nil
}

var errKilled = errors.New("killed")

// finish ends the tasks of an issue that are in flight.
func (s *story) finish(n int, end func(queue.Info)) {
	s.Helper()
	list, err := queue.List(s.Context(), s.queue, queue.Filter{Repo: repo, Issue: n})
	if err != nil {
		s.Fatal(err)
	}
	for _, t := range list {
		if t.State == queue.Pending || t.State == queue.Completed {
			end(t)
		}
	}
}
