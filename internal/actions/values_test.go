package actions_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/org/foreman-action/internal/actions"
	"github.com/org/foreman-action/internal/actions/actionstest"
)

// TestParseInputs reads the files of testdata/inputs. Each file contains "env" and "want". "env"
// lists the variables of a step, one NAME=VALUE per line; a value is in Go quotes where necessary.
// "want" lists the values, or the mistakes.
func TestParseInputs(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/inputs/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if len(archive.Files) != 2 || archive.Files[0].Name != "env" || archive.Files[1].Name != "want" {
				t.Fatal(`want the sections "env" and "want"`)
			}
			r, step := newRuntime(t)
			setVariables(t, step, string(archive.Files[0].Data))
			values, err := r.ParseInputs()
			got := showValues(r, values)
			if err != nil {
				got = err.Error() + "\n"
			}
			if *update {
				archive.Files[1].Data = []byte(got)
				writeFile(t, file, string(txtar.Format(archive)))
				return
			}
			if diff := cmp.Diff(string(archive.Files[1].Data), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func setVariables(t *testing.T, step *actionstest.Runner, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		name, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		if !ok {
			t.Fatalf("line %q: want NAME=VALUE", line)
		}
		if strings.HasPrefix(value, `"`) {
			unquoted, err := strconv.Unquote(value)
			if err != nil {
				t.Fatalf("line %q: %v", line, err)
			}
			value = unquoted
		}
		step.Setenv(name, value)
	}
}

// showValues lists the values in the order of the table, with "set" where the
// workflow gave one.
func showValues(r *actions.Runtime, v actions.Values) string {
	shown := map[actions.InputName]any{
		actions.InputToken: v.Token, actions.InputConfig: v.Config, actions.InputRules: v.Rules,
		actions.InputAgentURL: v.AgentURL, actions.InputAgentAuth: v.AgentAuth, actions.InputAgentToken: v.AgentToken,
		actions.InputAgentTimeout: v.AgentTimeout, actions.InputAllowClose: v.AllowClose,
		actions.InputLLMProvider: v.LLMProvider, actions.InputLLMModel: v.LLMModel, actions.InputMemory: v.Memory,
		actions.InputMemoryPath: v.MemoryPath, actions.InputBotLogin: v.BotLogin, actions.InputIssue: v.Issue,
		actions.InputDryRun: v.DryRun, actions.InputOnAgentError: v.OnAgentError, actions.InputJobIndex: v.JobIndex,
	}
	var b strings.Builder
	for _, in := range actions.Inputs() {
		fmt.Fprintf(&b, "%s: %v", in.Name, shown[in.Name])
		if v.IsSet(in.Name) {
			b.WriteString(" (set)")
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestParseInputsJoinsTypedErrors(t *testing.T) {
	t.Parallel()
	r, step := newRuntime(t)
	step.SetInput("dry-run", "yes")
	step.SetInput("issue", "zero")
	values, err := r.ParseInputs()
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok || len(joined.Unwrap()) != 2 {
		t.Fatalf("got %v, want two joined errors", err)
	}
	var first *actions.InputError
	if !errors.As(joined.Unwrap()[0], &first) || first.Name != actions.InputIssue {
		t.Errorf("got %v, want an InputError about issue", joined.Unwrap()[0])
	}
	if values.Config != "" || values.IsSet(actions.InputIssue) {
		t.Errorf("got values %v beside an error, want none", values)
	}
}

func TestParseInputsSecrets(t *testing.T) {
	t.Parallel()
	r, step := newRuntime(t)
	step.SetInput("token", "ghs_0123456789")
	step.SetInput("agent-auth", "token")
	step.SetInput("agent-token", "agent-secret")
	step.SetInput("agent-url", "https://user:pass%25word@agent.example")
	values, err := r.ParseInputs()
	if err != nil {
		t.Fatal(err)
	}
	if got := string(values.Token); got != "ghs_0123456789" {
		t.Errorf("token: got %q", got)
	}
	if got := string(values.AgentToken); got != "agent-secret" {
		t.Errorf("agent token: got %q", got)
	}
	checkLog(t, step, "::add-mask::agent-secret\n::add-mask::pass%25word\n")
	if shown := fmt.Sprintf("%v %+v %#v", values, values, values); strings.Contains(shown, "agent-secret") ||
		strings.Contains(shown, "ghs_") {
		t.Errorf("a secret is printed: %s", shown)
	}
}

// A mistake in one input must not prevent the masking of the agent's token, nor show the token.
func TestParseInputsErrorsHoldNoSecret(t *testing.T) {
	t.Parallel()
	r, step := newRuntime(t)
	step.SetInput("token", "ghs_one\nghs_two")
	step.SetInput("agent-auth", "oidc")
	step.SetInput("agent-token", "agent-secret")
	step.SetInput("agent-url", "ftp://user:agent-secret@host")
	_, err := r.ParseInputs()
	checkError(t, err, "input agent-url: want an address")
	if strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "ghs_") {
		t.Errorf("a secret in %q", err)
	}
	checkLog(t, step, "::add-mask::agent-secret\n")
}

func TestSecret(t *testing.T) {
	t.Parallel()
	for _, verb := range []string{"%s", "%v", "%+v", "%#v", "%q", "%d", "%x", "%t"} {
		if got := fmt.Sprintf(verb, actions.Secret("hunter2")); got != "[secret]" {
			t.Errorf("%s: got %s", verb, got)
		}
	}
	for _, tt := range []struct {
		secret actions.Secret
		want   string
	}{{"hunter2", "[secret]"}, {"", ""}} {
		var log bytes.Buffer
		slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "value", tt.secret)
		quoted, err := json.Marshal(tt.secret)
		if err != nil {
			t.Fatal(err)
		}
		for _, got := range []string{
			fmt.Sprint(tt.secret), fmt.Sprintf("%#v", tt.secret), strings.Trim(string(quoted), `"`),
		} {
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		}
		if !strings.Contains(log.String(), `"value":"`+tt.want+`"`) {
			t.Errorf("got %s, want %q", log.String(), tt.want)
		}
	}
}
