package parity_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/actions/actionstest"
	"github.com/org/foreman-action/internal/cli/action"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/importer"
	"github.com/org/foreman-action/internal/othertools"
	"github.com/org/foreman-action/rules"
)

func urlPath(s string) string { return url.PathEscape(s) }

// A side runs one of the two programs on an event that has happened.
type side interface {
	// files returns the files that are added to the repository at the start.
	files() map[string][]byte
	// run runs the program. It reports whether the program's workflow listens to the event.
	run(w *world, e event) bool
}

// ours runs Foreman with the imported configuration, in a workflow that listens to the events that
// the rules name.
type ours struct {
	config []byte
	rules  *rules.Set
}

func (o ours) files() map[string][]byte {
	return map[string][]byte{".github/foreman.yml": o.config}
}

// newOurs imports a case's configuration. It also returns the import's report with the notes in the
// imported file, or the error of an import that refuses the configuration.
func newOurs(t *testing.T, c *parityCase) (ours, string) {
	t.Helper()
	r := othertools.Request{Tool: c.tool, File: c.source}
	if !importer.InWorkflow(c.tool) {
		r.Workflow = c.workflow
	}
	res, err := importer.Import(r)
	if err != nil {
		return ours{}, err.Error()
	}
	report := string(res.Config)
	for _, p := range res.Unmapped {
		report += p.Error() + "\n"
	}
	if res.Config == nil {
		return ours{}, report
	}
	parsed, err := config.Parse(".github/foreman.yml", res.Config, nil)
	if err != nil {
		t.Fatalf("%s: %v", c.path, err)
	}
	return ours{res.Config, parsed.Rules}, report
}

func (o ours) run(w *world, e event) bool {
	w.t.Helper()
	name, activity := e.names()
	if name == "scan" {
		name = "schedule"
	}
	if o.config == nil || !o.rules.Listens(name, activity) {
		return false
	}
	w.runs++
	if w.job == nil {
		w.job = actionstest.NewRunner(w.t)
		w.job.Setenv("GITHUB_API_URL", w.gh.URL)
		w.job.Setenv("GITHUB_REPOSITORY", w.name)
		w.job.SetInput("token", "ghs_test")
	}
	r := w.job
	r.Setenv("GITHUB_RUN_ID", fmt.Sprint(9000000000+w.runs))
	r.SetEvent(name, w.payload(e))
	sleep := func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	now := func() time.Time { return w.at }
	before := len(w.gh.Calls())
	err := action.Run(w.t.Context(), process.Env{Getenv: r.Getenv, Stdout: r, Stderr: r, Now: now, Sleep: sleep}.Complete())
	w.calls = append(w.calls, w.gh.Calls()[before:]...)
	if err != nil && command.ExitCode(err) != command.ExitOK {
		w.t.Errorf("%s: ours failed:\n%s", e.ID, r.Log())
	}
	return true
}

// original runs the published action under node.
type original struct {
	action string
	flow   flow
	source othertools.Source
	main   string            // path of the program
	inputs map[string]string // default inputs of the action
}

// newOriginal finds the action of a case in dir/TOOL/VERSION.
func newOriginal(t *testing.T, c *parityCase, dir string) original {
	t.Helper()
	o := original{action: actionOf(c.tool), source: c.source, inputs: map[string]string{}}
	o.flow = readFlow(t, c.workflow.Data, o.action)
	root := filepath.Join(dir, c.tool, c.header["Version"])
	raw, err := os.ReadFile(filepath.Join(root, "action.yml"))
	if errors.Is(err, fs.ErrNotExist) {
		raw, err = os.ReadFile(filepath.Join(root, "action.yaml"))
	}
	if err != nil {
		t.Fatalf("the original of %s: %v", c.path, err)
	}
	var a struct {
		Inputs map[string]struct{ Default string }
		Runs   struct{ Main string }
	}
	if err := yaml.Unmarshal(raw, &a); err != nil {
		t.Fatal(err)
	}
	for name, in := range a.Inputs {
		o.inputs[name] = in.Default
	}
	o.main = filepath.Join(root, a.Runs.Main)
	return o
}

func actionOf(tool string) string {
	return map[string]string{
		"labeler": "actions/labeler", "issue-labeler": "github/issue-labeler",
		"label-actions": "dessant/label-actions", "stale": "actions/stale",
		"anti-slop": "peakoss/anti-slop",
	}[tool]
}

func (o original) files() map[string][]byte {
	return map[string][]byte{o.source.Name: o.source.Data}
}

