package actions_test

import (
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/actions"
)

func TestHandler(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		log  func(l *slog.Logger)
		want string
	}{
		{"debug", func(l *slog.Logger) { l.Debug("a", "n", 1) }, "::debug::a n=1\n"},
		{"info", func(l *slog.Logger) { l.Info("a", "n", 1, "s", "x y") }, "a n=1 s=\"x y\"\n"},
		{"info alone", func(l *slog.Logger) { l.Info("a") }, "a\n"},
		{"above info", func(l *slog.Logger) { l.Log(t.Context(), slog.LevelInfo+1, "a") }, "a\n"},
		{"warning", func(l *slog.Logger) { l.Warn("a", "err", errors.New("b: c")) }, "::warning::a err=\"b: c\"\n"},
		{"error", func(l *slog.Logger) { l.Error("50%") }, "::error::50%25\n"},
		{"above error", func(l *slog.Logger) { l.Log(t.Context(), slog.LevelError+4, "a") }, "::error::a\n"},
		{"with", func(l *slog.Logger) { l.With("a", 1).WithGroup("g").With("b", 2).Info("m", "c", 3) }, "m a=1 g.b=2 g.c=3\n"},
		{"keys of the record", func(l *slog.Logger) { l.Info("m", "msg", "x", "level", "y", "time", "z") }, "m msg=x level=y time=z\n"},
		{"keys of the record, with", func(l *slog.Logger) { l.With("level", "INFO", "msg", "").Info("m") }, "m level=INFO msg=\"\"\n"},
		{"secret", func(l *slog.Logger) { l.Info("m", "token", actions.Secret("hunter2")) }, "m token=[secret]\n"},
		{"lines in a value", func(l *slog.Logger) { l.Info("m", "title", "x\ny") }, "m title=\"x\\ny\"\n"},
		{"lines in the message", func(l *slog.Logger) { l.Info("a\nb") }, "a\nb\n"},
		{"duration", func(l *slog.Logger) { l.Info("m", "took", 1500*time.Millisecond) }, "m took=1.5s\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, step := newRuntime(t)
			tt.log(slog.New(r.Log.Handler(slog.LevelDebug)))
			checkLog(t, step, tt.want)
		})
	}
}

func TestHandlerLevel(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		level slog.Leveler
		debug bool
		want  string
	}{
		{"nil", nil, false, "i\nwarning: w\n"},
		{"nil in a debug run", nil, true, "debug: d\ni\nwarning: w\n"},
		{"info in a debug run", slog.LevelInfo, true, "i\nwarning: w\n"},
		{"warn", slog.LevelWarn, true, "warning: w\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, step := newLocal(t, tt.debug)
			l := slog.New(r.Log.Handler(tt.level))
			l.Debug("d")
			l.Info("i")
			l.Warn("w")
			checkLog(t, step, tt.want)
		})
	}
}

func TestHandlerHostile(t *testing.T) {
	t.Parallel()
	for _, text := range hostile() {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			r, step := newRuntime(t)
			l := slog.New(r.Log.Handler(nil)).With(text, text)
			l.Info(text, text, text, "group", slog.GroupValue(slog.String(text, text)))
			l.WithGroup(text).Info(text, "k", text)
			if got := step.Commands(); len(got) > 0 {
				t.Errorf("got commands %v in %q, want none", got, step.Log())
			}
			r, step = newRuntime(t)
			slog.New(r.Log.Handler(nil)).Warn(text, text, text)
			checkOneCommand(t, step, "warning")
		})
	}
}

func TestHandlerCountsAnnotations(t *testing.T) {
	t.Parallel()
	r, step := newRuntime(t)
	l := slog.New(r.Log.Handler(nil))
	for range 6 {
		l.Error("x")
		r.Log.Annotate(actions.Annotation{Level: actions.Error, Message: "x"})
	}
	if got := strings.Count(step.Log(), "::error::x\n"); got != 10 {
		t.Errorf("got %d annotations, want 10", got)
	}
	if got := strings.Count(step.Log(), "\nerror: x"); got != 2 {
		t.Errorf("got %d lines, want 2", got)
	}
}

func TestHandlerConcurrently(t *testing.T) {
	t.Parallel()
	r, step := newRuntime(t)
	base := slog.New(r.Log.Handler(nil))
	var wg sync.WaitGroup
	for range 20 {
		l := base.With("a", "b")
		wg.Go(func() { l.Info("m", "n", 1) })
	}
	wg.Wait()
	checkLog(t, step, strings.Repeat("m a=b n=1\n", 20))
}
