package workflow_test

import (
	"fmt"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/importer/workflow"
)

// use parses a workflow and returns its only step that uses the action x/y.
func use(t *testing.T, src string) workflow.Use {
	t.Helper()
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(src), &doc); err != nil {
		t.Fatal(err)
	}
	list := workflow.Uses(doc.Content[0], "x/y")
	if len(list) != 1 {
		t.Fatalf("got %d steps", len(list))
	}
	return list[0]
}

func TestVersionOf(t *testing.T) {
	t.Parallel()
	tests := []struct {
		uses, want string
		before     bool // 5.1.1
	}{
		{"x/y@v5", "5", false},
		{"x/y@v5.1", "5.1", false},
		{"x/y@5.1.0", "5.1.0", true},
		{"x/y@v4", "4", true},
		{"x/y@v5.0.0-beta.1", "5.0.0", true},
		{"x/y@main", "main", false},
		{"x/y@releases/v3", "3", true},
		{"x/y@0123abc # v3.0.14", "3.0.14", true},
		{"x/y@0123abc", "unknown", false},
		{"x/y@next", "unknown", false},
	}
	for _, tt := range tests {
		u := use(t, "jobs:\n  a:\n    steps:\n      - uses: "+tt.uses+"\n")
		v, ok := workflow.VersionOf(u.Step.Content[1])
		if got := v.String(); ok && got != tt.want || !ok && tt.want != "unknown" {
			t.Errorf("%s: got %q, %t, want %q", tt.uses, got, ok, tt.want)
		}
		if got := v.Before(5, 1, 1); got != tt.before {
			t.Errorf("%s: before 5.1.1: got %t", tt.uses, got)
		}
	}
}

func TestExpand(t *testing.T) {
	t.Parallel()
	const src = "on: {schedule: [], workflow_dispatch: {}}\nenv: {A: a, B: '${{ x }}'}\njobs: {j: {steps: [{uses: x/y@v1, env: {C: c}}]}}"
	tests := []struct{ text, want string }{
		{"plain", "plain"},
		{"${{ env.A }}-${{env.C}}", "a-c"},
		{"${{ env.B }}", "${{ env.B }}"},
		{"${{ env.D }}", "${{ env.D }}"},
		{"${{ inputs.days }}", ""},
		{"${{ github.event.inputs.days || 60 }}", "60"},
		{"${{ inputs.days || env.A || 'x' }}", "a"},
		{"${{ inputs.a || 'it is' }}", "it is"},
		{"${{ false || 0 }}", "0"},
		{"${{ inputs.a || vars.B }}", "${{ inputs.a || vars.B }}"},
		{"${{ 'a' || vars.B }}", "a"},
		{"${{ github.actor }}", "${{ github.actor }}"},
		{"${{ github.event_name == 'pull_request' }}", "false"},
		{"${{ github.event_name != 'pull_request' && 'a && b' }}", "${{ github.event_name != 'pull_request' && 'a && b' }}"},
		{"${{ github.event_name == 'pull_request' && 1000 || 900}}", "900"},
		{"${{ github.event_name == 'Schedule' && 1000 || vars.A }}", "1000"},
		{"${{ github.event_name == 'schedule' && vars.A || 1 }}", "${{ github.event_name == 'schedule' && vars.A || 1 }}"},
		{"${{ github.event_name == 'push' && vars.A || env.A && 7 }}", "7"},
	}
	for _, tt := range tests {
		if got := use(t, src).Expand(tt.text, []string{"schedule"}); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.text, got, tt.want)
		}
	}
	if got := use(t, src).Expand("${{ inputs.a }}", []string{"issues"}); got != "${{ inputs.a }}" {
		t.Errorf("by another event: got %q", got)
	}
}

// TestExpandHostile checks that a text cannot grow without limit.
func TestExpandHostile(t *testing.T) {
	t.Parallel()
	u := use(t, "env: {A: '"+strings.Repeat("x", 50_000)+"'}\njobs: {j: {steps: [{uses: x/y@v1}]}}")
	if got := u.Expand(strings.Repeat("${{ env.A }}", 3000), nil); len(got) > 3*workflow.MaxText {
		t.Errorf("got %d bytes", len(got))
	}
}

func TestOutputs(t *testing.T) {
	t.Parallel()
	const src = `jobs:
  j:
    outputs: {a: "${{ steps.one.outputs.first }}"}
    steps:
      - uses: x/y@v1
        id: one
      - if: steps.ONE.outputs['Second'] != '' || steps.one-more.outputs.first || steps.one.outcome == 'failure'
      - run: echo ${{ steps['one'] . outputs . third }}
  k: {steps: [{run: "${{ steps.one.outputs.first }}"}]}`
	var got []string
	for _, o := range use(t, src).Outputs() {
		got = append(got, fmt.Sprintf("%s %d:%d", o.Name, o.Node.Line, o.At))
	}
	if want := "first 3:4, second 7:0, third 8:9"; strings.Join(got, ", ") != want {
		t.Errorf("got %q, want %q", got, want)
	}
	long := strings.Replace(src, "id: one", "id: "+strings.Repeat("(", 100_000), 1)
	if list := use(t, long).Outputs(); len(list) > 0 {
		t.Errorf("a long id: got %v", list)
	}
}
