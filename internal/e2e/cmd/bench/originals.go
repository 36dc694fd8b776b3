package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/github/githubtest"
)

// casesDir contains real configurations, with which original actions and foreman are compared.
const casesDir = "internal/importer/parity/testdata/cases"

// A rival is an action that foreman can replace. It has a real configuration, and an event for
// which it writes to GitHub. foreman runs on the same event with the imported configuration.
type rival struct {
	tool   string
	config string // name of a case in casesDir, without its extension
	event  string
	issue  githubtest.Issue
	action string // action in the payload; empty: the event is a schedule
	label  string // label in the payload
	done   func(githubtest.Issue) bool
}

// rivals lists the actions that are timed beside ours.
func rivals() []rival {
	labelled := func(name string) func(githubtest.Issue) bool {
		return func(i githubtest.Issue) bool { return slices.Contains(i.Labels, name) }
	}
	return []rival{
		{
			tool: "issue-labeler", config: "dependabot-core", event: "issues", action: "opened",
			issue: githubtest.Issue{Title: "terraform: a module is not updated", Body: "Since the last release."},
			done:  labelled("L: terraform"),
		},
		{
			tool: "labeler", config: "frontend", event: "pull_request_target", action: "opened",
			issue: githubtest.Issue{Title: "Cast: more devices", PullRequest: true, Files: []string{"cast/src/receiver.ts"}},
			done:  labelled("Cast"),
		},
		{
			tool: "label-actions", config: "retroarcher-plex", event: "issues", action: "labeled", label: "fixed",
			issue: githubtest.Issue{Title: "Windows build fails", Labels: []string{"fixed"}},
			done:  func(i githubtest.Issue) bool { return len(i.Comments) == 1 },
		},
		{
			tool: "stale", config: "apisix-stale", event: "schedule",
			issue: githubtest.Issue{Title: "Memory leak in the worker", CreatedAt: time.Now().AddDate(-1, 0, 0)},
			done:  labelled("stale"),
		},
	}
}

// An original is a published action, below DIR/TOOL/VERSION.
type original struct {
	version string
	main    string
	inputs  map[string]string // default values
}

// findOriginal returns the newest version of a tool below a directory; false: there is none.
func findOriginal(dir, tool string) (original, bool, error) {
	versions, err := filepath.Glob(filepath.Join(dir, tool, "*", "action.yml"))
	if err != nil || len(versions) == 0 {
		return original{}, false, err
	}
	path := slices.MaxFunc(versions, func(a, b string) int {
		return compareVersions(filepath.Base(filepath.Dir(a)), filepath.Base(filepath.Dir(b)))
	})
	raw, err := os.ReadFile(path)
	if err != nil {
		return original{}, false, err
	}
	var a struct {
		Inputs map[string]struct{ Default string }
		Runs   struct{ Main string }
	}
	if err := yaml.Unmarshal(raw, &a); err != nil {
		return original{}, false, fmt.Errorf("%s: %w", path, err)
	}
	o := original{version: filepath.Base(filepath.Dir(path)), main: filepath.Join(filepath.Dir(path), a.Runs.Main), inputs: map[string]string{}}
	if o.main, err = filepath.Abs(o.main); err != nil {
		return original{}, false, err
	}
	for name, in := range a.Inputs {
		o.inputs[name] = in.Default
	}
	return o, true, nil
}

// compareVersions compares versions such as v9.1 and v10 by their numbers. If the numbers are
// equal, it compares the texts.
func compareVersions(a, b string) int {
	return cmp.Or(slices.Compare(numbersOf(a), numbersOf(b)), strings.Compare(a, b))
}

// numbersOf returns the numbers in a text. A number that does not fit into uint64 becomes the
// largest uint64.
func numbersOf(text string) []uint64 {
	var list []uint64
	for _, digits := range strings.FieldsFunc(text, func(c rune) bool { return c < '0' || c > '9' }) {
		n, _ := strconv.ParseUint(digits, 10, 64) // a number out of range is the largest uint64
		list = append(list, n)
	}
	return list
}

// beside returns the scenarios of the original actions that are installed. Each is followed by
// foreman's scenario with the imported configuration.
func (s *stage) beside(node string) ([]scenario, error) {
	var list []scenario
	for _, r := range rivals() {
		o, ok, err := findOriginal(s.originals, r.tool)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		c, err := s.readCase(r)
		if err != nil {
			return nil, err
		}
		env := map[string]string{}
		for name, value := range o.inputs {
			env[inputName(name)] = value
		}
		for name, value := range c.with {
			env[inputName(name)] = value
		}
		for name, value := range env {
			if value == "" || strings.Contains(value, "${{") {
				delete(env, name)
			}
		}
		env["INPUT_REPO-TOKEN"], env["INPUT_GITHUB-TOKEN"], env["INPUT_ISSUE-NUMBER"] = "bench", "bench", fmt.Sprint(number)
		theirs := command{launch: s.launch, path: node, args: []string{o.main}, dir: filepath.Join(s.dir, "empty")}
		mine := command{launch: s.launch, path: s.foreman, args: []string{"action"}, dir: theirs.dir}
		list = append(list,
			scenario{originalName(r, o), s.rival(r, theirs, c.path, c.config, env)},
			scenario{oursName(r), s.rival(r, mine, ".github/foreman.yml", c.imported, nil)},
		)
	}
	return list, nil
}

func originalName(r rival, o original) string { return r.tool + " " + o.version + underNode }
func oursName(r rival) string                 { return oursBeside + r.tool }