// run runs the steps whose conditions are true, if the workflow listens to the event.
func (o original) run(w *world, e event) bool {
	w.t.Helper()
	heard, x := o.flow.hearing(w, e)
	if heard == "" {
		return false
	}
	payload := w.payload(e)
	for _, s := range o.flow.steps {
		runs := []expressions{x}
		for i, m := range s.matrix {
			runs = append(runs[:i], x.with("matrix", m))
		}
		for _, x := range runs {
			if s.runs(w.t, x) {
				w.runs++
				o.step(w, e, call{heard, payload, s, x})
			}
		}
	}
	return true
}

// hearing returns the name under which the workflow gets an event, or "" if it does not, and the
// values of its expressions.
func (f flow) hearing(w *world, e event) (string, expressions) {
	name, act := e.names()
	if name == "scan" {
		name = "schedule"
	}
	var base string
	var files []string
	if name == "pull_request" {
		i := w.issue(e.number())
		base, files = i.Base, i.Files
	}
	heard := f.hears(name, act, base, files)
	if heard == "" {
		return "", expressions{}
	}
	return heard, contexts(w, e, heard, f.env)
}

// leavesOut reports whether the workflow gets an event but its conditions exclude all steps.
func (f flow) leavesOut(w *world, e event) bool {
	heard, x := f.hearing(w, e)
	return heard != "" && !slices.ContainsFunc(f.steps, func(s flowStep) bool { return s.runs(w.t, x) })
}

// contexts returns the values that expressions of workflows use.
func contexts(w *world, e event, heard string, env map[string]any) expressions {
	owner, _, _ := strings.Cut(w.name, "/")
	github := map[string]any{
		"event_name": heard, "repository": w.name, "repository_owner": owner, "token": "ghs_test",
		"actor": cmp.Or(e.Actor, w.opened[e.number()].author()),
	}
	if strings.HasPrefix(heard, "pull_request") {
		i := w.issue(e.number())
		github["base_ref"], github["head_ref"] = i.Base, i.Head
	}
	event := sync.OnceValue(func() any {
		var v any
		if err := json.Unmarshal(w.payload(e), &v); err != nil {
			w.t.Fatal(err)
		}
		return v
	})
	secrets := map[string]any{"GITHUB_TOKEN": "ghs_test"}
	return expressions{map[string]any{"github": github, "secrets": secrets, "env": env}, event}
}

// A call is one run of a step.
type call struct {
	heard   string
	payload []byte
	step    flowStep
	x       expressions
}

func (o original) step(w *world, e event, c call) {
	w.t.Helper()
	r := actionstest.NewRunner(w.t)
	r.Setenv("GITHUB_API_URL", w.gh.URL)
	if o.action == actionOf("anti-slop") {
		r.Setenv("GITHUB_API_URL", w.front(e))
	}
	r.Setenv("GITHUB_REPOSITORY", w.name)
	r.Setenv("GITHUB_SHA", commit)
	r.Setenv("GITHUB_RUN_ID", fmt.Sprint(8000000000+w.runs))
	r.Setenv("RUNNER_TEMP", w.t.TempDir())
	r.Setenv("TMPDIR", w.t.TempDir())
	r.Setenv("PATH", os.Getenv("PATH"))
	r.Setenv("PARITY_NOW", w.at.Format(time.RFC3339))
	r.SetEvent(c.heard, c.payload)
	r.SetInput("repo-token", "ghs_test") // the cases do not contain it
	for name, value := range o.inputs {
		if value != "" {
			r.SetInput(name, expand(w.t, value, c.x))
		}
	}
	for name, value := range c.step.with {
		r.SetInput(name, strings.TrimSpace(expand(w.t, value, c.x)))
	}
	clock, err := filepath.Abs(filepath.Join("testdata", "clock.js"))
	if err != nil {
		w.t.Fatal(err)
	}
	cmd := exec.CommandContext(w.t.Context(), "node", "--require", clock, o.main)
	cmd.Env, cmd.Dir = r.Environ(), r.Getenv("GITHUB_WORKSPACE")
	before := len(w.gh.Calls())
	out, err := cmd.CombinedOutput()
	w.calls = slices.Concat(w.calls, w.gh.Calls()[before:], w.answered)
	w.answered = nil
	if err != nil {
		w.t.Logf("%s: the original failed: %v\n%s", e.ID, err, tail(string(out)))
	}
	if *verbose {
		w.t.Logf("%s: %s", e.ID, out)
	}
}

// tail returns the last lines of a log.
func tail(log string) string {
	lines := strings.Split(strings.TrimSpace(log), "\n")
	return strings.Join(lines[max(len(lines)-6, 0):], "\n")
}
