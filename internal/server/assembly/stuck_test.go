package assembly

import (
	"errors"
	"slices"
	"testing"

	"github.com/org/foreman-action/harness"
)

func TestStuck(t *testing.T) {
	t.Parallel()
	loops := []harness.Health{{Loop: "decisions", Stuck: true}, {Loop: "nudges", Reason: "it failed 3 times in a row"}, {Loop: "changes", OK: true}}
	for _, tt := range []struct {
		name    string
		loops   []harness.Health
		healthy error
		want    []string
	}{
		{"a loop makes no progress", loops, nil, []string{"loop decisions"}},
		{"it waits for the database", loops, errors.New("no answer"), nil},
		{"a loop fails", loops[1:], nil, nil},
	} {
		if got := stuck(tt.loops, func() error { return tt.healthy }); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}
