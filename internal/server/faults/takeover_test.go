//go:build unix

package faults_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// maxTakeover is how long a decision may wait after a SIGKILL of the server that carries it out.
const maxTakeover = 10 * time.Second

// maxRequest is the longest time that GitHub works on a request.
// https://docs.github.com/en/rest/using-the-rest-api/troubleshooting-the-rest-api#timeouts
const maxRequest = 10 * time.Second

// TestTakeover kills a server while GitHub processes its comment. GitHub nevertheless posts the
// comment later. The restarted server or another one must continue with the decision soon, and
// write nothing twice. Other tests may load the machine, so one quick round of several is enough;
// a server that waits too long is quick in none.
func TestTakeover(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it starts and kills processes for some seconds")
	}
	program := build(t)
	for _, d := range deployments() {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			for round := range 5 {
				soon := false
				t.Run(fmt.Sprint("round ", round+1), func(t *testing.T) { soon = takeover(t, d, program) })
				if soon || t.Failed() {
					return
				}
			}
			t.Errorf("in no round it went on within %s", maxTakeover)
		})
	}
}

// takeover kills the server that sends a comment, and reports whether the decision was continued
// soon. If the fake GitHub itself was too slow, it returns false.
func takeover(t *testing.T, d deployment, program string) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	w := &writes{take: 4 * time.Second, comments: make(chan string, 10)}
	o := d.setting(t, program)
	o.writes = w
	s := newStage(t, o)
	if err := s.deliver(ctx, 1); err != nil {
		t.Fatal(err)
	}
	var victim string
	select {
	case victim = <-w.comments:
	case <-ctx.Done():
		t.Fatalf("no comment was sent\n%s", s.logs())
	}
	s.end(victim)
	killed := time.Now()
	if d.servers == 1 {
		s.start(victim)
	}
	if !s.finished(ctx, 1) {
		t.Fatalf("it does not go on\n%s", s.logs())
	}
	if w.late.Load() {
		t.Logf("GitHub took more than %s for a comment", maxRequest)
		return false
	}
	if lost, doubled := s.judge(t, 1); lost+doubled > 0 {
		t.Errorf("%d lost, %d doubled\n%s", lost, doubled, s.logs())
	}
	goesOn, next := w.first(killed).Sub(killed), w.firstWrite(killed).Sub(killed)
	t.Logf("it goes on after %.1f s, the next write begins after %.1f s", goesOn.Seconds(), next.Seconds())
	return goesOn >= 0 && goesOn <= maxTakeover && next >= 0 && next <= maxTakeover
}

// A writes simulates a GitHub that takes some time for a comment. It carries out a write even if
// the client has disconnected.
type writes struct {
	take     time.Duration
	comments chan string // receives the server of each comment that arrives
	late     atomic.Bool // a comment took longer than maxRequest

	mu       sync.Mutex
	arrivals []arrival
}

// An arrival is the time and kind of a request that arrived.
type arrival struct {
	at    time.Time
	write bool
}

// before returns a handler for the requests of one server, which forwards them to h.
func (w *writes) before(server string, h http.Handler) http.Handler {
	if w == nil {
		return h
	}
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		w.arrivals = append(w.arrivals, arrival{time.Now(), r.Method != http.MethodGet})
		w.mu.Unlock()
		if r.Method == http.MethodGet {
			h.ServeHTTP(rw, r)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r = r.WithContext(context.WithoutCancel(r.Context()))
		r.Body = io.NopCloser(bytes.NewReader(body))
		if !strings.HasSuffix(r.URL.Path, "/comments") {
			h.ServeHTTP(rw, r)
			return
		}
		begun := time.Now()
		w.comments <- server
		wait(r.Context(), w.take)
		h.ServeHTTP(rw, r)
		if time.Since(begun) > maxRequest {
			w.late.Store(true)
		}
	})
}

// first returns when the first request after a time arrived.
func (w *writes) first(after time.Time) time.Time {
	return w.find(func(a arrival) bool { return a.at.After(after) })
}

// firstWrite returns when the first write after a time arrived.
func (w *writes) firstWrite(after time.Time) time.Time {
	return w.find(func(a arrival) bool { return a.at.After(after) && a.write })
}

func (w *writes) find(fits func(arrival) bool) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, a := range w.arrivals {
		if fits(a) {
			return a.at
		}
	}
	return time.Time{}
}
