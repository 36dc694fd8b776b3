package actions_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/actions"
	"github.com/org/foreman-action/internal/actions/actionstest"
)

func TestAnnotate(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name      string
		a         actions.Annotation
		wantLive  string
		wantLocal string
	}{
		{name: "zero", wantLive: "::notice::\n", wantLocal: "notice: \n"},
		{name: "unknown level", a: actions.Annotation{Level: "add-mask", Message: "m"},
			wantLive: "::notice::m\n", wantLocal: "notice: m\n"},
		{name: "warning", a: actions.Annotation{Level: actions.Warning, Message: "m"},
			wantLive: "::warning::m\n", wantLocal: "warning: m\n"},
		{name: "everything",
			a:         actions.Annotation{Level: actions.Error, Title: "T", File: "a/b.yml", Line: 3, Column: 4, Message: "m"},
			wantLive:  "::error file=a/b.yml,line=3,col=4,title=T::m\n",
			wantLocal: "error: a/b.yml:3:4: T: m\n"},
		{name: "line", a: actions.Annotation{Level: actions.Error, File: "a.yml", Line: 3, Message: "m"},
			wantLive: "::error file=a.yml,line=3::m\n", wantLocal: "error: a.yml:3: m\n"},
		{name: "file", a: actions.Annotation{Level: actions.Error, File: "a.yml", Column: 3, Message: "m"},
			wantLive: "::error file=a.yml::m\n", wantLocal: "error: a.yml: m\n"},
		{name: "line without file", a: actions.Annotation{Level: actions.Error, Line: 3, Message: "m"},
			wantLive: "::error::m\n", wantLocal: "error: m\n"},
		{name: "escapes", a: actions.Annotation{Level: actions.Error, Title: "a:b,c\nd", File: "x,y:z%.yml", Message: "1\r\n50%: a,b"},
			wantLive:  "::error file=x%2Cy%3Az%25.yml,title=a%3Ab%2Cc d::1%0A50%25: a,b\n",
			wantLocal: "error: x,y:z%.yml: a:b,c\nd: 1\n50%: a,b\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			live, step := newRuntime(t)
			live.Log.Annotate(tt.a)
			checkLog(t, step, tt.wantLive)
			local, step := newLocal(t, false)
			local.Log.Annotate(tt.a)
			checkLog(t, step, tt.wantLocal)
		})
	}
}

func TestAnnotateAtMostTenOfALevel(t *testing.T) {
	t.Parallel()
	r, step := newRuntime(t)
	for i := range 12 {
		r.Log.Annotate(actions.Annotation{Level: actions.Error, File: "a.yml", Line: i + 1, Message: "::debug::x"})
	}
	r.Log.Annotate(actions.Annotation{Level: actions.Warning, Message: "w"})
	count := map[string]int{}
	for _, c := range step.Commands() {
		count[c.Name]++
	}
	if diff := cmp.Diff(map[string]int{"error": 10, "warning": 1}, count); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
	for _, line := range []string{"\nerror: a.yml:11: ", "\nerror: a.yml:12: "} {
		if !strings.Contains(step.Log(), line) {
			t.Errorf("no line %q in %q", line, step.Log())
		}
	}
}

func TestAnnotateClips(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		want       string // the message
	}{
		{"fits", strings.Repeat("x", 4096), strings.Repeat("x", 4096)},
		{"too long", strings.Repeat("x", 4097), strings.Repeat("x", 4095) + "…"},
		{"two bytes each fit", strings.Repeat("é", 4096), strings.Repeat("é", 4096)},
		{"two units each", strings.Repeat("😀", 2049), strings.Repeat("😀", 2047) + "…"},
		{"pair at the edge", "x" + strings.Repeat("😀", 2048), "x" + strings.Repeat("😀", 2047) + "…"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, step := newRuntime(t)
			r.Log.Annotate(actions.Annotation{Title: tt.text, Message: tt.text})
			got := step.Commands()
			if len(got) != 1 {
				t.Fatalf("got %d commands, want 1", len(got))
			}
			if got[0].Data != tt.want {
				t.Errorf("message: got %d characters, want %d", utf8.RuneCountInString(got[0].Data), utf8.RuneCountInString(tt.want))
			}
			if title := got[0].Properties["title"]; utf8.RuneCountInString(title) > 255 || !strings.HasSuffix(title, "…") {
				t.Errorf("title: got %d characters, want at most 255 and an ellipsis", utf8.RuneCountInString(title))
			}
		})
	}
}

func TestAnnotateHostile(t *testing.T) {
	t.Parallel()
	for _, text := range hostile() {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			r, step := newRuntime(t)
			r.Log.Annotate(actions.Annotation{Level: actions.Error, Title: text, File: text, Line: 1, Message: text})
			checkOneCommand(t, step, "error")
		})
	}
}

// checkOneCommand fails the test unless the log is one line with the named command.
func checkOneCommand(t *testing.T, step *actionstest.Runner, name string) {
	t.Helper()
	got := step.Commands()
	if len(got) != 1 || got[0].Name != name || got[0].Legacy {
		t.Errorf("got commands %v, want one %s", got, name)
	}
	if n := strings.Count(step.Log(), "\n") + strings.Count(step.Log(), "\r"); n != 1 {
		t.Errorf("got %d line breaks in %q, want 1", n, step.Log())
	}
	for _, c := range got {
		for key := range c.Properties {
			if key != "title" && key != "file" && key != "line" && key != "col" {
				t.Errorf("got the property %q", key)
			}
		}
		if line, ok := c.Properties["line"]; ok && line != "1" {
			t.Errorf("got line %q, want 1", line)
		}
	}
}

func ExampleAnnotation_String() {
	a := actions.Annotation{Level: actions.Error, File: ".github/foreman.yml", Line: 7, Column: 3, Message: `unknown key "lables"`}
	fmt.Println(a)
	// Output: error: .github/foreman.yml:7:3: unknown key "lables"
}
