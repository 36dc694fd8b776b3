package sqlqueue

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// TestPage checks the parameters of a filter and the number of indexes that are used.
func TestPage(t *testing.T) {
	t.Parallel()
	newest := any(int64(1 << 62))
	tests := []struct {
		name    string
		filter  queue.Filter
		sources int
		args    []any
	}{
		{"all", queue.Filter{Before: -1}, 0, []any{nil, newest}},
		{"a page", queue.Filter{Before: 7}, 0, []any{nil, int64(7)}},
		{"completed", queue.Filter{State: queue.Completed}, 4, []any{nil, newest}},
		{"done", queue.Filter{State: queue.Done}, 1, []any{nil, newest}},
		{"unknown state", queue.Filter{State: "odd"}, 0, []any{nil, newest}},
		{"unknown state of a repository", queue.Filter{State: "odd", Repo: "o/r"}, 0, []any{nil, newest}},
		{"agent and issue", queue.Filter{Agent: "http://a/", Repo: "O/r", Issue: 7}, 0, []any{nil, newest, "o/r#7", "http://a/", int64(7)}},
		{"agent", queue.Filter{Agent: "http://a/"}, 11, []any{nil, newest, "http://a/"}},
		{"repository", queue.Filter{Repo: "O/r"}, 3, []any{nil, newest, "O/r"}},
		{"failed ones of a repository", queue.Filter{Repo: "O/r", State: queue.Failed}, 1, []any{nil, newest, "O/r"}},
		{"pending ones of a repository", queue.Filter{Repo: "O/r", State: queue.Pending}, 1, []any{nil, newest, "O/r"}},
		{"completed ones of a repository", queue.Filter{Repo: "O/r", State: queue.Completed}, 4, []any{nil, newest, "O/r"}},
		{"number alone", queue.Filter{Issue: 7}, 0, []any{nil, newest, int64(7)}},
		{"words", queue.Filter{Title: "  Crash 100%  "}, 0, []any{nil, newest, "%crash%", "%100!%%"}},
		{"reason", queue.Filter{State: queue.Failed, Reason: "a_b!"}, 1, []any{nil, newest, "%a!_b!!%"}},
		{"time", queue.Filter{From: time.UnixMilli(5), To: time.UnixMilli(9)}, 0, []any{nil, newest, int64(5), int64(9)}},
	}
	reading := newReading(sqlstore.SQLite())
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			query, args := reading.page(tt.filter, 0)
			if got := strings.Count(query, " AS s"); got != tt.sources {
				t.Errorf("got %d sources:\n%s", got, query)
			}
			if diff := cmp.Diff(tt.args, args); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