// underNode is the suffix of the scenarios of original actions. oursBeside is the prefix of
// foreman's scenarios that follow them.
const (
	underNode  = " under node"
	oursBeside = "foreman on the same event as "
)

// inputName is the environment variable of an input.
func inputName(name string) string { return "INPUT_" + strings.ToUpper(name) }

// A rivalCase is a real configuration, with foreman's import of it.
type rivalCase struct {
	path     string            // of the configuration
	config   string            // the configuration of the original action
	with     map[string]string // inputs in the workflow
	imported string
}

// readCase reads the configuration of a rival, and runs foreman to import it.
func (s *stage) readCase(r rival) (rivalCase, error) {
	ar, err := txtar.ParseFile(filepath.Join(casesDir, r.tool, r.config+".txtar"))
	if err != nil {
		return rivalCase{}, err
	}
	var c rivalCase
	args := []string{"rules", "import", r.tool}
	for _, f := range ar.Files {
		if !strings.HasPrefix(f.Name, ".github/") {
			continue
		}
		file := filepath.Join(s.dir, r.tool, filepath.FromSlash(f.Name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, f.Data, 0o644)); err != nil {
			return c, err
		}
		workflow := strings.HasPrefix(f.Name, ".github/workflows/")
		if workflow {
			if c.with, err = inputsOf(f.Data); err != nil {
				return c, fmt.Errorf("read %s of %s: %w", f.Name, r.config, err)
			}
		}
		switch {
		case workflow && r.tool != "stale":
			args = append(args, "--workflow", file)
		default:
			c.path, c.config = f.Name, string(f.Data)
			args = append(args, file)
		}
	}
	out, err := exec.Command(s.importer, args...).Output()
	if err != nil {
		return c, fmt.Errorf("foreman %s: %w", strings.Join(args, " "), err)
	}
	c.imported = string(out)
	return c, nil
}

// inputsOf returns the inputs of all steps of a workflow.
func inputsOf(workflow []byte) (map[string]string, error) {
	var w struct {
		Jobs map[string]struct {
			Steps []struct{ With map[string]string }
		}
	}
	if err := yaml.Unmarshal(workflow, &w); err != nil {
		return nil, err
	}
	all := map[string]string{}
	for _, j := range w.Jobs {
		for _, step := range j.Steps {
			maps.Copy(all, step.With)
		}
	}
	return all, nil
}

// rival returns a function that prepares runs of a command on a rival's event. The repository
// contains one file.
func (s *stage) rival(r rival, c command, path, file string, inputs map[string]string) func() (command, func() error, error) {
	return func() (command, func() error, error) {
		if err := os.MkdirAll(c.dir, 0o755); err != nil {
			return c, nil, err
		}
		repo := s.fake.Repo(rivalRepository).AddLabel("L: terraform", "Cast", "fixed", "stale").AddFile(path, file).AddFileAt(rivalCommit, path, file)
		issue := r.issue
		issue.Number, issue.Author = number, "mona"
		if issue.CreatedAt.IsZero() {
			issue.CreatedAt = time.Now().UTC()
		}
		repo.AddIssue(issue)
		s.fake.ResetCalls()
		payload, err := json.Marshal(r.payload(issue))
		if err != nil {
			return c, nil, err
		}
		env, err := s.environment(payload)
		if err != nil {
			return c, nil, err
		}
		env = append(env, "GITHUB_EVENT_NAME="+r.event, "GITHUB_REPOSITORY="+rivalRepository, "GITHUB_WORKSPACE="+c.dir,
			"GITHUB_SHA="+rivalCommit, "GITHUB_REF=refs/heads/main", "RUNNER_TEMP="+s.dir, "INPUT_MEMORY=off")
		for name, value := range inputs {
			env = append(env, name+"="+value)
		}
		c.env = env
		return c, func() error {
			if got := s.fake.Issue(rivalRepository, number); !r.done(got) {
				return fmt.Errorf("the issue has the labels %q and %d comments", got.Labels, len(got.Comments))
			}
			return nil
		}, nil
	}
}

// The repository and the commit of the comparison. The owner matters, because a condition in one
// of the workflows compares it.
const (
	rivalRepository = "LizardByte/hello"
	rivalCommit     = "5bd3c4ff0e2a4a5d9f0b6d3f6a4d5e6f7a8b9c0d"
)

// payload returns the payload of a rival's event.
func (r rival) payload(i githubtest.Issue) map[string]any {
	user := map[string]any{"login": "mona", "type": "User"}
	repo := map[string]any{
		"full_name": rivalRepository, "name": "hello", "default_branch": "main",
		"owner": map[string]any{"login": "LizardByte"},
	}
	if r.action == "" {
		return map[string]any{"schedule": "17 4 * * *", "repository": repo}
	}
	labels := []any{}
	for _, name := range i.Labels {
		labels = append(labels, map[string]any{"name": name})
	}
	at := i.CreatedAt.Format(time.RFC3339)
	object := map[string]any{
		"number": number, "title": i.Title, "body": i.Body, "state": "open", "user": user, "labels": labels,
		"author_association": "NONE", "created_at": at, "updated_at": at,
	}
	kind := "issue"
	if i.PullRequest {
		kind = "pull_request"
		object["head"], object["base"], object["changed_files"] = map[string]any{"ref": "x"}, map[string]any{"ref": "main"}, len(i.Files)
	}
	event := map[string]any{"action": r.action, "number": number, "sender": user, "repository": repo, kind: object}
	if r.label != "" {
		event["label"] = map[string]any{"name": r.label}
	}
	return event
}
