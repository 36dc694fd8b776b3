package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/cli/draft"
)

// builtSite builds the site once for all tests, and returns its folder.
var builtSite = sync.OnceValues(func() (string, error) {
	const dir = "../../bin/e2e-site"
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	if out, err := exec.Command("go", "run", "./cmd/site", "-root", "../..", "-out", dir, "-repository", "octo/hello").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the site: %w\n%s", err, out)
	}
	return dir, nil
})

func siteDir(t *testing.T) string {
	t.Helper()
	dir, err := builtSite()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// playgroundSite returns the folder of the playground in the site.
func playgroundSite(t *testing.T) string {
	t.Helper()
	return filepath.Join(siteDir(t), "playground")
}

// A playgroundRequest is a request of the page to the engine.
type playgroundRequest struct {
	Title   string         `json:"title,omitempty"`
	Rules   string         `json:"rules"`
	Event   string         `json:"event"`
	Payload string         `json:"payload"`
	Case    string         `json:"case"`
	Values  map[string]any `json:"values"`
	Runs    int            `json:"runs,omitempty"` // the fastest run is reported; 0: one run
}

// playgroundAnswer contains the undecoded documents of a response.
type playgroundAnswer struct {
	Error       string          `json:"error"`
	Problems    json.RawMessage `json:"problems"`
	Report      json.RawMessage `json:"report"`
	Explanation json.RawMessage `json:"explanation"`
	Tests       json.RawMessage `json:"tests"`
	Took        float64         `json:"took"` // milliseconds of the fastest run
	CPU         float64         `json:"cpu"`  // CPU milliseconds of the fastest run
}

// askNode runs the engine under node on requests, and returns the answers.
func askNode(t *testing.T, requests []playgroundRequest) []playgroundAnswer {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		if os.Getenv("FOREMAN_E2E_REQUIRE_NODE") != "" {
			t.Fatal("there is no node")
		}
		t.Skip("there is no node: apt-get install nodejs")
	}
	dir := playgroundSite(t)
	input, err := json.Marshal(requests)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", "testdata/playground.cjs", dir)
	cmd.Stdin = bytes.NewReader(input)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	var answers []playgroundAnswer
	if err := json.Unmarshal(out, &answers); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if len(answers) != len(requests) {
		t.Fatalf("got %d answers, want %d", len(answers), len(requests))
	}
	return answers
}

// playgroundExamples returns the examples of the page with their files.
func playgroundExamples(t *testing.T) []playgroundRequest {
	t.Helper()
	var list []playgroundRequest
	if err := json.Unmarshal(read(t, filepath.Join(playgroundSite(t), "examples.json")), &list); err != nil {
		t.Fatal(err)
	}
	return list
}

// moreRequests returns requests that are compared in addition to the examples.
func moreRequests(t *testing.T) []playgroundRequest {
	t.Helper()
	file := func(name string) string { return string(read(t, filepath.Join("..", "..", name))) }
	demo := file("testdata/demo/foreman.yml")
	described := map[string]any{
		"issue.title": "A typo in the README", "issue.body": "In line 3.", "issue.labels": []any{"kind/question", "ünï"}, "issue.author": "renovate[bot]", "issue.association": "MEMBER",
	}
	looks := "version: 1\nrules:\n  - {id: first, on: issues.opened, when: author.issues == 0, then: [{add_label: new}]}\n" +
		"  - {id: reads, on: issues.opened, when: label(\"new\"), then: [{comment: Welcome}]}\n"
	pulls := "version: 1\nrules:\n  - {id: source, on: pull_request.opened, when: 'any_file(\"src/**\")', then: [{add_label: source}]}\n" +
		"  - {id: size, on: pull_request.opened, when: pr.additions < 10, then: [{add_label: small}]}\n"
	closes := "version: 1\npolicy: {allow_close: true}\nrules:\n  - {id: close, on: issue_comment.created, when: 'command(\"close\") and actor.permission == \"write\"', then: [{close_issue: {}}]}\n"
	return []playgroundRequest{
		{Title: "edited", Rules: demo, Payload: file("testdata/events/issues/edited.payload.json")},
		{Title: "closed", Rules: file("internal/e2e/cmd/bench/testdata/foreman.yml"), Payload: file("testdata/events/issues/labeled.payload.json")},
		{Title: "described", Rules: demo, Event: "issues.edited", Values: described},
		{Title: "schedule", Rules: "version: 1\nrules:\n  - id: stale\n    on: schedule\n    scan: 'is:issue is:open'\n    when: issue.comments == 0\n    then: [{add_label: stale}]\n", Event: "schedule", Values: described},
		{Title: "agent and memory", Rules: "version: 1\nagent: {url: 'https://agent.example.com'}\nmemory: {store: file}\nrules:\n  - {id: a, on: issues.opened, then: [{add_label: docs}]}\n", Event: "issues.opened"},
		{Title: "shadow", Rules: "version: 1\nmode: shadow\nrules:\n  - {id: a, on: issues.opened, then: [{close_issue: {}}]}\n", Event: "issues.opened"},
		{Title: "no YAML", Rules: "version: 1\nrules: [", Event: "issues.opened"},
		{Title: "a failed test", Rules: "version: 1\nrules:\n  - {id: a, on: issues.opened, when: 'issue.title == \"x\"', then: [{add_label: docs}]}\ntests:\n  - {name: t, issue: {title: y}, expect: {fired: [a]}}\n", Event: "issues.opened"},
		{Title: "markup", Rules: "version: 1\nrules:\n  - {id: a, on: issues.opened, then: [{comment: 'Hi {{ issue.title }}'}]}\n", Event: "issues.opened", Values: map[string]any{"issue.title": "<img src=x onerror=alert(1)> @all closes #1"}},
		{Title: "unknown here", Rules: looks, Event: "issues.opened"},
		{Title: "supplied", Rules: looks, Event: "issues.opened", Values: map[string]any{"author.issues": 0}},
		{Title: "supplied beside a payload", Rules: looks, Payload: file("testdata/events/issues/opened.payload.json"), Case: "author:\n  issues: 0\n"},
		{Title: "pull request", Rules: pulls, Event: "pull_request.opened", Values: map[string]any{"issue.pull_request": true, "pr.files": []any{"src/a.go"}}},
		{Title: "comment", Rules: closes, Event: "issue_comment.created", Values: map[string]any{"comment.body": "/foreman close", "actor.login": "mona", "actor.permission": "write"}},
	}
}

