package dashboard

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/org/foreman-action/queue"
)

// The times of a stream.
const (
	burst      = 250 * time.Millisecond // changes so close to each other are told as one
	heartbeat  = 15 * time.Second       // so often something is sent, else nobody sees that it ended
	streamLife = 10 * time.Minute       // then the browser connects anew, and says again who it is
	sendTime   = 10 * time.Second       // for one message
)

// A stream tells one open page that what it shows changed (Server-Sent Events). It
// says only that: the page then fetches itself, which is the one way to show it.
type stream struct {
	w    http.ResponseWriter
	rc   *http.ResponseController
	seen string // version of what the browser shows
	sent time.Time
}

// events answers with a stream.
func (d *Dashboard) events(w http.ResponseWriter, r *http.Request) {
	v := d.visitor(r)
	if v.operator == "" && (d.o.Operators != nil || d.o.Private) {
		http.Error(w, "only operators see this", http.StatusUnauthorized)
		return
	}
	look, err := d.looker(r)
	if err != nil {
		http.Error(w, "no such page", http.StatusBadRequest)
		return
	}
	select {
	case d.streams <- struct{}{}:
		defer func() { <-d.streams }()
	default:
		w.Header().Set("Retry-After", "30")
		http.Error(w, "too many open pages", http.StatusServiceUnavailable)
		return
	}
	s := &stream{w: w, rc: http.NewResponseController(w), seen: r.URL.Query().Get("seen")}
	// What a browser that lost its stream saw last is newer than the page's own version.
	if id := r.Header.Get("Last-Event-ID"); id != "" {
		s.seen = id
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no") // nginx would keep messages back
	if err := s.send("retry: 2000\n\n"); err != nil {
		return
	}
	ctx, stop := context.WithTimeout(r.Context(), streamLife)
	defer stop()
	d.follow(ctx, s, func(ctx context.Context) (string, error) {
		if v.operator != "" && d.visitor(r).operator != v.operator {
			return "", errSignedOut
		}
		return look(ctx)
	})
}

var errSignedOut = errors.New("the session ended")

// looker returns what finds out the version of the page that the stream is for.
func (d *Dashboard) looker(r *http.Request) (func(ctx context.Context) (string, error), error) {
	if id := r.URL.Query().Get("task"); id != "" {
		return func(ctx context.Context) (string, error) {
			details, err := d.o.Queue.Inspect(ctx, id)
			if errors.Is(err, queue.ErrNotFound) {
				return "gone", nil
			}
			if err != nil {
				return "", err
			}
			return content{Task: d.taskPage(details)}.version()
		}, nil
	}
	f, err := readFilter(r.URL.Query())
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (string, error) {
		o, err := d.makeOverview(ctx, f)
		if err != nil {
			return "", err
		}
		return content{Overview: o}.version()
	}, nil
}

// follow tells of each change until the context ends, or the browser is gone. The queue's hints make it quick; looking now and then makes it sure.
func (d *Dashboard) follow(ctx context.Context, s *stream, look func(ctx context.Context) (string, error)) {
	changes, stop := d.o.Queue.Watch()
	defer stop()
	tick := time.NewTicker(d.o.Every)
	defer tick.Stop()
	for {
		version, err := look(ctx)
		switch {
		case errors.Is(err, errSignedOut):
			return
		case err != nil && ctx.Err() == nil:
			d.o.Log.Warn("the dashboard cannot look for changes", "err", err)
		case err == nil && version != s.seen:
			if s.send("id: "+version+"\nevent: change\ndata: "+version+"\n\n") != nil {
				return
			}
			s.seen = version
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
				changes = nil // the queue is closed; the rest of it says so
				continue
			}
			if !rest(ctx, changes) {
				return
			}
		}
	}
}

// rest waits until a burst of changes is over, for a moment; false: for ever.
func rest(ctx context.Context, changes <-chan queue.Change) bool {
	t := time.NewTimer(burst)
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

// send writes a message at once. The server's own time limits are meant for answers
// that end, and are moved along.
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
