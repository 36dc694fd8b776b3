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
	victim string // "server" or "agent"
	step   string // what kind of request is under way
	after  bool   // kill after the response was made; else before the request is passed on
	pause  bool   // the victim stands still for longer than any lease, and goes on
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

// The steps, and the processes that may be killed at them: the sender and the receiver.
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

// A gate is a proxy in every connection, and kills at the chosen step.
type gate struct {
	mu     sync.Mutex
	random *rand.Rand
	armed  *point
	left   int // requests of that step to let by
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

// pauses returns the points after which a server is suspended. A request that is under way
// may take no longer than a lease, so none is held up.
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

// disarm ends the kills.
func (g *gate) disarm() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.armed = nil
}

// pass kills if this is the point, and reports whether it did. server is the name of the
// server that sent or gets the request.
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

// through returns a handler that hands requests on to where target says, which also names
// the server that takes part, and kills on the way. The client of a killed server gets
// no response.
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

// verbStep names the steps between agent and server.
func verbStep(r *http.Request) string {
	return r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
}

// gitHubStep names the steps between server and GitHub.
func gitHubStep(r *http.Request) string {
	if r.Method == http.MethodGet {
		return "GitHub read"
	}
	return "GitHub write"
}
