package poll

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func FuzzCursor(f *testing.F) {
	for _, seed := range []string{
		`{"version":1,"first":{"begun":true,"taken":[3,1]},"at":1775810000,"base":0}`,
		`{"version":1,"at":1775810000,"base":1775809999,"from":1,"seen":{"1":1775810000},"waiting":{"7":{"from":5,"opened":true}}}`,
		`{"version":1,"seen":{"-1":0}}`, `{"version":1,"at":-1}`, `{"version":1,"seen":{"1":9223372036854775807}}`,
		`{"version":2}`, `{}`, `null`, `[`, ``,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := decodeCursor(data)
		if err != nil {
			return
		}
		if c.since() < 0 || c.handledUntil(1) < 0 {
			t.Errorf("a cursor looks back to %d and %d", c.since(), c.handledUntil(1))
		}
		c.prune()
		out, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		again, err := decodeCursor(out)
		if err != nil {
			t.Fatal(err)
		}
		if len(c.Seen) == 0 {
			c.Seen = nil
		}
		if len(c.Postponed) == 0 {
			c.Postponed = nil
		}
		if c.Backfill != nil && len(c.Backfill.Taken) == 0 {
			c.Backfill.Taken = nil
		}
		if diff := cmp.Diff(c, again); diff != "" {
			t.Errorf("what is encoded is read as another one:\n%s", diff)
		}
	})
}

// TestBounds checks the limits of a cursor: no further issue can be postponed, and only the newest
// seen issues are kept.
func TestBounds(t *testing.T) {
	t.Parallel()
	c := &cursor{Version: cursorVersion, At: 1000, Checkpoint: 1000}
	for n := 1; n <= maxPostponed; n++ {
		if !c.postpone(n, postponed{}) {
			t.Fatalf("there is no room for %d", n)
		}
	}
	if c.postpone(maxPostponed+1, postponed{}) || !c.postpone(1, postponed{From: 7}) || c.Postponed[1].From != 7 {
		t.Error("the bound is not kept, or keeps out what is there")
	}
	for n := range maxSeen + 10 {
		c.markSeen(n+1, 1000+int64(n))
	}
	c.prune()
	if len(c.Seen) > maxSeen || c.Seen[maxSeen+10] == 0 {
		t.Errorf("%d are kept, want %d, the newest ones", len(c.Seen), maxSeen)
	}
}
