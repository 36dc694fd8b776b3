package results_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/actions/results"
	"github.com/org/foreman-action/internal/actions/results/resultstest"
	"github.com/org/foreman-action/memory"
)

// TestRenamedBranch checks that records and scheduled closes that were saved before the default
// branch was renamed still count, with one look-up of the branch. Those of forks and of branches
// that were not renamed do not count, and their loss is logged.
func TestRenamedBranch(t *testing.T) {
	t.Parallel()
	old := resultstest.Job{HeadBranch: "old/master"}
	for _, tt := range []struct {
		name    string
		made    resultstest.Job // by which the record was saved
		renamed string
		deny    bool
		lost    bool
		lookUps int
		log     string
	}{
		{"renamed", old, "old/master", false, false, 1, "earlier=old/master"},
		{"another branch", old, "", false, true, 1, "it was not made on the default branch"},
		{"renamed to another branch", old, "elsewhere", false, true, 1, "it was not made on the default branch"},
		{"a fork with a branch of that name", resultstest.Job{HeadBranch: "old/master", HeadRepositoryID: 666}, "old/master", false, true, 0, "it was made from a fork"},
		{"no permission", old, "old/master", true, true, 2, "`contents: read`"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := resultstest.New(t, resultstest.Config{Renamed: tt.renamed})
			before := optionsOf(s, s.RuntimeToken(tt.made))
			before.DefaultBranch = tt.made.HeadBranch
			if tt.made.HeadRepositoryID != 0 {
				before.RepositoryID = tt.made.HeadRepositoryID
			}
			r := record(0)
			r.Plan(memory.ScheduledClose{Due: time.Date(2026, 5, 1, 8, 30, 0, 0, time.UTC)})
			if err := artifact(t, before).Save(t.Context(), r); err != nil && tt.made.HeadRepositoryID == 0 {
				t.Fatal(err)
			}
			if tt.deny {
				s.Deny(resultstest.ContentsRead, true)
			}
			var log bytes.Buffer
			o := options(s)
			o.Log = slog.New(slog.NewTextHandler(&log, nil))
			store := artifact(t, o)
			list, _, err := store.Pending(t.Context(), "org/repo")
			if lost := len(list) == 0; err != nil || lost != tt.lost {
				t.Errorf("got scheduled closes %v, %v; lost should be %t", list, err, tt.lost)
			}
			got, err := store.Load(t.Context(), "org/repo", 7)
			switch lost := errors.Is(err, memory.ErrNotFound); {
			case tt.deny: // else a new record would replace the old one
				if !errors.Is(err, results.ErrDenied) {
					t.Errorf("got %v, want ErrDenied", err)
				}
			case lost != tt.lost || !lost && err != nil:
				t.Errorf("got a record of revision %d, %v; lost should be %t", got.Revision, err, tt.lost)
			}
			if !tt.lost {
				save(t, store, got) // on top of the record of the old branch
			}
			lookUps := 0
			for _, call := range s.Calls() {
				if strings.Contains(call.URI, "/branches/") {
					lookUps++
				}
			}
			if lookUps != tt.lookUps {
				t.Errorf("%d look-ups of branches, want %d", lookUps, tt.lookUps)
			}
			if !strings.Contains(log.String(), tt.log) {
				t.Errorf("the log has no %q:\n%s", tt.log, &log)
			}
		})
	}
}

// TestManyBranches checks that artifacts of many branches cause only a few look-ups of branches.
func TestManyBranches(t *testing.T) {
	t.Parallel()
	s := resultstest.New(t, resultstest.Config{})
	for i := range 20 {
		s.Add(resultstest.Artifact{Name: "foreman-memory-i7", HeadBranch: strings.Repeat("x/", i) + "?#\r\n"})
	}
	if _, err := artifact(t, options(s)).Load(t.Context(), "org/repo", 7); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
	if n := len(s.Calls()); n != 4 {
		t.Errorf("%d calls, want 1 list and 3 look-ups", n)
	}
}
