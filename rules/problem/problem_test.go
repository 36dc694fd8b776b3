package problem_test

import (
	"strings"
	"testing"

	"github.com/org/foreman-action/rules/problem"
)

func TestProblemError(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 60) + "X" + strings.Repeat("b", 60)
	tests := []struct {
		name string
		p    problem.Problem
		want string
	}{
		{"no position", problem.Problem{File: "f", Message: "m", Source: "x"}, "f: m"},
		{"line only", problem.Problem{File: "f", Line: 3, Message: "m", Source: "x y"}, "f:3: m\n    x y"},
		{"warning", problem.Problem{File: "f", Line: 3, Column: 2, Message: "m", Warning: true}, "f:3:2: warning: m"},
		{"blank line", problem.Problem{File: "f", Line: 3, Column: 1, Message: "m", Source: "  "}, "f:3:1: m"},
		{"caret", problem.Problem{File: "f", Line: 1, Column: 3, Message: "m", Source: "a: b"}, "f:1:3: m\n    a: b\n      ^"},
		{"beyond the end", problem.Problem{File: "f", Line: 1, Column: 9, Message: "m", Source: "a"}, "f:1:9: m\n    a\n     ^"},
		{"tabs", problem.Problem{File: "f", Line: 1, Column: 4, Message: "m", Source: "\ta\tb"}, "f:1:4: m\n    \ta\tb\n    \t \t^"},
		{"wide", problem.Problem{File: "f", Line: 1, Column: 3, Message: "m", Source: "äöx"}, "f:1:3: m\n    äöx\n      ^"},
		{"terminal escape", problem.Problem{File: "f", Line: 1, Column: 1, Message: "m", Source: "\x1b[2Ja\u202e"}, "f:1:1: m\n    \ufffd[2Ja\ufffd\n    ^"},
		{"line break", problem.Problem{File: "f", Message: "a\n::warning::b\rc\x1b[2J ##[error]d"}, "f: a\ufffd::warning::b\ufffdc\ufffd[2J ##\ufffderror]d"},
		{"name", problem.Problem{File: "::warning::f", Message: "m"}, ":\ufffdwarning::f: m"},
		{"command", problem.Problem{File: "f", Line: 1, Column: 4, Message: "m", Source: " ::warning::a"}, "f:1:4: m\n     :\ufffdwarning::a\n       ^"},
		{"old command", problem.Problem{File: "f", Line: 1, Message: "m", Source: "a: ##[error]b"}, "f:1: m\n    a: ##\ufffderror]b"},
		{"hidden command", problem.Problem{File: "f", Line: 1, Message: "m", Source: "\ufe0f::a #\ufe0f[b"}, "f:1: m\n    \ufe0f:\ufffda #\ufe0f\ufffdb"},
		{"long, at the start", problem.Problem{File: "f", Line: 1, Column: 1, Message: "m", Source: long}, "f:1:1: m\n    " + long[:100] + "…\n    ^"},
		{"long, in the middle", problem.Problem{File: "f", Line: 1, Column: 61, Message: "m", Source: long}, "f:1:61: m\n    …" + long[10:110] + "…\n     " + strings.Repeat(" ", 50) + "^"},
		{"long, at the end", problem.Problem{File: "f", Line: 1, Column: 121, Message: "m", Source: long}, "f:1:121: m\n    …" + long[21:] + "\n     " + strings.Repeat(" ", 99) + "^"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := tt.p.Error(); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestProblemsErrorIsBounded(t *testing.T) {
	t.Parallel()
	ps := make(problem.List, 70)
	for i := range ps {
		ps[i] = problem.Problem{File: "f", Line: i + 1, Message: "m"}
	}
	lines := strings.Split(ps.Error(), "\n")
	if len(lines) != 51 || lines[50] != "… and 20 more" || lines[49] != "f:50: m" {
		t.Errorf("got %d lines, the last %q and %q", len(lines), lines[len(lines)-2], lines[len(lines)-1])
	}
}
