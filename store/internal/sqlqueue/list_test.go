package sqlqueue

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/queue"
)

func TestConditions(t *testing.T) {
	t.Parallel()
	newest := any(int64(1 << 62))
	tests := []struct {
		name   string
		filter queue.Filter
		where  []string
		args   []any
	}{
		{"all", queue.Filter{Before: -1}, []string{"seq < $2"}, []any{nil, newest}},
		{"a page", queue.Filter{Before: 7}, []string{"seq < $2"}, []any{nil, int64(7)}},
		{"state", queue.Filter{State: queue.Completed}, []string{"seq < $2", "state IN (2, 3, 8)"}, []any{nil, newest}},
		{"unknown state", queue.Filter{State: "odd"}, []string{"seq < $2", "state < 0"}, []any{nil, newest}},
		{
			"agent and issue", queue.Filter{Agent: "http://a/", Repo: "O/r", Issue: 7},
			[]string{"seq < $2", "agent = $3", "lane = $4"}, []any{nil, newest, "http://a/", "o/r#7"},
		},
		{"repository", queue.Filter{Repo: "O/r"}, []string{"seq < $2", "lane >= $3 AND lane < $4"}, []any{nil, newest, "o/r#", "o/r$"}},
		{"number alone", queue.Filter{Issue: 7}, []string{"seq < $2", "issue = $3"}, []any{nil, newest, int64(7)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			where, args := conditions(tt.filter)
			if diff := cmp.Diff(tt.where, where) + cmp.Diff(tt.args, args); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
