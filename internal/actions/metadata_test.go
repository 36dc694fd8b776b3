package actions_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/actions"
)

const (
	metadataFile = "../../action.yml"
	inputsPage   = "../../docs/inputs.md"
)

// metadata is the content of action.yml; other keys are errors.
type metadata struct {
	Name, Description, Author string
	Branding                  struct{ Icon, Color string }
	Inputs                    map[string]metadataInput
	Outputs                   map[string]struct{ Description string }
	Runs                      metadataRuns
}

type metadataInput struct {
	Description, Default string
}

type metadataRuns struct {
	Using, Image, Entrypoint string
	Args                     []string
}

// The tables are the only source of inputs and outputs: action.yml and docs/inputs.md must agree
// with them. With -update they are rewritten.
func TestActionYML(t *testing.T) {
	t.Parallel()
	text := readFile(t, metadataFile)
	want := replaceBetween(t, text, "# inputs\n", "# /inputs\n", inputsYAML())
	want = replaceBetween(t, want, "# outputs\n", "# /outputs\n", outputsYAML())
	compareOrUpdate(t, metadataFile, text, want)

	var got metadata
	decoder := yaml.NewDecoder(strings.NewReader(want))
	decoder.KnownFields(true)
	if err := decoder.Decode(&got); err != nil {
		t.Fatal(err)
	}
	wantRuns := metadataRuns{Using: "docker", Image: "Dockerfile", Entrypoint: "/foreman", Args: []string{"action"}}
	if diff := cmp.Diff(wantRuns, got.Runs); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
	if got.Name == "" || got.Author == "" || got.Branding.Icon == "" || got.Branding.Color == "" {
		t.Errorf("got %+v, want a name, an author and a branding", got)
	}
	if n := len(got.Description); n == 0 || n > 125 {
		t.Errorf("got a description of %d bytes, want 1 to 125", n)
	}
	checkMetadataTables(t, got)
}

func checkMetadataTables(t *testing.T, got metadata) {
	t.Helper()
	inputs := map[string]metadataInput{}
	for _, in := range actions.Inputs() {
		inputs[string(in.Name)] = metadataInput{Description: in.Description, Default: metadataDefault(in)}
	}
	if diff := cmp.Diff(inputs, got.Inputs); diff != "" {
		t.Errorf("inputs (-want +got):\n%s", diff)
	}
	outputs := map[string]struct{ Description string }{}
	for _, out := range actions.Outputs() {
		outputs[out.Name] = struct{ Description string }{out.Description}
	}
	if diff := cmp.Diff(outputs, got.Outputs); diff != "" {
		t.Errorf("outputs (-want +got):\n%s", diff)
	}
}

func TestInputsPage(t *testing.T) {
	t.Parallel()
	text := readFile(t, inputsPage)
	want := replaceBetween(t, text, "<!-- inputs -->\n", "<!-- /inputs -->\n", inputsMarkdown())
	want = replaceBetween(t, want, "<!-- outputs -->\n", "<!-- /outputs -->\n", outputsMarkdown())
	compareOrUpdate(t, inputsPage, text, want)
}

// The program does not know expressions, so a default that is one stands in
// action.yml only.
func metadataDefault(in actions.Input) string {
	if in.Metadata != "" {
		return in.Metadata
	}
	return in.Default
}

func inputsYAML() string {
	var b strings.Builder
	b.WriteString("inputs:\n")
	for _, in := range actions.Inputs() {
		fmt.Fprintf(&b, "  %s:\n    description: %s\n", in.Name, strconv.Quote(in.Description))
		if value := metadataDefault(in); value != "" {
			fmt.Fprintf(&b, "    default: %s\n", strconv.Quote(value))
		}
	}
	return b.String()
}

func outputsYAML() string {
	var b strings.Builder
	b.WriteString("outputs:\n")
	for _, out := range actions.Outputs() {
		fmt.Fprintf(&b, "  %s:\n    description: %s\n", out.Name, strconv.Quote(out.Description))
	}
	return b.String()
}

func inputsMarkdown() string {
	var b strings.Builder
	b.WriteString("| Input | Default | What it does |\n| --- | --- | --- |\n")
	for _, in := range actions.Inputs() {
		if in.Hidden {
			continue
		}
		value := metadataDefault(in)
		if value != "" {
			value = "`" + value + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", in.Name, value, in.Description)
	}
	return b.String()
}

func outputsMarkdown() string {
	var b strings.Builder
	b.WriteString("| Output | What it holds |\n| --- | --- |\n")
	for _, out := range actions.Outputs() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", out.Name, out.Description)
	}
	return b.String()
}

// replaceBetween returns text with what stands between two lines replaced.
func replaceBetween(t *testing.T, text, from, to, content string) string {
	t.Helper()
	before, rest, ok := strings.Cut("\n"+text, "\n"+from)
	_, after, okEnd := strings.Cut("\n"+rest, "\n"+to)
	if !ok || !okEnd {
		t.Fatalf("no lines %q and %q", from, to)
	}
	return strings.TrimPrefix(before+"\n"+from+content+to+after, "\n")
}

func compareOrUpdate(t *testing.T, file, got, want string) {
	t.Helper()
	if *update {
		writeFile(t, file, want)
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s differs from the tables; run go test ./internal/actions -update (-want +got):\n%s", file, diff)
	}
}
