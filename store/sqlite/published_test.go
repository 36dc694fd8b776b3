package sqlite_test

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/queue"
)

// published creates a file as the published harness does, from scripts in testdata.
func published(t testing.TB, scripts ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "published.db")
	for _, script := range scripts {
		text, err := os.ReadFile(filepath.Join("testdata", script))
		if err != nil {
			t.Fatal(err)
		}
		run(t, path, string(text))
	}
	return path
}

// run runs statements on a file, as another program would.
func run(t testing.TB, path string, statements string, args ...any) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), statements, args...); err != nil {
		t.Fatal(err)
	}
}

func now() time.Time { return time.Date(2026, 4, 10, 8, 30, 0, 0, time.UTC) }

func TestPublishedQueue(t *testing.T) {
	t.Parallel()
	s := open(t, published(t, "published_queue.sql"), now)
	list, err := queue.List(t.Context(), s.Queue(), queue.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, i := range list {
		name, _, _ := strings.Cut(i.ID, "-") // the rest of a generated id varies
		if name == "00000000" {
			name = i.ID[len(i.ID)-2:]
		}
		got = append(got, fmt.Sprintf("%s %s %s %s#%d attempt %d %s", name, i.State, i.Agent, i.Repo, i.Issue, i.Attempt, i.Reason))
	}
	want, err := os.ReadFile("testdata/published_queue.txt")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), strings.Join(got, "\n")+"\n"); diff != "" {
		t.Errorf("the tasks (-want +got):\n%s", diff)
	}
}

// TestPublishedGoesOn resumes each task of a published file in its state.
func TestPublishedGoesOn(t *testing.T) {
	t.Parallel()
	path, clock := published(t, "published_queue.sql"), now()
	s := open(t, path, func() time.Time { return clock })
	for _, want := range []string{"01", "02"} {
		c, err := s.Queue().ClaimNext(t.Context(), "http://a:9001", queue.ClaimOptions{Lease: time.Hour})
		if err != nil || !strings.HasSuffix(c.ID, want) || !strings.Contains(string(c.Message), c.ID) {
			t.Fatalf("ClaimNext: got %+v, %v, want task %s", c, err, want)
		}
	}
	if _, err := s.Queue().ClaimNext(t.Context(), "http://a:9001", queue.ClaimOptions{Lease: time.Hour}); !errors.Is(err, queue.ErrEmpty) {
		t.Errorf("ClaimNext: got %v, want ErrEmpty", err)
	}
	decisions, err := s.Queue().LeaseDecisions(t.Context(), queue.DrainOptions{Lease: time.Minute, Limit: 10})
	if err != nil || len(decisions) != 1 || decisions[0].Issue != 4 || !strings.Contains(string(decisions[0].Result), `"rationale":"why"`) {
		t.Errorf("LeaseDecisions: got %+v, %v", decisions, err)
	}
	if swept, err := s.Queue().RequeueStale(t.Context(), queue.Limits{}); err != nil || len(swept) != 0 {
		t.Errorf("RequeueStale at once: got %v, %v: a claim must last a while", swept, err)
	}
	if err := s.Queue().Heartbeat(t.Context(), queue.Ref{ID: "00000000-0000-4000-8000-000000000003"}, time.Minute); err != nil {
		t.Errorf("Heartbeat of the agent that has it: %v", err)
	}
	clock = clock.Add(10 * time.Minute)
	if swept, err := s.Queue().RequeueStale(t.Context(), queue.Limits{}); err != nil || len(swept) != 2 {
		t.Errorf("RequeueStale: got %v, %v, want the claim and the lease", swept, err)
	}
	// Opening the file again finds no published data, and makes no changes.
	before, _ := queue.List(t.Context(), s.Queue(), queue.Filter{})
	after, err := queue.List(t.Context(), open(t, path, now).Queue(), queue.Filter{})
	if diff := cmp.Diff(before, after); diff != "" || err != nil {
		t.Errorf("opened again: %v (-before +after):\n%s", err, diff)
	}
}

// TestPublishedAgain runs the published harness with a file after its conversion.
func TestPublishedAgain(t *testing.T) {
	t.Parallel()
	path := published(t, "published_queue.sql")
	if err := open(t, path, now).Healthy(); err != nil {
		t.Fatal(err)
	}
	run(t, path, "CREATE TABLE task_queue AS SELECT * FROM task_queue_published LIMIT 2") //nolint:unqueryvet // all of it
	run(t, path, "UPDATE task_queue SET task_id = 'new' WHERE rowid = 1")
	s := open(t, path, now)
	if _, err := s.Queue().Inspect(t.Context(), "new"); err != nil {
		t.Errorf("the new one: %v", err)
	}
	if list, err := queue.List(t.Context(), s.Queue(), queue.Filter{}); err != nil || len(list) != 13 {
		t.Errorf("got %d tasks, %v, want 13", len(list), err)
	}
}

func TestPublishedMemory(t *testing.T) {
	t.Parallel()
	s := open(t, published(t, "published_memory.sql", "published_queue.sql"), now)
	for issue, want := range map[int]string{
		7:  "Issue #7: labelled 'bug', commented on 2026-04-11 (agent). No further actions.",
		8:  "",
		9:  "",
		10: "Issue #10: escalated to a human on 2026-04-13. No further actions.",
		11: "",
	} {
		r, err := s.Memory().Load(t.Context(), "org/repo", issue)
		if err != nil {
			t.Errorf("issue %d: %v", issue, err)
		}
		if got, _ := memory.Summary(r); got != want {
			t.Errorf("issue %d: got %q, want %q", issue, got, want)
		}
		if issue == 7 && (len(r.Tasks) != 2 || r.Tasks[0].Status != "unknown" || r.Tasks[1].Actions[2].Result != "unknown") {
			t.Errorf("issue 7: got %+v", r.Tasks)
		}
	}
	if _, err := s.Memory().Load(t.Context(), "org/repo", 12); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("issue 12: got %v, want ErrNotFound", err)
	}
	if got, err := s.Cursor(t.Context(), "org/repo"); err != nil || string(got) != `{"version":1,"at":1776240000,"base":1776240000}` {
		t.Errorf("cursor: got %s, %v", got, err)
	}
	if got, err := s.Cursor(t.Context(), "org/broken"); err != nil || got != nil {
		t.Errorf("cursor of nothing: got %s, %v", got, err)
	}
}
