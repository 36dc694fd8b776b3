package actions

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
)

// Handler returns a handler for a [slog.Logger] that writes to the step's log:
// debug records as debug lines, information as plain lines, warnings and errors as
// annotations, which count with those of [Log.Annotate]. The time of a record is
// left out, for the runner stamps each line. Messages and values may hold anything.
//
// Records below level are dropped; nil is [slog.LevelInfo], or [slog.LevelDebug]
// when the run has debug logging on.
func (l *Log) Handler(level slog.Leveler) slog.Handler {
	if level == nil {
		level = slog.LevelInfo
		if l.debug {
			level = slog.LevelDebug
		}
	}
	h := &logHandler{log: l, level: level, mu: &sync.Mutex{}, buf: &bytes.Buffer{}}
	h.attrs = slog.NewTextHandler(h.buf, nil)
	return h
}

// A logHandler lets attrs, a text handler, render the attributes into buf. The
// handlers that With makes share buf and mu.
type logHandler struct {
	log   *Log
	level slog.Leveler
	attrs slog.Handler
	mu    *sync.Mutex
	buf   *bytes.Buffer
}

// Enabled reports whether records of the level are written.
func (h *logHandler) Enabled(_ context.Context, level slog.Level) bool {
	return level >= h.level.Level()
}

// Handle writes the message and the attributes as key=value.
func (h *logHandler) Handle(ctx context.Context, rec slog.Record) error {
	attrs, err := h.render(ctx, rec)
	if err != nil {
		return err
	}
	text := rec.Message
	if attrs != "" {
		text += " " + attrs
	}
	switch {
	case rec.Level >= slog.LevelError:
		h.log.Annotate(Annotation{Level: Error, Message: text})
	case rec.Level >= slog.LevelWarn:
		h.log.Annotate(Annotation{Level: Warning, Message: text})
	case rec.Level >= slog.LevelInfo:
		h.log.Printf("%s", text)
	default:
		h.log.Debugf("%s", text)
	}
	return nil
}

// render returns the record's attributes. The text handler prints the level and the
// message too; those of an empty record are a constant that can be cut off.
func (h *logHandler) render(ctx context.Context, rec slog.Record) (string, error) {
	empty := slog.Record{Level: slog.LevelInfo}
	rec.Attrs(func(a slog.Attr) bool {
		empty.AddAttrs(a)
		return true
	})
	h.mu.Lock()
	defer h.mu.Unlock()
	h.buf.Reset()
	if err := h.attrs.Handle(ctx, empty); err != nil {
		return "", err
	}
	return strings.TrimSpace(strings.TrimPrefix(h.buf.String(), `level=INFO msg=""`)), nil
}

// WithAttrs returns a handler that adds the attributes to every record.
func (h *logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	next := *h
	next.attrs = h.attrs.WithAttrs(attrs)
	return &next
}

// WithGroup returns a handler that qualifies the attributes that follow.
func (h *logHandler) WithGroup(name string) slog.Handler {
	next := *h
	next.attrs = h.attrs.WithGroup(name)
	return &next
}