// TestPlaygroundEqualsProgram compares the engine in WebAssembly with foreman for the same rules
// and events. It compares mistakes, plan, explanation and tests.
func TestPlaygroundEqualsProgram(t *testing.T) {
	requests := append(playgroundExamples(t), moreRequests(t)...)
	answers := askNode(t, requests)
	foreman := filepath.Join(t.TempDir(), "foreman")
	output(t, "../..", "go", "build", "-o", foreman, "./cmd/foreman")
	for i, r := range requests {
		t.Run(r.Title, func(t *testing.T) {
			got := answers[i]
			p := newProgram(t, foreman, r)
			p.compare("rules check", got.Problems, "rules", "check", "--format", "json")
			if p.mistaken {
				if string(got.Report) != "null" || string(got.Explanation) != "null" || string(got.Tests) != "null" {
					t.Errorf("there are mistakes, and documents beside them: %+v", got)
				}
				return
			}
			if got.Error != "" {
				t.Errorf("the error %q", got.Error)
			}
			p.compare("triage", got.Report, append([]string{"triage", "--json"}, p.event...)...)
			p.compare("rules explain", got.Explanation, append([]string{"rules", "explain", "--json"}, p.event...)...)
			p.compare("rules test", got.Tests, "rules", "test", "--json")
		})
	}
}

// A program is foreman in a folder with the rules of a request.
type program struct {
	t         *testing.T
	path, dir string
	event     []string // flags that name or describe the event
	mistaken  bool     // the rules have mistakes
}

func newProgram(t *testing.T, path string, r playgroundRequest) *program {
	t.Helper()
	p := &program{t: t, path: path, dir: t.TempDir()}
	write := func(name, content string) {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(p.dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(p.dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(".github/foreman.yml", r.Rules)
	if r.Payload != "" {
		write("event.json", r.Payload)
		p.event = []string{"--event", "event.json"}
	} else {
		p.event = []string{"--event-name", r.Event}
	}
	if r.Case != "" {
		write("case.yml", r.Case)
		p.event = append(p.event, "--case", "case.yml")
	}
	for _, v := range draft.Values() {
		switch value := r.Values[v.Name].(type) {
		case nil:
		case []any:
			for _, item := range value {
				p.event = append(p.event, fmt.Sprintf("--%s=%v", v.Flag, item))
			}
		default:
			p.event = append(p.event, fmt.Sprintf("--%s=%v", v.Flag, value))
		}
	}
	if r.Payload == "" && r.Case == "" && len(r.Values) == 0 {
		p.event = append(p.event, "--title=")
	}
	return p
}

// compare runs foreman and compares its JSON with a document of the engine. It ignores the random
// ID of the task, and the notes, which compare the rules with a repository.
func (p *program) compare(name string, got json.RawMessage, args ...string) {
	p.t.Helper()
	cmd := exec.CommandContext(p.t.Context(), p.path, args...)
	cmd.Dir = p.dir
	var stderr bytes.Buffer
	cmd.Env, cmd.Stderr = []string{"HOME=" + p.dir, "PATH=" + os.Getenv("PATH")}, &stderr
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		p.t.Fatal(err)
	}
	var want, have map[string]any
	if err := json.Unmarshal(out, &want); err != nil {
		p.t.Fatalf("foreman %s: %v\n%s%s", name, err, out, stderr.String())
	}
	if err := json.Unmarshal(got, &have); err != nil || have == nil {
		p.t.Fatalf("the engine's document of %s: %v\n%s", name, err, got)
	}
	for _, m := range []map[string]any{want, have} {
		delete(m, "task_id")
		delete(m, "notes")
	}
	if diff := cmp.Diff(want, have); diff != "" {
		p.t.Errorf("foreman %s (-) and the engine (+) differ:\n%s", name, diff)
	}
	if problems, ok := want["problems"].([]any); ok {
		for _, problem := range problems {
			p.mistaken = p.mistaken || problem.(map[string]any)["severity"] == "error"
		}
	}
}
