//go:build unix

package faults_test

import (
	"bytes"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// A point is a step at which a process is killed or suspended.
type point struct {
	victim string // the process to kill: "server" or "agent"
	step   string // the kind of request
	after  bool   // kill after the response was received; false: before the request is forwarded
	pause  bool   // suspend the process for longer than any lease instead of killing it
}

func (p point) String() string {
	when := "before "
	if p.after {
		when = "after "
	}
	if p.pause {
		return p.victim + " paused " + when + p.step
	}
	return p.victim + " " + when + p.step
}

// The steps, each with the processes that may be killed there: the sender and the receiver.
var steps = map[string][]string{
	"webhook":      {"server"},
	"next":         {"server", "agent"},
	"heartbeat":    {"server", "agent"},
	"complete":     {"server", "agent"},
	"result":       {"server", "agent"},
	"nudge":        {"server", "agent"},
	"GitHub read":  {"server"},
	"GitHub write": {"server"},
}

// A gate is a proxy for every connection. It kills a process at the chosen step.
type gate struct {
	mu     sync.Mutex
	random *rand.Rand
	armed  *point
	left   int // requests of this step to forward before the kill
	strike func(victim string, pause bool)
	hits   map[point]int
	killed chan struct{} // gets a value for each kill
}

// points returns all points in a fixed order.
func points() []point {
	var list []point
	for _, step := range slices.Sorted(maps.Keys(steps)) {
		for _, victim := range steps[step] {
			list = append(list, point{victim: victim, step: step}, point{victim: victim, step: step, after: true})
		}
	}
	return list
}

// pauses returns the points at which a server is suspended. It is suspended only after a
// response, because no request may take longer than a lease.
func pauses() []point {
	var list []point
	for _, step := range []string{"GitHub read", "GitHub write", "next", "complete"} {
		list = append(list, point{victim: "server", step: step, after: true, pause: true})
	}
	return list
}

// arm chooses where the next kill is.
func (g *gate) arm(p point) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.armed, g.left = &p, g.random.IntN(3)
}

// disarm cancels the next kill.
func (g *gate) disarm() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.armed = nil
}

// pass kills or suspends the process if the gate is armed for this point. It returns true after a
// kill. server is the name of the server that sends or receives the request.
func (g *gate) pass(server, step string, after bool) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := g.armed
	if p == nil || p.step != step || p.after != after {
		return false
	}
	if g.left > 0 {
		g.left--
		return false
	}
	g.armed = nil
	g.hits[*p]++
	victim := p.victim
	if victim == "server" {
		victim = server
	}
	g.strike(victim, p.pause)
	g.killed <- struct{}{}
	return !p.pause
}

// through returns a handler that forwards requests, and kills at the chosen point. target returns
// the URL to forward to, and the name of the server that sends or receives the request. If the
// server is killed, the client gets no response.
func (g *gate) through(step func(*http.Request) string, target func() (url, server string)) http.Handler {
	client := &http.Client{
		Transport:     &http.Transport{MaxIdleConnsPerHost: 16},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := step(r)
		url, server := target()
		body, err := io.ReadAll(r.Body)
		if err != nil || g.pass(server, name, false) {
			panic(http.ErrAbortHandler)
		}
		req, err := http.NewRequestWithContext(r.Context(), r.Method, url+r.URL.RequestURI(), bytes.NewReader(body))
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		req.Header = r.Header.Clone()
		resp, err := client.Do(req)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		defer resp.Body.Close()
		answer, err := io.ReadAll(resp.Body)
		if err != nil || g.pass(server, name, true) {
			panic(http.ErrAbortHandler)
		}
		maps.Copy(w.Header(), resp.Header)
		w.WriteHeader(resp.StatusCode)
		_, _ = w.Write(answer)
	})
}

// verbStep returns the step of a request between agent and server.
func verbStep(r *http.Request) string {
	return r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
}

// gitHubStep returns the step of a request from a server to GitHub.
func gitHubStep(r *http.Request) string {
	if r.Method == http.MethodGet {
		return "GitHub read"
	}
	return "GitHub write"
}
