package sqlite

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// TestClaimTogether makes many claims in one group: for two agents and under two names. There are
// more claims than tasks, and one task cannot be decoded. The clock advances with every look at
// it.
func TestClaimTogether(t *testing.T) {
	t.Parallel()
	var ticks atomic.Int64
	ticks.Store(time.Now().UnixMilli())
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "foreman.db"), Options{Now: func() time.Time { return time.UnixMilli(ticks.Add(1)) }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	tasks := map[string]int{"http://a": 5, "http://b": 2}
	for agent, n := range tasks {
		for i := range n {
			id := fmt.Sprint(agent, i)
			if _, err := s.Queue().Enqueue(t.Context(), queue.Task{ID: id, Agent: agent, Repo: "o/r", Issue: i + 1, Priority: i, Message: []byte(`{}`)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	err = s.engine.Write(t.Context(), func(tx sqlstore.Tx) error {
		_, err := tx.Exec("UPDATE task_body SET message = $1 WHERE seq = (SELECT seq FROM task WHERE task_id = $2)", []byte("no JSON"), "http://a4")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	const each = 3 // number of claims per agent and name
	type got struct {
		claim queue.Claim
		by    string
	}
	var mu sync.Mutex
	claims := map[string]got{}
	empty := map[string]int{}
	var calls sync.WaitGroup
	blocked(t, s, 4*each, func() {
		for i := range 4 * each {
			agent, by := []string{"http://a", "http://b"}[i%2], []string{"x", "y"}[i/2%2]
			calls.Go(func() {
				c, err := s.Queue().ClaimNext(t.Context(), agent, queue.ClaimOptions{By: by, Lease: time.Minute})
				mu.Lock()
				defer mu.Unlock()
				if errors.Is(err, queue.ErrEmpty) {
					empty[agent]++
					return
				}
				if _, twice := claims[c.ID]; err != nil || twice || !strings.HasPrefix(c.ID, agent) {
					t.Errorf("%s got %s, %v", agent, c.ID, err)
				}
				claims[c.ID] = got{c, by}
			})
		}
	})
	calls.Wait()
	if len(claims) != 6 || empty["http://a"] != 2 || empty["http://b"] != 4 {
		t.Errorf("got %d claims, nothing: %v", len(claims), empty)
	}
	for id, c := range claims {
		info, err := s.Queue().Inspect(t.Context(), id)
		if err != nil || info.State != queue.Claimed || info.Owner != c.by || info.Attempt != c.claim.Attempt || !info.Until.Equal(c.claim.Until) {
			t.Errorf("%s: got %+v, %v, claimed by %s: %+v", id, info, err, c.by, c.claim)
		}
	}
	if info, err := s.Queue().Inspect(t.Context(), "http://a4"); err != nil || info.State != queue.Failed {
		t.Errorf("the one that cannot be read: %+v, %v", info, err)
	}
}
