package actions_test

import (
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/actions"
	"github.com/org/foreman-action/internal/actions/actionstest"
)

// FuzzSetOutput checks that for any value the runner reads exactly the one output that was set.
func FuzzSetOutput(f *testing.F) {
	for _, seed := range append(hostile(), "", "\n", "a=b", "a<<E\nx\nE\n", "foreman_\n", "\r\n\r", "\xff\xfe") {
		f.Add(seed)
	}
	step := actionstest.NewRunner(f)
	path := step.Getenv("GITHUB_OUTPUT")
	f.Fuzz(func(t *testing.T, value string) {
		if err := os.Truncate(path, 0); err != nil {
			t.Fatal(err)
		}
		r := newRuntimeOf(step)
		for name, v := range map[string]string{"before": "1", "rationale": value} {
			if err := r.Files.SetOutput(name, v); err != nil {
				t.Fatal(err)
			}
		}
		pairs, err := actionstest.ParseFileCommands(readFile(t, path))
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for _, p := range pairs {
			got[p.Name] = p.Value
		}
		want := map[string]string{"before": "1", "rationale": strings.ToValidUTF8(value, "\uFFFD")}
		if diff := cmp.Diff(want, got); diff != "" || len(pairs) != 2 {
			t.Errorf("%d pairs (-want +got):\n%s", len(pairs), diff)
		}
	})
}

// FuzzLog prints any text: the runner must find the commands that the program issued, and no other.
func FuzzLog(f *testing.F) {
	for _, seed := range append(hostile(), "", "hello", "%0A", "a,b:c=d") {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		step := actionstest.NewRunner(t)
		r := newRuntimeOf(step)
		l := slog.New(r.Log.Handler(slog.LevelDebug))
		r.Log.Printf("%s", text)
		l.Info(text, text, text)
		if got := step.Commands(); len(got) > 0 {
			t.Fatalf("got commands %v in %q, want none", got, step.Log())
		}
		r.Log.Debugf("%s", text)
		l.Warn(text, text, text)
		r.Log.Annotate(actions.Annotation{Level: actions.Error, Title: text, File: text, Line: 1, Message: text})
		r.Log.Group(text)()
		var names []string
		for _, c := range step.Commands() {
			names = append(names, c.Name)
		}
		if diff := cmp.Diff([]string{"debug", "warning", "error", "group", "endgroup"}, names); diff != "" {
			t.Errorf("commands (-want +got):\n%s\n%q", diff, step.Log())
		}
	})
}

// FuzzParseInputs sets any variables: the result is values or mistakes, and no mistake contains a
// secret.
func FuzzParseInputs(f *testing.F) {
	f.Add("60s", "none", "https://a", "7", "true")
	f.Add("", "token", "://", "#", "TRUE")
	f.Add("-1", "oidc\n", "http://u:p@h:99999", "1e3", "\x00")
	f.Fuzz(func(t *testing.T, timeout, auth, address, issue, dry string) {
		step := actionstest.NewRunner(t)
		step.SetInput("agent-timeout", timeout)
		step.SetInput("agent-auth", auth)
		step.SetInput("agent-url", address)
		step.SetInput("issue", issue)
		step.SetInput("dry-run", dry)
		step.SetInput("agent-token", "hunter2hunter2")
		v, err := newRuntimeOf(step).ParseInputs()
		if err != nil {
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("a secret in %q", err)
			}
			return
		}
		if v.AgentTimeout <= 0 || v.Issue < 0 || (v.AgentURL != nil && v.AgentURL.Host == "") {
			t.Errorf("got %+v, want sound values", v)
		}
	})
}
