package handoff_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/handoff"
	"github.com/org/foreman-action/internal/testkit/golden"
)

var update = flag.Bool("update", false, "rewrite what the cases expect")

// parse runs the parser of a role and returns its problems.
func parse(t testing.TB, role handoff.Role, data []byte) (any, []handoff.Problem) {
	t.Helper()
	var v any
	var err error
	if role == handoff.Builder {
		v, err = handoff.ParseBuilder(data)
	} else {
		v, err = handoff.ParseInspector(data)
	}
	if err == nil {
		return v, nil
	}
	invalid, ok := errors.AsType[*handoff.ValidationError](err)
	if !ok || invalid.Role != role || len(invalid.Problems) == 0 {
		t.Fatalf("got error %#v, want the problems of the %s", err, role)
	}
	if diff := cmp.Diff(v, empty(role)); diff != "" {
		t.Fatalf("the result beside an error is not empty: %s", diff)
	}
	return v, invalid.Problems
}

func empty(role handoff.Role) any {
	if role == handoff.Builder {
		return handoff.BuilderResult{}
	}
	return handoff.InspectorResult{}
}

// gate runs the gate of a role.
func gate(role handoff.Role, data []byte) (any, handoff.Gate) {
	if role == handoff.Builder {
		return handoff.GateBuilder(data)
	}
	return handoff.GateInspector(data)
}

// TestVectors compares paths and codes of problems with the published test vectors.
func TestVectors(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []struct {
		ID    string
		Kind  handoff.Role
		Note  string
		Stdin struct{ Data json.RawMessage }
		Want  struct {
			OK     bool
			Errors []struct{ Path, Code string }
		}
	}
	if err := json.Unmarshal(data, &vectors); err != nil || len(vectors) != 69 {
		t.Fatalf("%d vectors, %v", len(vectors), err)
	}
	for _, v := range vectors {
		_, problems := parse(t, v.Kind, v.Stdin.Data)
		got, want := "", ""
		for _, p := range problems {
			got += p.Path + ":" + p.Code + "\n"
		}
		for _, e := range v.Want.Errors {
			want += e.Path + ":" + e.Code + "\n"
		}
		if got != want || v.Want.OK != (want == "") {
			t.Errorf("%s (%s): got\n%swant\n%s", v.ID, v.Note, got, want)
		}
		agree(t, v.Kind, v.Stdin.Data)
	}
}

// TestResults compares the parser's problems and the gate's answer for each result of
// testdata/results. The name of a case begins with the role.
func TestResults(t *testing.T) {
	t.Parallel()
	golden.Each(t, "testdata/results", *update, func(t *testing.T, c *golden.Case) {
		role := handoff.Inspector
		if strings.Contains(t.Name(), "/builder-") {
			role = handoff.Builder
		}
		data := c.Get("result.json")
		_, problems := parse(t, role, data)
		c.Want(t, "problems", list(problems))
		_, g := gate(role, data)
		c.Want(t, "gate", fmt.Sprintf("%s\n%s", g.State, list(g.Warnings)))
		agree(t, role, data)
	})
}

// list formats problems, one per line. A long list is shortened to its first lines and its last.
func list(problems []handoff.Problem) string {
	var b strings.Builder
	for i, p := range problems {
		if i > 20 && i < len(problems)-1 {
			continue
		}
		fmt.Fprintf(&b, "%s: %s: %s\n", p.Path, p.Code, p.Message)
	}
	return b.String()
}

