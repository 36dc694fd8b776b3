package assembly

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/trackrecord"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/policy"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/store/sqlite"
	"github.com/org/foreman-action/triage"
)

// A faulty agenda has an error for the record of the repository, or for the list of issues.
type faulty struct {
	memory.Agenda
	load, acted error
}

func (f faulty) Load(ctx context.Context, repo string, issue int) (memory.Record, error) {
	if f.load != nil && issue == memory.Repository {
		return memory.Record{}, f.load
	}
	return f.Agenda.Load(ctx, repo, issue)
}

func (f faulty) Acted(ctx context.Context, repo string, after time.Time) ([]memory.Due, bool, error) {
	if f.acted != nil {
		return nil, false, f.acted
	}
	return f.Agenda.Acted(ctx, repo, after)
}

// TestTrackRecords counts what waits in a database, and reads the outcomes.
func TestTrackRecords(t *testing.T) {
	t.Parallel()
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "foreman.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	update := func(repo string, issue int, change func(r *memory.Record)) {
		t.Helper()
		if _, err := memory.Update(t.Context(), s.Memory(), repo, issue, func(r *memory.Record) error { change(r); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	for issue, days := range map[int]int{1: 40, 2: 20, 3: 15, 4: 13, 5: 1} {
		for _, repo := range []string{"o/r", "o/other"} {
			update(repo, issue, func(r *memory.Record) {
				r.Put(memory.Task{ID: fmt.Sprint(issue), At: now.AddDate(0, 0, -days), By: "rules"})
			})
		}
	}
	// An issue whose first action was judged long ago, with one of yesterday, and proposals, two of them on one issue.
	update("o/r", 1, func(r *memory.Record) {
		r.Put(memory.Task{ID: "again", At: now.AddDate(0, 0, -1), By: "rules"})
	})
	propose := func(repo string, issue, n int) {
		update(repo, issue, func(r *memory.Record) {
			for i := 1; i <= n; i++ {
				var add protocol.ActionItem
				if err := json.Unmarshal(fmt.Appendf(nil, `{"type":"add_label","label":"bug%d"}`, i), &add); err != nil {
					t.Fatal(err)
				}
				r.LastProposal = i
				r.Proposals = append(r.Proposals, memory.Proposal{
					Number: i, ID: fmt.Sprintf("00000000-0000-4000-8000-%012d", i), At: now, Expires: now.Add(time.Duration(issue) * time.Hour), Source: "crash",
					Action: add, Carrier: triage.CarrierComment, State: memory.Pending,
				})
			}
		})
	}
	propose("o/r", 7, 2)
	propose("o/other", 8, 1)
	propose("o/r", 9, 1)
	update("o/r", memory.Repository, func(r *memory.Record) {
		var o memory.Outcomes
		o.Count(memory.PairKey{Source: "rule:00ff", Action: "add_label", Value: "bug"}, "crash", memory.Result{Outcome: memory.OutcomeKept, Issue: 1, Author: "mona", Acted: now.AddDate(0, 0, -40), At: now}, memory.Threshold{Bound: 0.85, Of: 20})
		o.Advance(now.AddDate(0, 0, -30))
		r.Outcomes = &o
	})
	down := errors.New("the disk is gone")
	agenda := s.Memory()
	for _, tt := range []struct {
		name   string
		memory memory.Agenda
		repo   string
		want   *trackrecord.Waiting // nil: an error
		pairs  int
		note   string
	}{
		{"shadow", agenda, "o/other", &trackrecord.Waiting{Due: 2, Later: 3, Proposals: 1, ProposedOn: []int{8}}, 0, ""},
		{"judged", agenda, "o/r", &trackrecord.Waiting{Due: 2, Later: 3, Proposals: 3, ProposedOn: []int{7, 9}}, 1, ""},
		{"never judged", agenda, "o/other", &trackrecord.Waiting{Due: 3, Later: 2, Proposals: 1, ProposedOn: []int{8}}, 0, "no action was judged yet"},
		{"newer", faulty{Agenda: agenda, load: memory.ErrNewer}, "o/r", &trackrecord.Waiting{Due: 3, Later: 2, Proposals: 3, ProposedOn: []int{7, 9}}, 0, "the track record cannot be read, so no permission is earned"},
		{"no database", faulty{Agenda: agenda, load: down}, "o/r", nil, 0, ""},
		{"no list", faulty{Agenda: agenda, acted: down}, "o/r", nil, 0, ""},
	} {
		c := &config.Config{Policy: policy.Policy{Earned: true, JudgeAfter: 14 * 24 * time.Hour, ShadowPeriod: 18 * 24 * time.Hour}}
		if tt.name == "shadow" {
			c.Mode = config.ModeShadow
		}
		records := trackRecords{tt.memory, c, "https://github.com", func() time.Time { return now }}
		got, err := records.report(t.Context(), tt.repo)
		if (err != nil) != (tt.want == nil) || err != nil && !errors.Is(err, down) {
			t.Errorf("%s: got the error %v", tt.name, err)
		}
		if diff := cmp.Diff(tt.want, got.Waiting); err == nil && diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		if tt.name == "newer" && len(got.Notes) != 1 {
			t.Errorf("%s: got the notes %q, want one", tt.name, got.Notes)
		}
		if len(got.Pairs) != tt.pairs || tt.note != "" && !strings.Contains(strings.Join(got.Notes, "\n"), tt.note) {
			t.Errorf("%s: got %+v", tt.name, got)
		}
	}
}
