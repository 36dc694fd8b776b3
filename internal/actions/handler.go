package actions

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
)

// Handler returns a handler for a [slog.Logger] that writes to the step's log. It writes debug
// records as debug lines, information as plain lines, and warnings and errors as annotations, which
// count towards the limit of [Log.Annotate]. It omits the time of a record because the runner adds
// a time to each line. Messages and values may contain any text.
//
// Records below level are dropped; nil is [slog.LevelInfo], or [slog.LevelDebug] when the run has
// debug logging on.
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

// A logHandler renders the attributes into buf with attrs, a text handler. Handlers that were
// derived by WithAttrs or WithGroup share buf and mu.
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

// render returns the record's attributes. The text handler would also print the level and the
// message, so render gives it an empty message at level INFO and removes that constant prefix.
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

// WithGroup returns a handler that prefixes the names of later attributes with the group's name.
func (h *logHandler) WithGroup(name string) slog.Handler {
	next := *h
	next.attrs = h.attrs.WithGroup(name)
	return &next
}
