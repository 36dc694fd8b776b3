package yamlfile_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/yamlfile"
)

func TestProblemError(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 60) + "X" + strings.Repeat("b", 60)
	tests := []struct {
		name string
		p    yamlfile.Problem
		want string
	}{
		{"no position", yamlfile.Problem{File: "f", Msg: "m", Source: "x"}, "f: m"},
		{"line only", yamlfile.Problem{File: "f", Line: 3, Msg: "m", Source: "x y"}, "f:3: m\n    x y"},
		{"warning", yamlfile.Problem{File: "f", Line: 3, Column: 2, Msg: "m", Warning: true}, "f:3:2: warning: m"},
		{"blank line", yamlfile.Problem{File: "f", Line: 3, Column: 1, Msg: "m", Source: "  "}, "f:3:1: m"},
		{"caret", yamlfile.Problem{File: "f", Line: 1, Column: 3, Msg: "m", Source: "a: b"}, "f:1:3: m\n    a: b\n      ^"},
		{"beyond the end", yamlfile.Problem{File: "f", Line: 1, Column: 9, Msg: "m", Source: "a"}, "f:1:9: m\n    a\n     ^"},
		{"tabs", yamlfile.Problem{File: "f", Line: 1, Column: 4, Msg: "m", Source: "\ta\tb"}, "f:1:4: m\n    \ta\tb\n    \t \t^"},
		{"wide", yamlfile.Problem{File: "f", Line: 1, Column: 3, Msg: "m", Source: "äöx"}, "f:1:3: m\n    äöx\n      ^"},
		{"terminal escape", yamlfile.Problem{File: "f", Line: 1, Column: 1, Msg: "m", Source: "\x1b[2Ja\u202e"}, "f:1:1: m\n    \ufffd[2Ja\ufffd\n    ^"},
		{"line break", yamlfile.Problem{File: "f", Msg: "a\n::warning::b\rc\x1b[2J ##[error]d"}, "f: a\ufffd::warning::b\ufffdc\ufffd[2J ##\ufffderror]d"},
		{"name", yamlfile.Problem{File: "::warning::f", Msg: "m"}, ":\ufffdwarning::f: m"},
		{"command", yamlfile.Problem{File: "f", Line: 1, Column: 4, Msg: "m", Source: " ::warning::a"}, "f:1:4: m\n     :\ufffdwarning::a\n       ^"},
		{"old command", yamlfile.Problem{File: "f", Line: 1, Msg: "m", Source: "a: ##[error]b"}, "f:1: m\n    a: ##\ufffderror]b"},
		{"hidden command", yamlfile.Problem{File: "f", Line: 1, Msg: "m", Source: "\ufe0f::a #\ufe0f[b"}, "f:1: m\n    \ufe0f:\ufffda #\ufe0f\ufffdb"},
		{"long, at the start", yamlfile.Problem{File: "f", Line: 1, Column: 1, Msg: "m", Source: long}, "f:1:1: m\n    " + long[:100] + "…\n    ^"},
		{"long, in the middle", yamlfile.Problem{File: "f", Line: 1, Column: 61, Msg: "m", Source: long}, "f:1:61: m\n    …" + long[10:110] + "…\n     " + strings.Repeat(" ", 50) + "^"},
		{"long, at the end", yamlfile.Problem{File: "f", Line: 1, Column: 121, Msg: "m", Source: long}, "f:1:121: m\n    …" + long[21:] + "\n     " + strings.Repeat(" ", 99) + "^"},
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
	ps := make(yamlfile.Problems, 70)
	for i := range ps {
		ps[i] = yamlfile.Problem{File: "f", Line: i + 1, Msg: "m"}
	}
	lines := strings.Split(ps.Error(), "\n")
	if len(lines) != 51 || lines[50] != "… and 20 more" || lines[49] != "f:50: m" {
		t.Errorf("got %d lines, the last %q and %q", len(lines), lines[len(lines)-2], lines[len(lines)-1])
	}
}

func TestExpand(t *testing.T) {
	t.Parallel()
	env := map[string]string{"A": "1", "B_2": "two", "NEST": "${A}", "SECRET": "hunter2"}
	tests := []struct{ in, want, err string }{
		{"", "", ""},
		{"plain $A $(A) $$", "plain $A $(A) $$", ""},
		{"${A}", "1", ""},
		{"x${A}y${B_2}z${A}", "x1ytwoz1", ""},
		{"${NEST}", "${A}", ""},
		{"${MISSING}", "", "environment variable MISSING is not set"},
		{"${SECRET}${MISSING}", "", "environment variable MISSING is not set"},
		{"${}", "", `want ${NAME}, got "${}"`},
		{"${1A}", "", `want ${NAME}, got "${1A}"`},
		{"a ${A", "", `want ${NAME}, got "${A"`},
		{"${A:-x}", "", `want ${NAME}, got "${A:-x}"`},
	}
	for _, tt := range tests {
		v := yamlfile.Variables{Lookup: func(name string) (string, error) {
			if value, ok := env[name]; ok {
				return value, nil
			}
			return "", fmt.Errorf("environment variable %s is not set", name)
		}}
		got, problems := v.Expand(tt.in)
		if got != tt.want || strings.Join(problems, "; ") != tt.err {
			t.Errorf("Expand(%q): got %q, %q, want %q, %q", tt.in, got, problems, tt.want, tt.err)
		}
	}
}

func TestSuggest(t *testing.T) {
	t.Parallel()
	known := []string{"add_label", "comment", "close_issue", "on", "when", "issue"}
	tests := []struct{ word, want string }{
		{"add-label", "add_label"},
		{"AddLabel", "add_label"},
		{"addlabels", "add_label"},
		{"coment", "comment"},
		{"ocmment", "comment"},
		{"close", ""},
		{"isue", "issue"},
		{"foo", ""},
		{"", ""},
		{"xy", ""},
		{"wehn", "when"},
		{strings.Repeat("comment", 100), ""},
	}
	for _, tt := range tests {
		if got := yamlfile.Suggest(tt.word, known); got != tt.want {
			t.Errorf("Suggest(%q): got %q, want %q", tt.word, got, tt.want)
		}
	}
	if got := yamlfile.DidYouMean("coment", known); got != "; did you mean comment?" {
		t.Errorf("DidYouMean: got %q", got)
	}
	if got := yamlfile.DidYouMean("zzz", known); got != "" {
		t.Errorf("DidYouMean: got %q, want nothing", got)
	}
}

func ExampleFile_Decode() {
	f, err := yamlfile.Parse("config.yml", []byte("mode: apply\npolcy:\n  allow_close: yes\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	var config struct {
		Mode   string `yaml:"mode"`
		Policy struct {
			AllowClose bool `yaml:"allow_close"`
		} `yaml:"policy"`
	}
	f.Decode(f.Root(), &config)
	var problems yamlfile.Problems
	if errors.As(f.Err(), &problems) {
		fmt.Println(problems)
	}
	// Output:
	// config.yml:2:1: unknown key "polcy"; did you mean policy? (known: mode, policy)
	//     polcy:
	//     ^
}