// TestParsed compares parsed results with the expected values.
func TestParsed(t *testing.T) {
	t.Parallel()
	step, text := "git commit", "no identity"
	failed := handoff.Run{Status: handoff.Failed, FailedStep: &step, Error: &text}
	tests := []struct {
		in   string
		want any
	}{
		{
			`{"run":{"status":"ok"},"work":{"summary":" a ","complexity":"medium"}}`,
			handoff.BuilderResult{handoff.Run{Status: handoff.OK}, &handoff.BuilderWork{" a ", handoff.Medium}},
		},
		{`{"run":{"status":"failed","failed_step":"git commit","error":"no identity"},"work":null}`, handoff.BuilderResult{Run: failed}},
		{`{"run":{"status":"failed","failed_step":"git commit","error":"no identity"},"work":null}`, handoff.InspectorResult{Run: failed}},
		{
			`{"run":{"status":"ok"},"work":{"status":"approved","issues":[],"next_tasks":[]}}`,
			handoff.InspectorResult{handoff.Run{Status: handoff.OK}, &handoff.InspectorWork{handoff.Approved, []handoff.Issue{}, []string{}}},
		},
		{
			`{"run":{"status":"ok"},"work":{"status":"changes_requested","issues":[{"severity":"blocker","description":"d","paths":["p","q"]}],"next_tasks":["t"]}}`,
			handoff.InspectorResult{handoff.Run{Status: handoff.OK}, &handoff.InspectorWork{
				handoff.ChangesRequested, []handoff.Issue{{handoff.Blocker, "d", []string{"p", "q"}}}, []string{"t"},
			}},
		},
	}
	for _, tt := range tests {
		role := handoff.Builder
		if _, ok := tt.want.(handoff.InspectorResult); ok {
			role = handoff.Inspector
		}
		got, problems := parse(t, role, []byte(tt.in))
		if diff := cmp.Diff(tt.want, got); diff != "" || problems != nil {
			t.Errorf("%s: %v, (-want +got):\n%s", tt.in, problems, diff)
		}
		roundTrip(t, role, got)
	}
}

// roundTrip encodes a result and reads it again.
func roundTrip(t testing.TB, role handoff.Role, v any) {
	t.Helper()
	wire, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	again, problems := parse(t, role, wire)
	if diff := cmp.Diff(v, again); diff != "" || problems != nil {
		t.Fatalf("%s: %v, (-first +second):\n%s", wire, problems, diff)
	}
}

// TestGateMissing checks that a missing file and an empty file have different states.
func TestGateMissing(t *testing.T) {
	t.Parallel()
	for _, role := range []handoff.Role{handoff.Builder, handoff.Inspector} {
		got, g := gate(role, nil)
		if g.State != handoff.StateMissing || len(g.Problems)+len(g.Warnings) > 0 || !cmp.Equal(got, empty(role)) {
			t.Errorf("%s: got %+v, %+v", role, got, g)
		}
		if _, g := gate(role, []byte{}); g.State != handoff.StateInvalidJSON || len(g.Problems) != 1 {
			t.Errorf("%s: got %+v of an empty file", role, g)
		}
	}
}

// TestGateResult checks the result that a gate returns: a summary that is too long is complete, and
// a failed run has its failed step.
func TestGateResult(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", handoff.MaxSummary+1)
	result, g := handoff.GateBuilder([]byte(`{"run":{"status":"ok"},"work":{"summary":"` + long + `","complexity":"low"}}`))
	if g.State != handoff.StateValid || result.Work == nil || result.Work.Summary != long {
		t.Errorf("got %+v, %+v of a long summary", result, g)
	}
	failed, g := handoff.GateInspector([]byte(`{"run":{"status":"failed","failed_step":"setup","error":7},"work":{"status":"approved"}}`))
	if g.State != handoff.StateFailed || failed.Run.Status != handoff.Failed || *failed.Run.FailedStep != "setup" || len(g.Problems) > 0 {
		t.Errorf("got %+v, %+v of a hard failure", failed, g)
	}
}

