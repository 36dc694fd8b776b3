package process

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
)

// Logger returns a logger that writes with [Env.Log]: a line for each record of at least
// [slog.LevelInfo], the message and then the attributes as key=value.
func (e Env) Logger() *slog.Logger { return slog.New(lineHandler{env: e}) }

// A lineHandler writes records as lines.
type lineHandler struct {
	env   Env
	attrs []slog.Attr
}

// Enabled reports whether records of the level are written.
func (lineHandler) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelInfo }

// Handle writes a record.
func (h lineHandler) Handle(_ context.Context, rec slog.Record) error {
	text := rec.Message
	add := func(a slog.Attr) bool {
		text += fmt.Sprintf(" %s=%v", a.Key, a.Value)
		return true
	}
	for _, a := range h.attrs {
		add(a)
	}
	rec.Attrs(add)
	h.env.Log("%s", text)
	return nil
}

// WithAttrs returns a handler that adds the attributes to every record.
func (h lineHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	h.attrs = slices.Concat(h.attrs, attrs)
	return h
}

// WithGroup returns h: names of groups are left out.
func (h lineHandler) WithGroup(string) slog.Handler { return h }
