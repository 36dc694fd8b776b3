//go:build unix

package faults_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// maxTakeover is how long a decision may wait after SIGKILL of the server that carries it out.
const maxTakeover = 10 * time.Second

// TestTakeover kills a server while GitHub is at work on its comment, which GitHub posts
// later all the same. The decision is continued soon by the server that was started again or by
// another one, and nothing is written twice.
func TestTakeover(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it starts and kills processes for some seconds")
	}
	program := build(t)
	for _, d := range deployments() {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
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
				t.Errorf("it does not go on\n%s", s.logs())
			}
			lost, doubled := s.judge(t, 1)
			goesOn := w.first(killed).Sub(killed)
			t.Logf("it goes on after %.1f s, the next write begins after %.1f s: %d lost, %d doubled",
				goesOn.Seconds(), w.firstWrite(killed).Sub(killed).Seconds(), lost, doubled)
			if goesOn < 0 || goesOn > maxTakeover || w.firstWrite(killed).Sub(killed) > maxTakeover {
				t.Errorf("want it to go on within %s\n%s", maxTakeover, s.logs())
			}
			if lost+doubled > 0 {
				t.Errorf("%d lost, %d doubled\n%s", lost, doubled, s.logs())
			}
		})
	}
}

// writes are the requests to a GitHub that takes a while for a comment, and carries out a write
// also when the client is gone.
type writes struct {
	take     time.Duration
	comments chan string // the servers whose comments arrive

	mu       sync.Mutex
	arrivals []arrival
}

// An arrival is a request that arrived.
type arrival struct {
	at    time.Time
	write bool
}

// before returns a handler for the requests of a server.
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
		if strings.HasSuffix(r.URL.Path, "/comments") {
			w.comments <- server
			wait(r.Context(), w.take)
		}
		h.ServeHTTP(rw, r)
	})
}

// first returns when the first request arrived after a time.
func (w *writes) first(after time.Time) time.Time {
	return w.find(func(a arrival) bool { return a.at.After(after) })
}

// firstWrite returns when the first write arrived after a time.
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
