package triage_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"testing"

	"github.com/org/foreman-action/triage"
)

func TestSourceID(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name       string
		source     triage.Source
		id, string string
		agent      bool
	}{
		{"agent", triage.Source{}, "", "agent", true},
		{"rule", triage.Source{Rule: "stale-bugs"}, "stale-bugs", "rule stale-bugs", false},
		{"rule that may override people", triage.Source{Rule: "r", OverrideHumans: true}, "r", "rule r", false},
		{"rule that reverts", triage.Source{Rule: "r", Undo: true}, "r/else_undo", "rule r (else_undo)", false},
		{"rule named like the suffix", triage.Source{Rule: "else_undo"}, "else_undo", "rule else_undo", false},
		{"configured failure", triage.Source{Rule: "agent.on_failure"}, "agent.on_failure", "rule agent.on_failure", false},
		{"undo", triage.Source{Command: "undo"}, "/undo", "command undo", false},
		{"why", triage.Source{Command: "why"}, "/why", "command why", false},
		{"command named like the suffix", triage.Source{Command: "else_undo"}, "/else_undo", "command else_undo", false},
		{"unknown command", triage.Source{Command: "make-coffee"}, "/make-coffee", "command make-coffee", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := tt.source.ID(); got != tt.id {
				t.Errorf("ID: got %q, want %q", got, tt.id)
			}
			if got := tt.source.String(); got != tt.string {
				t.Errorf("String: got %q, want %q", got, tt.string)
			}
			if got := tt.source.IsAgent(); got != tt.agent {
				t.Errorf("IsAgent: got %v, want %v", got, tt.agent)
			}
			want := tt.source
			want.OverrideHumans = false // not part of a record
			if got := triage.ParseSource(tt.id); got != want {
				t.Errorf("ParseSource(%q): got %+v, want %+v", tt.id, got, want)
			}
		})
	}
}

// FuzzParseSource checks that parsing an id and formatting it again does not change it.
func FuzzParseSource(f *testing.F) {
	for _, id := range []string{"", "r", "r/else_undo", "/undo", "/", "/else_undo", "/else_undo/else_undo", "r/else_undo/else_undo"} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		s := triage.ParseSource(id)
		if id == "/" { // "/" without a name is not a command
			return
		}
		if got := s.ID(); got != id {
			t.Errorf("%q became %+v, whose id is %q", id, s, got)
		}
	})
}

// TestStateResult checks each declared state.
func TestStateResult(t *testing.T) {
	t.Parallel()
	want := map[triage.State]string{
		triage.Planned: "planned",
		triage.Trying:  "trying",
		triage.Done:    "done",
		triage.Noted:   "done",
		triage.Already: "done",
		triage.Skipped: "none",
		triage.Refused: "none",
		triage.Failed:  "failed",
		triage.Unknown: "failed",
		triage.NotRun:  "not_run",

		triage.Suggested: "suggested",
	}
	for state, result := range want {
		if got := state.Result(); got != result {
			t.Errorf("%s: got %q, want %q", state, got, result)
		}
	}
	for _, state := range constantsOf(t, "result.go", "State") {
		if _, ok := want[triage.State(state)]; !ok {
			t.Errorf("the table lacks the state %q", state)
		}
	}
}

// constantsOf returns the values of all constants of a string type that a file declares.
func constantsOf(t *testing.T, file, typ string) []string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if name, ok := spec.Type.(*ast.Ident); !ok || name.Name != typ {
			return true
		}
		for _, v := range spec.Values {
			value, err := strconv.Unquote(v.(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, value)
		}
		return true
	})
	if len(list) == 0 {
		t.Fatalf("%s declares no constants of type %s", file, typ)
	}
	return list
}
