package taskjson_test

import (
	"testing"

	"github.com/org/foreman-action/internal/server/taskjson"
	"github.com/org/foreman-action/queue"
)

func FuzzSeen(f *testing.F) {
	for _, version := range []string{"", "failed.2.1", "pending.0.0", "done.2", "lost.1.1", "failed.-1.1", "failed.1.x", "claimed.99999999999.0"} {
		f.Add(version)
	}
	f.Fuzz(func(t *testing.T, version string) {
		s, err := taskjson.Seen("id", version)
		if err != nil || version == "" {
			if s != (queue.Seen{ID: "id"}) {
				t.Errorf("got %+v, %v", s, err)
			}
			return
		}
		again, err := taskjson.Seen("id", taskjson.Version(s))
		if err != nil || again != s || s.State == "" {
			t.Errorf("got %+v, %v, want %+v", again, err, s)
		}
	})
}

func TestSeen(t *testing.T) {
	t.Parallel()
	want := queue.Seen{ID: "a", State: queue.Failed, Attempt: 2, Epoch: 1}
	if got, err := taskjson.Seen("a", "failed.2.1"); err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	for _, version := range []string{"failed", "failed.2.1.0", "lost.2.1", "failed.-2.1", "failed.2.", " failed.2.1", "failed.99999999999.1"} {
		if got, err := taskjson.Seen("a", version); err == nil {
			t.Errorf("%q: got %+v, want an error", version, got)
		}
	}
}
