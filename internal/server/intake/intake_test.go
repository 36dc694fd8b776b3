package intake_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/org/foreman-action/internal/server/intake"
	"github.com/org/foreman-action/internal/testkit/brokenqueue"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/queue/queuetest"
	"github.com/org/foreman-action/store/sqlite"
	"github.com/org/foreman-action/triage"
)

var update = flag.Bool("update", false, "rewrite what the cases expect")

// recorder is a queue that records the enqueued task.
type recorder struct {
	queue.Queue

	last *queue.Task
}

func (r *recorder) Enqueue(ctx context.Context, t queue.Task) (queue.Enqueued, error) {
	r.last = &t
	return r.Queue.Enqueue(ctx, t)
}

// records is a memory with one record, or one that returns an error.
type records struct {
	record memory.Record
	err    error
}

func (r records) Load(_ context.Context, repo string, issue int) (memory.Record, error) {
	if r.err == nil && (repo != r.record.Repo || issue != r.record.Issue) {
		return memory.Record{}, memory.ErrNotFound
	}
	return r.record, r.err
}

// TestTake passes the events of every file in testdata to Take. The parts of a file: "options"
// configures the intake, "record" is the content of the memory, "event" is an event with its name,
// source, dedup key and delivery in the first line, "claim" is an agent that claims a task, and
// "want" is the outcome of the event.
func TestTake(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			t.Parallel()
			a, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			play(t, a)
			if *update {
				if err := os.WriteFile(path, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func play(t *testing.T, a *txtar.Archive) {
	t.Helper()
	q := &recorder{Queue: queue.New(queue.Options{Now: queuetest.NewClock().Now})}
	var log bytes.Buffer
	o := intake.Options{Queue: q, Random: strings.NewReader("0123456789abcdef" + "ABCDEFGHIJKLMNOP" + "abcdefghijklmnop" + "QRSTUVWXYZ012345"), Log: logger(&log)}
	var in *intake.Intake
	var got string
	for i := range a.Files {
		f := &a.Files[i]
		switch f.Name {
		case "options":
			options(t, &o, string(f.Data))
		case "record":
			var r memory.Record
			if err := json.Unmarshal(f.Data, &r); err != nil {
				t.Fatal(err)
			}
			o.Memory = records{record: r}
		case "event":
			if in == nil {
				var err error
				if in, err = intake.New(o); err != nil {
					t.Fatal(err)
				}
			}
			q.last = nil
			log.Reset()
			got = take(t, in, q, string(f.Data)) + log.String()
		case "claim":
			if _, err := q.ClaimNext(t.Context(), strings.TrimSpace(string(f.Data)), queue.ClaimOptions{Lease: time.Minute}); err != nil {
				t.Fatal(err)
			}
		case "want":
			if *update {
				f.Data = []byte(got)
			} else if diff := cmp.Diff(string(f.Data), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		}
	}
}

func logger(b *bytes.Buffer) *slog.Logger {
	return slog.New(slog.NewTextHandler(b, &slog.HandlerOptions{Level: slog.LevelWarn, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
}

func options(t *testing.T, o *intake.Options, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		switch f[0] {
		case "route":
			r := intake.Route{Repo: f[1], Type: f[2]}
			for _, word := range f[3:] {
				switch key, value, _ := strings.Cut(word, "="); key {
				case "url":
					r.URL = value
				case "events":
					r.Events = strings.FieldsFunc(value, func(c rune) bool { return c == ',' })
				case "close":
					r.AllowClose = true
				case "protocol":
					r.Protocol = intake.Protocol(value)
				}
			}
			o.Routes = append(o.Routes, r)
		case "repo":
			o.Repos = append(o.Repos, f[1])
		case "rules":
			o.Rules = func(name, action string) bool { return slices.Contains(f[1:], name+"."+action) }
		case "bot":
			o.Bot = f[1]
		case "maintainers":
			o.Maintainers = true
		case "limit":
			o.HourlyLimit, _ = strconv.Atoi(f[1])
		case "llm":
			o.LLM = protocol.LLMBackendRef{Provider: f[1], Model: f[2]}
		case "trace":
			o.Trace = func(context.Context) string { return f[1] }
		case "broken-memory":
			o.Memory = records{err: errors.New("the disk smokes")}
		case "now":
			now, err := time.Parse(time.RFC3339, f[1])
			if err != nil {
				t.Fatal(err)
			}
			o.Now = func() time.Time { return now }
		default:
			t.Fatalf("options: unknown %q", line)
		}
	}
}

func take(t *testing.T, in *intake.Intake, q *recorder, text string) string {
	t.Helper()
	head, payload, _ := strings.Cut(text, "\n")
	f := append(strings.Fields(head), "", "", "")
	e, err := triage.ParseEvent(triage.EventSource{Name: f[0], Payload: []byte(payload)})
	if err != nil {
		t.Fatal(err)
	}
	got, err := in.Take(t.Context(), intake.Arrival{Event: e, Origin: queue.Origin{Source: f[1], Delivery: f[3]}, Dedup: f[2]})
	if err != nil {
		return fmt.Sprintf("error: %v\n", err)
	}
	if got.Task == "" {
		return fmt.Sprintf("nothing: %s\n", got.Reason)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s for %q", got.Result, got.Task, got.Agent)
	if !got.Ready.IsZero() {
		fmt.Fprintf(&b, ", held back until %s", got.Ready.Format("15:04"))
	}
	if got.Behind != "" {
		fmt.Fprintf(&b, ", behind %s", got.Behind)
	}
	switch task := *q.last; got.Result {
	case queue.Added:
		fmt.Fprintf(&b, "\n%s#%d dedup=%q coalesce=%v limit=%d\norigin %s\n%s", task.Repo, task.Issue, task.Dedup, task.Coalesce, task.HourlyLimit, task.Origin, task.Message)
		if _, err := protocol.ParseTask(task.Message); err != nil {
			t.Errorf("the message is none: %v", err)
		}
		checkOrigin(t, task)
	case queue.Coalesced:
		d, err := q.Inspect(t.Context(), got.Task)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "\norigin %s\n%s", d.Origin, d.Message)
		checkOrigin(t, queue.Task{Repo: d.Repo, Issue: d.Issue, Origin: d.Origin, Message: d.Message})
	case queue.Duplicate:
	}
	if got.Result == queue.Added || got.Result == queue.Coalesced && f[2] != "" {
		checkFound(t, q, got.Task, queue.Filter{ID: f[3]})
	}
	if got.Result == queue.Added && e.Issue != nil {
		checkFound(t, q, got.Task, queue.Filter{Title: e.Issue.Title})
	}
	b.WriteByte('\n')
	return b.String()
}

// checkFound checks that a filter matches a task.
func checkFound(t *testing.T, q queue.Queue, id string, f queue.Filter) {
	t.Helper()
	list, err := queue.List(t.Context(), q, f)
	if err != nil || !slices.ContainsFunc(list, func(i queue.Info) bool { return i.ID == id }) {
		t.Errorf("%+v: got %d tasks, %v, want %s", f, len(list), err, id)
	}
}

// checkOrigin parses the event again, as the executor does.
func checkOrigin(t *testing.T, task queue.Task) {
	t.Helper()
	o, bad := queue.ParseOrigin(task.Origin)
	m, err := protocol.ParseTask(task.Message)
	if err := errors.Join(err, bad); err != nil {
		t.Fatal(err)
	}
	e, err := triage.ParseEvent(triage.EventSource{Name: o.Event, Repo: m.Repo, Payload: m.Payload})
	if err != nil || e.Number != task.Issue || e.FullRepo() != task.Repo || e.Issue == nil {
		t.Errorf("read again: got %s of %s, %v", e.Key(), e.Ref(), err)
	}
}

func TestNew(t *testing.T) {
	t.Parallel()
	q := queue.New(queue.Options{})
	tests := []struct {
		name string
		o    intake.Options
		want string
	}{
		{"no queue", intake.Options{}, "intake: Queue is not set"},
		{"repository", intake.Options{Queue: q, Repos: []string{"o"}}, `intake: want a repository as owner/name, got "o"`},
		{"repository of a route", intake.Options{Queue: q, Routes: []intake.Route{{Repo: "o/r/x", Type: "a"}}}, `intake: agent "a": want a repository as owner/name, got "o/r/x"`},
		{"protocol", intake.Options{Queue: q, Routes: []intake.Route{{Repo: "o/r", Type: "a", Protocol: "v3"}}}, `intake: agent "a" of o/r: want the protocol queue or sync, got "v3"`},
		{"address", intake.Options{Queue: q, Routes: []intake.Route{{Repo: "o/r", Type: "a", URL: "a:hush"}}}, `intake: agent "a" of o/r: want an address that starts with https:// or http://`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if _, err := intake.New(tt.o); err == nil || err.Error() != tt.want {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

// TestTakeErrors checks that a failure enqueues no task, and that the error contains the cause.
func TestTakeErrors(t *testing.T) {
	t.Parallel()
	e, err := triage.ParseEvent(triage.EventSource{Name: "issues", Payload: []byte(`{"action":"opened","issue":{"number":7},"repository":{"full_name":"o/r"}}`)})
	if err != nil {
		t.Fatal(err)
	}
	q := brokenqueue.New(queue.New(queue.Options{}))
	o := intake.Options{Queue: q, Routes: []intake.Route{{Repo: "o/r", Type: "issue-triage", URL: "http://a"}}}
	in, err := intake.New(o)
	if err != nil {
		t.Fatal(err)
	}
	q.Break(queue.ErrUnavailable)
	if _, err := in.Take(t.Context(), intake.Arrival{Event: e}); !errors.Is(err, queue.ErrUnavailable) || !strings.HasPrefix(err.Error(), "enqueue the task of o/r#7: ") {
		t.Errorf("a queue that is full: got %v", err)
	}
	o.Random = iotest.ErrReader(errors.New("no entropy"))
	if in, err = intake.New(o); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Take(t.Context(), intake.Arrival{Event: e}); err == nil || !strings.Contains(err.Error(), "no entropy") {
		t.Errorf("no random bytes: got %v", err)
	}
}

// TestTakeMeanwhile takes an issue's events in random order while an agent claims tasks. No change
// may be lost, whichever tasks are joined.
func TestTakeMeanwhile(t *testing.T) {
	t.Parallel()
	file, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "foreman.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	})
	for name, q := range map[string]queue.Queue{"memory": queue.New(queue.Options{}), "sqlite": file.Queue()} {
		t.Run(name, func(t *testing.T) { takeMeanwhile(t, q) })
	}
}

func takeMeanwhile(t *testing.T, q queue.Queue) {
	t.Helper()
	const newest = 40
	in, err := intake.New(intake.Options{Queue: q, Routes: []intake.Route{{Repo: "o/r", Type: "issue-triage", URL: "http://a"}}})
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i := range newest {
		action := "edited"
		if i == newest/2 {
			action = "opened"
		}
		e, err := triage.ParseEvent(triage.EventSource{Name: "issues", Payload: fmt.Appendf(nil,
			`{"action":%q,"issue":{"number":7,"title":"%d","updated_at":"2026-04-10T08:00:%02dZ"},"repository":{"full_name":"o/r"}}`, action, i+1, i+1)})
		if err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			if _, err := in.Take(t.Context(), intake.Arrival{Event: e, Origin: queue.Origin{Source: queue.SourceWebhook}}); err != nil {
				t.Error(err)
			}
		})
	}
	var told strings.Builder
	claim := func() error {
		c, err := q.ClaimNext(t.Context(), "http://a", queue.ClaimOptions{Lease: time.Hour})
		if told.Write(c.Message); err == nil {
			err = q.Cancel(t.Context(), queue.Seen{ID: c.ID}, "agent") // other tasks may wait for it
		}
		return err
	}
	for range 3 {
		if err := claim(); err != nil && !errors.Is(err, queue.ErrEmpty) {
			t.Error(err)
		}
	}
	all.Wait()
	for err == nil {
		err = claim()
	}
	if !errors.Is(err, queue.ErrEmpty) {
		t.Error(err)
	}
	for _, want := range []string{fmt.Sprintf(`"title":"%d"`, newest), `"action":"opened"`} {
		if !strings.Contains(told.String(), want) {
			t.Errorf("no task tells of %s", want)
		}
	}
}

// TestTakeLate checks that the task of a late delivery contains the current issue.
func TestTakeLate(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 4, 10, 12, 0, 0, 0, time.UTC)
	current, err := triage.ParseIssue([]byte(`{"number": 7, "title": "now", "labels": [{"name": "keep"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, source string
		age          time.Duration
		err          error
		reads        int
		title        string // in the task; empty: there is none
	}{
		{"fresh", queue.SourceWebhook, time.Minute, nil, 0, "then"},
		{"late", queue.SourceWebhook, time.Hour, nil, 1, "now"},
		{"gone", queue.SourceWebhook, time.Hour, triage.ErrGone, 1, ""},
		{"unavailable", queue.SourceWebhook, time.Hour, triage.ErrLimited, 1, "then"},
		{"polled", queue.SourcePoll, time.Hour, nil, 0, "then"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e, err := triage.ParseEvent(triage.EventSource{Name: "issues", Payload: []byte(`{"action": "opened", "repository": {"full_name": "o/r"},
				"issue": {"number": 7, "title": "then", "updated_at": "` + now.Add(-tt.age).Format(time.RFC3339) + `"}}`)})
			if err != nil {
				t.Fatal(err)
			}
			q, reads := &recorder{Queue: queue.New(queue.Options{})}, 0
			in, err := intake.New(intake.Options{
				Queue: q, Routes: []intake.Route{{Repo: "o/r", Type: "issue-triage", URL: "http://a"}}, Now: func() time.Time { return now },
				Issue: func(_ context.Context, ref triage.Ref) (triage.Snapshot, error) {
					reads++
					return current, tt.err
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			arrival := intake.Arrival{Event: e, Origin: queue.Origin{Source: tt.source}, Dedup: "webhook:1"}
			out, err := in.Take(t.Context(), arrival)
			if err != nil || reads != tt.reads || (tt.title == "") != (out.Reason == triage.ErrGone.Error()) {
				t.Errorf("got %v, %+v, read %d times", err, out, reads)
			}
			if tt.title != "" && !strings.Contains(string(q.last.Message), `"title":"`+tt.title+`"`) {
				t.Errorf("got the task %s", q.last.Message)
			}
			if tt.title == "" {
				return
			}
			again, err := in.Take(t.Context(), arrival)
			if err != nil || again.Result != queue.Duplicate || again.Task != out.Task || reads != tt.reads {
				t.Errorf("repeated: got %v, %+v, read %d times", err, again, reads)
			}
		})
	}
}
