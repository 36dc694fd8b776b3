package server

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/org/foreman-action/internal/server/guard"
)

// maxBrief is from which size on a body counts as a large one, of which few are read at a
// time. Those of issues are smaller.
const maxBrief = 1 << 20

// A gate lets so many bodies in at a time.
type gate struct {
	brief *room // nil: any number
	large *room
}

// A room holds bodies while they are read. One that takes its time has to go when another
// one waits: else those of a few who send nothing keep all others out.
type room struct {
	places   chan struct{}
	patience time.Duration // with a body, while others wait

	mu sync.Mutex
	in []*guest // in the order in which they came
}

// A guest is a body in a room.
type guest struct {
	body  *body // nil: none is to be read
	since time.Time
}

func newRoom(places int, patience time.Duration) *room {
	return &room{places: make(chan struct{}, places), patience: patience}
}

// The times of a gate: how long a body waits for the others, and how often it looks for
// one that has to go.
const (
	gateWait = 3 * time.Second
	gateLook = 500 * time.Millisecond
)

// enter waits until there is room for the body of a request, and returns what makes room
// again.
func (s *Server) enter(g gate, r *http.Request) (leave func(), err error) {
	room := g.large
	if r.ContentLength >= 0 && r.ContentLength <= maxBrief {
		room = g.brief
	}
	if room == nil {
		return func() {}, nil
	}
	ctx, cancel := context.WithTimeout(r.Context(), gateWait)
	defer cancel()
	if !room.wait(ctx) {
		if s.wrong.Tell("bodies") {
			s.log.LogAttrs(r.Context(), slog.LevelWarn, "too many bodies at once, a request was refused; further ones of this minute are not told",
				slog.String("path", shown(r.URL.Path)), slog.String("remote", guard.From(r)))
		}
		return nil, &refusal{
			status: http.StatusServiceUnavailable, detail: "too many bodies are being read at the moment; try again",
			header: http.Header{"Retry-After": {"5"}},
		}
	}
	b, _ := r.Body.(*body)
	return room.join(b), nil
}

// wait returns whether there is a place before ctx ends.
func (m *room) wait(ctx context.Context) bool {
	select {
	case m.places <- struct{}{}:
		return true
	default:
	}
	look := time.NewTicker(gateLook)
	defer look.Stop()
	for {
		m.hurry()
		select {
		case m.places <- struct{}{}:
			return true
		case <-look.C:
		case <-ctx.Done():
			return false
		}
	}
}

// join notes who has the place that wait got, and returns what gives it back.
func (m *room) join(b *body) (leave func()) {
	g := &guest{b, time.Now()}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.in = append(m.in, g)
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.forget(g)
		<-m.places
	}
}

// hurry ends the body that has been here for the longest time, if that is long enough.
func (m *room) hurry() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.in) == 0 || time.Since(m.in[0].since) < m.patience {
		return
	}
	g := m.in[0]
	m.forget(g) // it leaves soon, and the next look is for another one
	if g.body != nil {
		g.body.hurry()
	}
}

// forget takes a guest off the list. The room is locked.
func (m *room) forget(g *guest) {
	for i, other := range m.in {
		if other == g {
			m.in = append(m.in[:i], m.in[i+1:]...)
			return
		}
	}
}
