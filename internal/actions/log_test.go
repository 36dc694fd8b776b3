package actions_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/actions"
	"github.com/org/foreman-action/internal/actions/actionstest"
)

func TestPrintf(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, format string
		args         []any
		want         string
	}{
		{name: "line", format: "hello", want: "hello\n"},
		{name: "values", format: "%s: %d", args: []any{"x", 3}, want: "x: 3\n"},
		{name: "lines", format: "a\nb\r\nc\rd\n", want: "a\nb\nc\nd\n"},
		{name: "empty", format: "", want: "\n"},
		{name: "percent of a value", format: "%s", args: []any{"100%d"}, want: "100%d\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, step := newRuntime(t)
			r.Log.Printf(tt.format, tt.args...)
			checkLog(t, step, tt.want)
		})
	}
}

// hostile returns texts in which the runner would find a command.
func hostile() []string {
	return []string{
		"::error::x",
		"  \t::set-output name=decision::close",
		"title\n::add-mask::a",
		"title\r::stop-commands::x",
		"title\r\n::Debug::x",
		"\u00a0\u2003\u2028::error::x",
		"\u0085::error::x",
		"\v\f::error::x",
		"\uFEFF::error::x",
		"\x1b[0m\n\x00::error::x",
		"a ##[set-output name=decision]close",
		"##[ERROR]x\n##[group]y",
		"::error ##[debug]x",
		"####[[error]x]",
		"::::\n::::::",
		":::error::x",
		"%0A::error::x",
		"\xff\n::error::x",
	}
}

func TestPrintfHostile(t *testing.T) {
	t.Parallel()
	for _, text := range hostile() {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			r, step := newRuntime(t)
			r.Log.Printf("%s", text)
			r.Log.Printf("the title is %s", text)
			if got := step.Commands(); len(got) > 0 {
				t.Errorf("got commands %v in %q, want none", got, step.Log())
			}
		})
	}
}

func TestDebugf(t *testing.T) {
	t.Parallel()
	live, step := newRuntime(t)
	live.Log.Debugf("a %d%%\nb", 1)
	checkLog(t, step, "::debug::a 1%25%0Ab\n")
	quiet, step := newLocal(t, false)
	quiet.Log.Debugf("a")
	checkLog(t, step, "")
	verbose, step := newLocal(t, true)
	verbose.Log.Debugf("a\nb")
	checkLog(t, step, "debug: a\nb\n")
}

func TestGroup(t *testing.T) {
	t.Parallel()
	r, step := newRuntime(t)
	end := r.Log.Group("Plan\n::error::x")
	r.Log.Printf("inside")
	end()
	end()
	got := step.Commands()
	if len(got) > 0 && strings.ContainsAny(got[0].Data, "\r\n") {
		t.Errorf("got the title %q, want one line", got[0].Data)
	}
	if len(got) != 2 || got[0].Name != "group" || got[1].Name != "endgroup" || got[1].Line != 3 {
		t.Errorf("got commands %v, want group and, once and after the line inside, endgroup", got)
	}
	local, step := newLocal(t, false)
	local.Log.Group("Plan")()
	checkLog(t, step, "Plan\n")
}

func TestMask(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, secret string
		want         []string
	}{
		{name: "empty", secret: ""},
		{name: "space", secret: " \n \n"},
		{name: "short", secret: "abc"},
		{name: "shortest", secret: "abcd", want: []string{"abcd"}},
		{name: "trimmed", secret: " token1234\n", want: []string{"token1234"}},
		{name: "escaped", secret: "50%0A::x", want: []string{"50%0A::x"}},
		{name: "lines", secret: "-----BEGIN-----\r\nabcdef\n\nab\nabcdef\n",
			want: []string{"-----BEGIN-----\r\nabcdef\n\nab\nabcdef", "-----BEGIN-----", "abcdef"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, step := newRuntime(t)
			r.Log.Mask(tt.secret)
			var got []string
			for _, c := range step.Commands() {
				if c.Name != "add-mask" {
					t.Errorf("got command %q, want add-mask", c.Name)
				}
				got = append(got, c.Data)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("masks (-want +got):\n%s", diff)
			}
			if lines := strings.Count(step.Log(), "\n"); lines != len(got) {
				t.Errorf("got %d lines for %d commands", lines, len(got))
			}
		})
	}
}

func TestMaskOutsideActions(t *testing.T) {
	t.Parallel()
	r, step := newLocal(t, true)
	r.Log.Mask("hunter22")
	checkLog(t, step, "")
}

// TestBrokenStdout checks that the program continues if the log cannot be written.
func TestBrokenStdout(t *testing.T) {
	t.Parallel()
	step := actionstest.NewRunner(t)
	r := actions.New(actions.Options{Getenv: step.Getenv, Stdout: brokenWriter{}})
	r.Log.Printf("x")
	r.Log.Debugf("x")
	r.Log.Mask("hunter22")
	r.Log.Group("x")()
	r.Log.Annotate(actions.Annotation{Message: "x"})
}

func TestLogConcurrently(t *testing.T) {
	t.Parallel()
	r, step := newRuntime(t)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			r.Log.Printf("plain\nlines")
			r.Log.Debugf("debug")
			r.Log.Annotate(actions.Annotation{Level: actions.Warning, Message: "w"})
		})
	}
	wg.Wait()
	count := map[string]int{}
	for line := range strings.Lines(step.Log()) {
		count[line]++
	}
	want := map[string]int{"plain\n": 20, "lines\n": 20, "::debug::debug\n": 20, "::warning::w\n": 10, "warning: w\n": 10}
	if diff := cmp.Diff(want, count); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}
