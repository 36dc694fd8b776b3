package dashboard

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/org/foreman-action/internal/server/filter"
	"github.com/org/foreman-action/internal/wait"
	"github.com/org/foreman-action/queue"
)

const (
	maxStreams = 64
	debounce   = 250 * time.Millisecond // changes within it are sent as one
	heartbeat  = 15 * time.Second       // between messages, so that the end of a connection is noticed
	streamLife = 10 * time.Minute       // then the browser reconnects, and is authenticated again
	sendTime   = 10 * time.Second       // for one message
	maxRest    = 10 * time.Second       // maximum pause between two checks, even if a check is slow
)

// live sends open pages a message whenever their content changes (Server-Sent Events). The
// message is only a version: the browser then loads the page again. It is safe for
// concurrent use.
type live struct {
	queue    queue.Queue
	auth     *auth
	contents *contents
	filter   filter.Parser
	every    time.Duration
	log      *slog.Logger
	permits  chan struct{} // one element for each open stream
}

// ServeHTTP serves a stream.
func (l *live) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	v := l.auth.visitor(r)
	if !l.auth.mayRead(v) {
		http.Error(w, "only operators see this", http.StatusUnauthorized)
		return
	}
	load, err := l.loader(r)
	if err != nil {
		http.Error(w, "no such page", http.StatusBadRequest)
		return
	}
	select {
	case l.permits <- struct{}{}:
		defer func() { <-l.permits }()
	default:
		w.Header().Set("Retry-After", "30")
		http.Error(w, "too many open pages", http.StatusServiceUnavailable)
		return
	}
	s := &stream{w: w, rc: http.NewResponseController(w), seen: r.URL.Query().Get("seen")}
	// After a reconnect, Last-Event-ID is newer than the version in the address.
	if id := r.Header.Get("Last-Event-ID"); id != "" {
		s.seen = id
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no") // against buffering by nginx
	if err := s.send("retry: 2000\n\n"); err != nil {
		return
	}
	ctx, stop := context.WithTimeout(r.Context(), streamLife)
	defer stop()
	l.follow(ctx, s, func(ctx context.Context) (string, error) {
		if v.operator != "" && l.auth.visitor(r).operator != v.operator {
			return "", errSignedOut
		}
		c, err := load(ctx)
		if errors.Is(err, queue.ErrNotFound) {
			return "gone", nil
		}
		if err != nil {
			return "", err
		}
		return c.version()
	})
}

var errSignedOut = errors.New("the session ended")

// loader returns the function that loads the page of a stream.
func (l *live) loader(r *http.Request) (func(ctx context.Context) (content, error), error) {
	if id := r.URL.Query().Get("task"); id != "" {
		return func(ctx context.Context) (content, error) { return l.contents.task(ctx, id) }, nil
	}
	f, err := l.filter.Parse(r.URL.Query())
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (content, error) { return l.contents.overview(ctx, f) }, nil
}

// follow sends each new version until the context ends or the browser disconnects. It checks after
// each change notification of the queue, and also periodically, because notifications can be
// missed.
func (l *live) follow(ctx context.Context, s *stream, version func(ctx context.Context) (string, error)) {
	changes, stop := l.queue.Watch()
	defer stop()
	tick := time.NewTicker(l.every)
	defer tick.Stop()
	for {
		begin := time.Now()
		v, err := version(ctx)
		end := time.Now()
		switch {
		case errors.Is(err, errSignedOut):
			return
		case err != nil && ctx.Err() == nil:
			l.log.Warn("checking for changes for the dashboard failed", "error", err)
		case err == nil && v != s.seen:
			if s.send("id: "+v+"\nevent: change\ndata: "+v+"\n\n") != nil {
				return
			}
			s.seen = v
		}
		if time.Since(s.sent) >= heartbeat && s.send(":\n\n") != nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case _, ok := <-changes:
			if !ok {
				changes = nil // the queue is closed: reading it returns an error
				continue
			}
			if !waitForBurst(ctx, changes) {
				return
			}
		}
		// Pause in proportion to the duration of the check, so that open pages use little server time
		// even if reading is slow.
		if rest := min(costFactor*end.Sub(begin), maxRest); wait.For(ctx, rest-time.Since(end)) != nil {
			return
		}
	}
}

// waitForBurst discards the changes that follow within the debounce time. It returns false if the
// context ended.
func waitForBurst(ctx context.Context, changes <-chan queue.Change) bool {
	t := time.NewTimer(debounce)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-t.C:
			return true
		case _, ok := <-changes:
			if !ok {
				return true
			}
		}
	}
}

// A stream is the connection to one open page.
type stream struct {
	w    http.ResponseWriter
	rc   *http.ResponseController
	seen string // the version that the browser shows
	sent time.Time
}

// send writes and flushes a message. It extends the server's deadlines, which are meant for short
// responses.
func (s *stream) send(message string) error {
	s.sent = time.Now()
	for _, err := range []error{
		s.rc.SetReadDeadline(time.Time{}),
		s.rc.SetWriteDeadline(s.sent.Add(sendTime)),
	} {
		if err != nil && !errors.Is(err, http.ErrNotSupported) {
			return fmt.Errorf("keep a stream open: %w", err)
		}
	}
	if _, err := io.WriteString(s.w, message); err != nil {
		return err
	}
	return s.rc.Flush()
}
