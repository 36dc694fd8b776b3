package memory_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/memory"
)

// TestScores checks that the scores of an earlier version are read and kept, without the predictions that it did
// not settle, and that scores out of their bounds are neither read nor stored.
func TestScores(t *testing.T) {
	t.Parallel()
	record := func(rules string) string {
		return `{"schema": 1, "repo": "o/r", "issue": 0, "revision": 3, "tasks": [], "scores": {
			"open": [{"at": "2026-04-10T00:00:00Z", "issue": 7, "rule": "a", "type": "add_label", "value": "bug"}], "rules": {` + rules + `}}}`
	}
	r, err := memory.Decode([]byte(record(`"a": {"agreed": 19, "disagreed": 1, "since": "2026-04-01T00:00:00Z"}`)), "o/r", memory.Repository)
	if err != nil {
		t.Fatal(err)
	}
	data, err := memory.Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	again, err := memory.Decode(data, "o/r", memory.Repository)
	want := map[string]memory.Score{"a": {Agreed: 19, Disagreed: 1, Since: time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)}}
	if diff := cmp.Diff(want, again.Scores.Rules); diff != "" || err != nil || strings.Contains(string(data), "open") {
		t.Errorf("%v (-want +got):\n%s\n%s", err, diff, data)
	}
	many := make([]string, 301)
	for i := range many {
		many[i] = fmt.Sprintf(`"%d": {"since": "2026-04-01T00:00:00Z"}`, i)
	}
	for _, rules := range []string{
		strings.Join(many, ","), `"a": {"agreed": -1, "since": "2026-04-01T00:00:00Z"}`, `"a": {"disagreed": 1073741825, "since": "2026-04-01T00:00:00Z"}`,
		`"` + strings.Repeat("x", 65) + `": {"since": "2026-04-01T00:00:00Z"}`,
	} {
		if _, err := memory.Decode([]byte(record(rules)), "o/r", memory.Repository); err == nil {
			t.Errorf("%.80s: got no error", rules)
		}
	}
}
