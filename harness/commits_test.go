package harness_test

import (
	"context"
	"encoding/binary"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/org/foreman-action/harness"
	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/internal/postgrestest"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store"
	"github.com/org/foreman-action/store/postgres"
	"github.com/org/foreman-action/store/sqlite"
)

// TestCommits counts the transactions that events write, each with a label and a comment, from the event
// to the end of its task: to enqueue, claim, complete and lease; before each of the two writes; with the
// record; and at the end. docs/proof/queue.md has the numbers.
func TestCommits(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		open     func(t *testing.T) (database, func() int)
		separate bool // the parts of a step are stored separately
		want     int
	}{
		{"SQLite", openSQLite, false, 8},
		{"SQLite, separate", openSQLite, true, 17},
		{"PostgreSQL", openPostgreSQL, false, 8},
		{"PostgreSQL, separate", openPostgreSQL, true, 17},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, count := tt.open(t)
			changes, stop := s.Queue().Watch()
			defer stop()
			gh := githubtest.New(t, githubtest.Config{Token: token})
			seen := gh.Repo(repo).AddLabel("docs")
			r := &rig{t: t, gh: gh, queue: s.Queue()}
			r.options = harness.Options{
				// Without Cursors the presence of the server is not stored every few seconds.
				Queue: s.Queue(), Slots: s.Slots(), Memory: s.Memory(), Journal: s.Journal(), Progress: s,
				Host: r.host, Agents: []harness.Agent{{URL: agentURL}}, Log: slog.New(slog.DiscardHandler),
			}
			if tt.separate {
				r.options.Progress = nil
			}
			h, err := harness.New(r.options)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() { done <- h.Run(ctx) }()
			event := func(issue int) {
				seen.AddIssue(githubtest.Issue{Number: issue, Title: "It breaks", CreatedAt: time.Date(1999, 12, 1, 0, 0, 0, 0, time.UTC)})
				task := r.enqueue(h, issue).Task
				c, err := s.Queue().ClaimNext(ctx, agentURL, queue.ClaimOptions{Lease: time.Hour})
				if err != nil {
					t.Fatal(err)
				}
				decision := []byte(`{"task_id":"` + c.ID + `","decision":"label_and_respond","rationale":"so",
					"actions":[{"type":"add_label","label":"docs"},{"type":"comment","body":"Thank you."}]}`)
				if _, err := s.Queue().Complete(ctx, queue.Ref{ID: c.ID}, decision); err != nil {
					t.Fatal(err)
				}
				for range changes {
					if d, err := s.Queue().Inspect(ctx, task); err != nil || d.State == queue.Failed {
						t.Fatalf("got %v, %+v", err, d.Info)
					} else if d.State == queue.Done {
						return
					}
				}
			}
			event(1) // and all that happens at the start
			before := count()
			const events = 20
			for n := range events {
				event(2 + n)
			}
			// A few other transactions may be made meanwhile, and calls at the same moment share one.
			if got := count() - before; (got+events/2)/events != tt.want {
				t.Errorf("got %d transactions for %d events, want %d for each", got, events, tt.want)
			}
			if got := len(gh.Issue(repo, 1+events).Comments); got != 1 {
				t.Errorf("got %d comments", got)
			}
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	}
}

// A database is a store of everything.
type database interface {
	harness.Cursors
	store.Progress
	Queue() queue.Queue
	Memory() memory.Agenda
	Journal() memory.Journal
	Slots() queue.Slots
}

// openSQLite opens a database in a file, and returns the function that counts its transactions: in the
// write-ahead log, the last page of each contains the size of the database.
// https://www.sqlite.org/fileformat2.html#the_write_ahead_log
func openSQLite(t *testing.T) (database, func() int) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "foreman.db")
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, func() (commits int) {
		log, err := os.ReadFile(path + "-wal")
		if err != nil || len(log) < 32 {
			t.Fatalf("read the log of %d bytes: %v", len(log), err)
		}
		salt, page := string(log[16:24]), int(binary.BigEndian.Uint32(log[8:]))
		for at := log[32:]; len(at) >= 24+page; at = at[24+page:] {
			if string(at[8:16]) != salt {
				break // left from before the log began again
			}
			if binary.BigEndian.Uint32(at[4:]) > 0 {
				commits++
			}
		}
		return commits
	}
}

// openPostgreSQL opens a database on a server of its own, and returns the function that counts its
// transactions: each that writes has an id. Those of notifications, for which no one waits, do not count.
func openPostgreSQL(t *testing.T) (database, func() int) {
	t.Helper()
	url := postgrestest.Start(t, "fsync=off", "autovacuum=off").Database(t)
	s, err := postgres.Open(t.Context(), url, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.WithoutCancel(t.Context())) })
	const channel, mark = "foreman_changes", "count"
	if _, err := conn.Exec(t.Context(), "LISTEN "+channel); err != nil {
		t.Fatal(err)
	}
	notified := 0
	return s, func() (commits int) {
		if err := conn.QueryRow(t.Context(), "SELECT pg_current_xact_id()::text::bigint FROM pg_notify($1, $2)", channel, mark).Scan(&commits); err != nil {
			t.Fatal(err)
		}
		for {
			n, err := conn.WaitForNotification(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			notified++
			if n.Payload == mark {
				return commits - notified
			}
		}
	}
}
