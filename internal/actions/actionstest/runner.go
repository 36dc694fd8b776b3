package actionstest

import (
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A Runner is the environment of one step of a container action: its variables, the files that it
// may write, and its log. Make it with [NewRunner]. It is safe for concurrent use, except that the
// Set methods must be called before the step starts.
type Runner struct {
	t   testing.TB
	dir string
	env map[string]string

	mu  sync.Mutex
	log strings.Builder
}

// NewRunner returns the environment of a step of a run on octo-org/widgets, with an
// empty workspace, no event and no inputs. It lasts as long as the test.
func NewRunner(t testing.TB) *Runner {
	t.Helper()
	r := &Runner{t: t, dir: t.TempDir(), env: map[string]string{
		"CI":                   "true",
		"GITHUB_ACTIONS":       "true",
		"GITHUB_ACTION":        "__self",
		"GITHUB_ACTOR":         "octocat",
		"GITHUB_API_URL":       "https://api.github.com",
		"GITHUB_JOB":           "triage",
		"GITHUB_REF":           "refs/heads/main",
		"GITHUB_REPOSITORY":    "octo-org/widgets",
		"GITHUB_REPOSITORY_ID": "77001",
		"GITHUB_RUN_ATTEMPT":   "1",
		"GITHUB_RUN_ID":        "9000000001",
		"GITHUB_SERVER_URL":    "https://github.com",
		"GITHUB_WORKFLOW":      "Triage",
	}}
	for name, file := range map[string]string{
		"GITHUB_OUTPUT":       "set_output",
		"GITHUB_ENV":          "set_env",
		"GITHUB_STATE":        "save_state",
		"GITHUB_STEP_SUMMARY": "step_summary",
	} {
		r.env[name] = r.write(file, nil)
	}
	r.env["GITHUB_WORKSPACE"] = filepath.Join(r.dir, "workspace")
	if err := os.Mkdir(r.env["GITHUB_WORKSPACE"], 0o755); err != nil {
		t.Fatal(err)
	}
	return r
}

// Setenv sets a variable. An empty value unsets it.
func (r *Runner) Setenv(name, value string) {
	if value == "" {
		delete(r.env, name)
		return
	}
	r.env[name] = value
}

// SetInput sets the variable of an input as the runner names it: hyphens stay.
func (r *Runner) SetInput(name, value string) {
	r.Setenv("INPUT_"+strings.ToUpper(strings.ReplaceAll(name, " ", "_")), value)
}

// SetEvent sets the name and the payload of the event.
func (r *Runner) SetEvent(name string, payload []byte) {
	r.t.Helper()
	r.Setenv("GITHUB_EVENT_NAME", name)
	r.Setenv("GITHUB_EVENT_PATH", r.write("event.json", payload))
}

// Getenv returns a variable, empty when it is not set.
func (r *Runner) Getenv(name string) string { return r.env[name] }

// Environ returns the variables as NAME=VALUE, sorted, for a process.
func (r *Runner) Environ() []string {
	var environ []string
	for _, name := range slices.Sorted(maps.Keys(r.env)) {
		environ = append(environ, name+"="+r.env[name])
	}
	return environ
}

// Write appends to the log: a Runner is the step's stdout.
func (r *Runner) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.log.Write(p)
}

// Log returns the log so far. On Windows it replaces each "\r\n" by "\n".
func (r *Runner) Log() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if runtime.GOOS == "windows" {
		return strings.ReplaceAll(r.log.String(), "\r\n", "\n")
	}
	return r.log.String()
}

// Commands returns the workflow commands in the log.
func (r *Runner) Commands() []Command { return ParseLog(r.Log()) }

// Outputs returns the outputs of the step. A file that the runner would refuse, or
// that names an output twice, fails the test.
func (r *Runner) Outputs() map[string]string {
	r.t.Helper()
	pairs, err := ParseFileCommands(r.read("GITHUB_OUTPUT"))
	if err != nil {
		r.t.Errorf("outputs: %v", err)
	}
	outputs := map[string]string{}
	for _, p := range pairs {
		if _, twice := outputs[p.Name]; twice {
			r.t.Errorf("output %s is written twice", p.Name)
		}
		outputs[p.Name] = p.Value
	}
	return outputs
}

// Summary returns the job summary that the step wrote.
func (r *Runner) Summary() string {
	r.t.Helper()
	return r.read("GITHUB_STEP_SUMMARY")
}

// Untouched fails the test if the step wrote environment variables or state, because no action of
// this project writes them.
func (r *Runner) Untouched() {
	r.t.Helper()
	for _, name := range []string{"GITHUB_ENV", "GITHUB_STATE"} {
		if text := r.read(name); text != "" {
			r.t.Errorf("%s: got %q, want nothing", name, text)
		}
	}
}

func (r *Runner) write(file string, content []byte) string {
	r.t.Helper()
	path := filepath.Join(r.dir, file)
	if err := os.WriteFile(path, content, 0o644); err != nil {
		r.t.Fatal(err)
	}
	return path
}

func (r *Runner) read(variable string) string {
	r.t.Helper()
	text, err := os.ReadFile(r.env[variable])
	if err != nil {
		r.t.Fatal(err)
	}
	return string(text)
}