func TestErrorText(t *testing.T) {
	t.Parallel()
	_, err := handoff.ParseBuilder([]byte(`{}`))
	if got, want := err.Error(), "parse builder_result: run must be an object; work must be an object unless run.status is 'failed'"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	many := `{"run":{"status":"ok"},"work":{"status":"approved","issues":[` + strings.Repeat("1,", 11) + `1],"next_tasks":[]}}`
	_, err = handoff.ParseInspector([]byte(many))
	if got := err.Error(); !strings.HasSuffix(got, "; work.issues[9] must be an object; and 2 more") {
		t.Errorf("got %q", got)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	if got := handoff.Builder.ResultName() + " " + handoff.Inspector.ResultFile(); got != "builder_result inspector_result.json" {
		t.Errorf("got %q", got)
	}
}

// size is about the size of a usual result, in bytes.
const size = 2048

// large returns valid results of about size bytes.
func large(t testing.TB) map[handoff.Role][]byte {
	t.Helper()
	issue := `{"severity":"minor","description":"The name of this parameter does not say what it holds","paths":["internal/date/date.go"]},`
	inspector := `{"run":{"status":"ok","failed_step":null,"error":null},"work":{"status":"changes_requested","issues":[` +
		strings.Repeat(issue, size/len(issue)) + issue[:len(issue)-1] + `],"next_tasks":["Rename it"]}}`
	builder := `{"run":{"status":"ok","failed_step":null,"error":null},"work":{"summary":"` + strings.Repeat("x", 300) + `","complexity":"low"},"notes":[` +
		strings.Repeat(`"A note that is not part of the contract", `, 40) + `""]}`
	out := map[handoff.Role][]byte{handoff.Builder: []byte(builder), handoff.Inspector: []byte(inspector)}
	for role, data := range out {
		if _, problems := parse(t, role, data); problems != nil || len(data) < size || len(data) > size*5/4 {
			t.Fatalf("%s: %d bytes, %v", role, len(data), problems)
		}
	}
	return out
}

// BenchmarkParse compares the parsers with json.Unmarshal alone, on the same results.
func BenchmarkParse(b *testing.B) {
	for role, data := range large(b) {
		b.Run(string(role)+"/unmarshal", func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				var v any
				if err := json.Unmarshal(data, &v); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(string(role)+"/parse", func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, problems := parse(b, role, data); problems != nil {
					b.Fatal(problems)
				}
			}
		})
	}
}

// seeds adds every test case to the corpus of a fuzz target.
func seeds(f *testing.F, role handoff.Role) {
	f.Helper()
	paths, err := filepath.Glob("testdata/results/" + string(role) + "-*.txtar")
	if err != nil || len(paths) == 0 {
		f.Fatalf("no cases: %v", err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		_, data, _ = bytes.Cut(data, []byte("-- result.json --\n"))
		data, _, _ = bytes.Cut(data, []byte("\n-- "))
		if len(data) < 10_000 {
			f.Add(data)
		}
	}
}

// fuzz checks properties that every input must have.
func fuzz(t *testing.T, role handoff.Role, data []byte) {
	v, problems := parse(t, role, data)
	if len(problems) > handoff.MaxProblems {
		t.Fatalf("%d problems", len(problems))
	}
	_, g := gate(role, data)
	lenient := 0
	for _, p := range problems {
		if p.Path == "" || p.Message == "" || p.Code == handoff.CodeInconsistent {
			t.Fatalf("got problem %+v", p)
		}
		if p.Code == handoff.CodeTooLong {
			lenient++
		}
	}
	switch g.State {
	case handoff.StateValid:
		if len(problems) != lenient || len(g.Problems) > 0 {
			t.Fatalf("the gate passes %v", problems)
		}
	case handoff.StateFailed:
		if len(g.Problems) > 0 || len(g.Warnings) < len(problems) {
			t.Fatalf("the gate has %+v, the parser %v", g, problems)
		}
	case handoff.StateMissing:
		t.Fatal("there is a file")
	case handoff.StateInvalid, handoff.StateInvalidJSON:
		if len(g.Problems) != len(problems)-lenient {
			t.Fatalf("the gate has %v, the parser %v", g.Problems, problems)
		}
	}
	if problems == nil {
		roundTrip(t, role, v)
	}
	agree(t, role, data)
}

func FuzzParseBuilder(f *testing.F) {
	seeds(f, handoff.Builder)
	f.Fuzz(func(t *testing.T, data []byte) { fuzz(t, handoff.Builder, data) })
}

func FuzzParseInspector(f *testing.F) {
	seeds(f, handoff.Inspector)
	f.Fuzz(func(t *testing.T, data []byte) { fuzz(t, handoff.Inspector, data) })
}
