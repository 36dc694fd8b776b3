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
	slimFile     = "../../slim/action.yml"
)

// metadata is the content of an action.yml whose "runs" has the type R. Unknown keys are errors.
type metadata[R any] struct {
	Name, Description, Author string
	Branding                  struct{ Icon, Color string }
	Inputs                    map[string]metadataInput
	Outputs                   map[string]metadataOutput
	Runs                      R
}

type metadataInput struct {
	Description, Default string
}

type metadataOutput struct {
	Description, Value string
}

type slimRuns struct {
	Using string
	Steps []slimStep
}

type slimStep struct {
	ID, Shell, Run string
	Env            map[string]string
}

type metadataRuns struct {
	Using, Image, Entrypoint string
	Args                     []string
}

// TestActionYML checks that action.yml agrees with the tables of inputs and outputs. With -update
// the test rewrites action.yml from the tables.
func TestActionYML(t *testing.T) {
	t.Parallel()
	text := readFile(t, metadataFile)
	want := replaceBetween(t, text, "# inputs\n", "# /inputs\n", inputsYAML())
	want = replaceBetween(t, want, "# outputs\n", "# /outputs\n", outputsYAML(""))
	compareOrUpdate(t, metadataFile, text, want)

	got := parseMetadata[metadataRuns](t, want)
	wantRuns := metadataRuns{Using: "docker", Image: "Dockerfile", Entrypoint: "/foreman", Args: []string{"action"}}
	if diff := cmp.Diff(wantRuns, got.Runs); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
	checkMetadata(t, got, "")
}

// slim/action.yml has the same inputs and outputs, and passes each input on as a variable.
func TestSlimActionYML(t *testing.T) {
	t.Parallel()
	text := readFile(t, slimFile)
	want := replaceBetween(t, text, "# inputs\n", "# /inputs\n", inputsYAML())
	want = replaceBetween(t, want, "# outputs\n", "# /outputs\n", outputsYAML("foreman"))
	want = replaceBetween(t, want, "        # input variables\n", "        # /input variables\n", variablesYAML())
	compareOrUpdate(t, slimFile, text, want)

	got := parseMetadata[slimRuns](t, want)
	checkMetadata(t, got, "foreman")
	if len(got.Runs.Steps) != 1 {
		t.Fatalf("got %d steps, want one", len(got.Runs.Steps))
	}
	step := got.Runs.Steps[0]
	if got.Runs.Using != "composite" || step.ID != "foreman" || step.Shell != "bash" {
		t.Errorf("got a %s action with the step %s of %s, want a composite one with foreman of bash", got.Runs.Using, step.ID, step.Shell)
	}
	if strings.Contains(step.Run, "${{") {
		t.Error("the script contains an expression; its values would run as code")
	}
	for _, system := range []string{"LINUX", "DARWIN", "WINDOWS"} {
		for _, machine := range []string{"AMD64", "ARM64"} {
			name := "FOREMAN_" + system + "_" + machine
			if value, ok := step.Env[name]; !ok || value != "" || !strings.Contains(step.Run, "pinned=$"+name+" ") {
				t.Errorf("%s: got %q, want an empty variable that the script reads", name, value)
			}
		}
	}
	if value, ok := step.Env["FOREMAN_DOWNLOAD"]; !ok || value != "" {
		t.Errorf("FOREMAN_DOWNLOAD: got %q, want an empty variable", value)
	}
}

func parseMetadata[R any](t *testing.T, text string) metadata[R] {
	t.Helper()
	var got metadata[R]
	decoder := yaml.NewDecoder(strings.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&got); err != nil {
		t.Fatal(err)
	}
	return got
}

// checkMetadata compares everything in an action.yml except "runs" with the tables. In a composite
// action the outputs come from the named step.
func checkMetadata[R any](t *testing.T, got metadata[R], step string) {
	t.Helper()
	if got.Name == "" || got.Author == "" || got.Branding.Icon == "" || got.Branding.Color == "" {
		t.Errorf("got %+v, want a name, an author and a branding", got)
	}
	// On the Marketplace a name must not be that of a user or an organisation.
	if !strings.Contains(got.Name, " issue triage") {
		t.Errorf("got the name %q, want one that no account can have", got.Name)
	}
	if n := len(got.Description); n == 0 || n > 125 {
		t.Errorf("got a description of %d bytes, want 1 to 125", n)
	}
	inputs := map[string]metadataInput{}
	for _, in := range actions.Inputs() {
		inputs[string(in.Name)] = metadataInput{Description: in.Description, Default: metadataDefault(in)}
	}
	if diff := cmp.Diff(inputs, got.Inputs); diff != "" {
		t.Errorf("inputs (-want +got):\n%s", diff)
	}
	outputs := map[string]metadataOutput{}
	for _, out := range actions.Outputs() {
		outputs[out.Name] = metadataOutput{out.Description, outputValue(step, out.Name)}
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

// metadataDefault returns the default of an input in action.yml. Only action.yml contains defaults
// that are expressions, because the program cannot evaluate them.
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

// outputsYAML lists the outputs; those of a composite action come from the named step.
func outputsYAML(step string) string {
	var b strings.Builder
	b.WriteString("outputs:\n")
	for _, out := range actions.Outputs() {
		fmt.Fprintf(&b, "  %s:\n    description: %s\n", out.Name, strconv.Quote(out.Description))
		if value := outputValue(step, out.Name); value != "" {
			fmt.Fprintf(&b, "    value: %s\n", value)
		}
	}
	return b.String()
}

func outputValue(step, name string) string {
	if step == "" {
		return ""
	}
	return "${{ steps." + step + ".outputs." + name + " }}"
}

// variablesYAML passes each input on as an environment variable whose name is valid in a shell.
func variablesYAML() string {
	var b strings.Builder
	for _, in := range actions.Inputs() {
		name := strings.ToUpper(strings.ReplaceAll(string(in.Name), "-", "_"))
		fmt.Fprintf(&b, "        INPUT_%s: ${{ inputs.%s }}\n", name, in.Name)
	}
	return b.String()
}

func inputsMarkdown() string {
	var b strings.Builder
	b.WriteString("| Input | Default | Meaning |\n| --- | --- | --- |\n")
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
	b.WriteString("| Output | Content |\n| --- | --- |\n")
	for _, out := range actions.Outputs() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", out.Name, out.Description)
	}
	return b.String()
}

// replaceBetween returns text with the part between the lines from and to replaced by content.
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
