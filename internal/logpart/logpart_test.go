package logpart_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/logpart"
)

// TestLevels logs a record of each level by three loggers, and changes the levels meanwhile.
func TestLevels(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	h := logpart.NewHandler(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
	log := slog.New(h)
	executor := logpart.Of(log, logpart.Executor)
	loggers := []*slog.Logger{log, executor.With("task", "1").WithGroup("g").With("part", "api"), logpart.Of(log, logpart.Poll)}
	for _, tt := range []struct{ levels, want string }{
		{"info", "INFO WARN ERROR / INFO WARN ERROR / INFO WARN ERROR"},
		{"executor=debug,warn", "WARN ERROR / DEBUG INFO WARN ERROR / WARN ERROR"},
		{"executor=error,server=debug", "DEBUG INFO WARN ERROR / ERROR / INFO WARN ERROR"},
		{"debug,poll=warn", "DEBUG INFO WARN ERROR / DEBUG INFO WARN ERROR / WARN ERROR"},
	} {
		levels, err := logpart.Levels{}.With(tt.levels)
		if err != nil {
			t.Fatal(err)
		}
		h.Set(levels)
		var got []string
		for _, l := range loggers {
			out.Reset()
			for _, level := range []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError} {
				l.Log(t.Context(), level, "text")
			}
			var seen []string
			for line := range strings.Lines(out.String()) {
				_, rest, _ := strings.Cut(line, "level=")
				level, _, _ := strings.Cut(rest, " ")
				seen = append(seen, level)
			}
			got = append(got, strings.Join(seen, " "))
		}
		if got := strings.Join(got, " / "); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.levels, got, tt.want)
		}
	}
	out.Reset()
	executor.Error("text")
	if !strings.Contains(out.String(), " part=executor") {
		t.Errorf("got %s", out.String())
	}
}

func TestWith(t *testing.T) {
	t.Parallel()
	base := logpart.Levels{Default: slog.LevelWarn, Parts: map[string]slog.Level{logpart.API: slog.LevelError}}
	for _, tt := range []struct{ text, want, err string }{
		{text: "info", want: "INFO map[api:ERROR]"},
		{text: "api=debug , executor=warn", want: "WARN map[api:DEBUG executor:WARN]"},
		{text: "executer=debug", err: `unknown part "executer"; did you mean executor?`},
		{text: "=debug", err: `unknown part ""`},
		{text: "executor=debgu", err: `unknown level "debgu"; did you mean debug?`},
		{text: "", err: `unknown level ""`},
		{text: "INFO+4", err: `unknown level "INFO+4"`},
	} {
		got, err := base.With(tt.text)
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%q: got %v, want %s", tt.text, err, tt.err)
			}
			continue
		}
		if s := fmt.Sprint(got.Default, got.Parts); err != nil || s != tt.want {
			t.Errorf("%q: got %s and %v, want %s", tt.text, s, err, tt.want)
		}
	}
	if len(base.Parts) != 1 {
		t.Errorf("With changed its receiver: %v", base.Parts)
	}
	if !slices.IsSorted(logpart.Names()) {
		t.Errorf("not sorted: %v", logpart.Names())
	}
}

func FuzzWith(f *testing.F) {
	f.Add("executor=debug,warn")
	f.Add("=,")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := logpart.Levels{}.With(text)
		for part := range got.Parts {
			if err != nil || logpart.CheckPart(part) != nil {
				t.Errorf("%q: got %v and %v", text, got, err)
			}
		}
	})
}
