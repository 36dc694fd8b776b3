package cost

import (
	"errors"
	"testing"
)

func TestMeter(t *testing.T) {
	t.Parallel()
	m := NewMeter()
	for _, tt := range []struct {
		name   string
		budget *Budget
		limit  int
		err    error
	}{
		{"steps", &m.Steps, MaxSteps, ErrSteps},
		{"text", &m.Text, MaxText, ErrText},
		{"patterns", &m.Patterns, MaxPatterns, ErrPatterns},
	} {
		for range 2 {
			if err := tt.budget.Charge(tt.limit); err != nil {
				t.Errorf("%s: the limit itself: %v", tt.name, err)
			}
			if err := tt.budget.Charge(1); !errors.Is(err, tt.err) || tt.budget.Spent() != tt.limit+1 {
				t.Errorf("%s: got %v after %d, want %v", tt.name, err, tt.budget.Spent(), tt.err)
			}
			m.Reset()
		}
	}
	var none Budget
	if none.Charge(0) != nil || none.Spent() != 0 {
		t.Error("the zero budget does not allow nothing")
	}
}
