package memory_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/memory/file"
)

func prediction(issue int, rule, value string, at time.Time) memory.Prediction {
	return memory.Prediction{At: at, Issue: issue, Rule: rule, Type: "add_label", Value: value}
}

func TestScores(t *testing.T) {
	t.Parallel()
	var s memory.Scores
	day := time.Date(2026, 4, 10, 0, 0, 0, 0, time.UTC)
	first, second := prediction(1, "a", "bug", day), prediction(2, "a", "bug", day.Add(time.Hour))
	s.Predict(second)
	s.Predict(first)
	s.Predict(prediction(1, "a", "bug", day.Add(48*time.Hour))) // open already
	s.Predict(prediction(0, "a", "bug", day))                   // 0 is not an issue
	if due := s.Due(day.Add(time.Minute)); len(s.Open) != 2 || len(due) != 1 || due[0] != first {
		t.Fatalf("got %v open, %v due", s.Open, due)
	}
	if due := s.Due(day.Add(-time.Minute)); len(due) != 0 {
		t.Errorf("got %v due before anything was", due)
	}
	s.Settle(first, true)
	s.Settle(first, true) // the prediction is settled already
	s.Settle(second, false)
	want := memory.Score{Agreed: 1, Disagreed: 1, Since: day}
	if got := s.Rules["a"]; got != want || len(s.Open) != 0 || got.Settled() != 2 || got.Ready() {
		t.Errorf("got %+v with %v open, want %+v", got, s.Open, want)
	}
	for _, tt := range []struct {
		agreed, disagreed int
		ready             bool
	}{{19, 0, false}, {20, 0, true}, {19, 1, true}, {18, 2, false}, {95, 5, true}, {94, 6, false}, {0, 0, false}} {
		if got := (memory.Score{Agreed: tt.agreed, Disagreed: tt.disagreed}).Ready(); got != tt.ready {
			t.Errorf("%d to %d: ready %v", tt.agreed, tt.disagreed, got)
		}
	}
}

// TestScoresAreBounded checks that a record with any scores can be saved.
func TestScoresAreBounded(t *testing.T) {
	t.Parallel()
	store, err := file.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var s memory.Scores
	long := strings.Repeat("é\x00\xff\"", 500)
	for i := 1; i <= 700; i++ {
		p := prediction(i, fmt.Sprint(i, long), long, time.Date(20_000+i, 1, 1, 0, 0, 0, 0, time.UTC))
		s.Predict(p)
		if i%2 == 0 {
			s.Settle(s.Open[0], true)
		}
	}
	if len(s.Open) > 300 || len(s.Rules) != 300 {
		t.Errorf("got %d open and %d rules", len(s.Open), len(s.Rules))
	}
	r := memory.Record{Repo: "o/r", Issue: memory.Repository, Scores: &s}
	if err := store.Save(t.Context(), r); err != nil {
		t.Error(err)
	}
	if _, err := store.Load(t.Context(), "o/r", memory.Repository); err != nil {
		t.Error(err)
	}
	s.Open[0].Value = long
	if err := store.Save(t.Context(), r); err == nil || errors.Is(err, memory.ErrConflict) {
		t.Errorf("a prediction out of bounds: got %v", err)
	}
}
