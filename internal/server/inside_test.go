package server

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"github.com/org/foreman-action/queue"
)

func TestSplice(t *testing.T) {
	t.Parallel()
	const claim = `"claim":{"attempt":12,"lease_seconds":90}}`
	for message, want := range map[string]string{
		`{}`:                      `{` + claim,
		"{ } \n":                  `{` + claim,
		`{"a":{}}`:                `{"a":{},` + claim,
		"{\"a\":\"}\"\n}\r\n":     `{"a":"}",` + claim,
		`{"claim":{"attempt":1}}`: `{"claim":{"attempt":1},` + claim,
	} {
		var b bytes.Buffer
		splice(&b, queue.Claim{Message: []byte(message), Attempt: 12}, 90*time.Second)
		if got := b.String(); got != want {
			t.Errorf("%q: got %s, want %s", message, got, want)
		}
	}
	var b bytes.Buffer
	splice(&b, queue.Claim{Message: []byte(`{}`), Attempt: 1}, time.Millisecond)
	if want := `{"claim":{"attempt":1,"lease_seconds":1}}`; b.String() != want {
		t.Errorf("a short lease: got %s, want %s", &b, want)
	}
}

// TestLeaveWoken has a waiter leave that was woken and did not look: the next one does.
func TestLeaveWoken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // in which no time passes
		ws := newWaiters(func() (<-chan queue.Change, func()) { return nil, func() {} })
		first, second, other := ws.join("a"), ws.join("a"), ws.join("b")
		ws.wake("a")
		if len(first.woken) != 1 || len(second.woken) != 0 {
			t.Fatal("want the first one woken, and no other")
		}
		ws.leave(first)
		if len(second.woken) != 1 || len(other.woken) != 0 {
			t.Error("want the second one woken, and nobody who waits for another agent")
		}
		ws.leave(second)
		ws.leave(other)
		ws.idle.Wait()
	})
}
