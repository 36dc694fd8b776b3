package postgres_test

import (
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/postgres"
)

// TestParkEnded checks that no task stays parked whose pause ended while tasks were parked: another
// server ends the pause before its row is locked, begins it again after that, and ends it before the
// transaction is committed.
func TestParkEnded(t *testing.T) {
	t.Parallel()
	direct := postgres.Server(t).Schema(t)
	other := open(t, direct, postgres.Options{})
	other.Run(t, `INSERT INTO task (task_id, agent, repo, issue, lane, state, priority, joinable, created_at)
SELECT 't' || n, 'http://a/', 'o/r', n, 'o/r#' || n, 0, 0, 0, 1 FROM generate_series(1, 3) n`)
	other.Run(t, "INSERT INTO task_body (seq, message) SELECT seq, '{}' FROM task")
	repo := queue.Scope{Kind: queue.ScopeRepo, Name: "o/r"}
	pause := func(p queue.Pauses) {
		if _, already, err := p.Pause(t.Context(), repo, "person", ""); err != nil || already {
			t.Errorf("Pause: got %v, %v", already, err)
		}
	}
	resume := func() {
		if _, found, err := other.Pauses().Resume(t.Context(), repo); err != nil || !found {
			t.Errorf("Resume: got %v, %v", found, err)
		}
	}
	steps := []struct {
		statement string
		ended     bool
		do        func()
	}{
		{"FROM pause WHERE active = 1 AND kind > 0 FOR SHARE", false, resume},
		{"FROM pause WHERE active = 1 AND kind > 0 FOR SHARE", true, func() { pause(other.Pauses()) }},
		{"commit", false, resume},
	}
	w := &postgres.Witness{}
	s := postgres.OpenWatched(t, direct, postgres.Options{}, w)
	s.AwaitSession(t)
	pause(s.Pauses())
	w.Between = func(statement string, ended bool) {
		if len(steps) > 0 && ended == steps[0].ended && strings.Contains(statement, steps[0].statement) {
			do := steps[0].do
			steps = steps[1:]
			do()
		}
	}
	for n := range 3 {
		if _, err := s.Queue().ClaimNext(t.Context(), "http://a/", queue.ClaimOptions{Lease: time.Hour}); err != nil {
			t.Errorf("claim %d: %v", n+1, err)
		}
	}
	if len(steps) > 0 {
		t.Errorf("%d steps did not happen", len(steps))
	}
}
