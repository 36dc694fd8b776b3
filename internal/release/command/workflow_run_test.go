package command_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/release/command"
)

// A runner runs the scripts of the workflow in a clone, as GitHub does: with the real release program,
// git and registry, and with stubs of the other programs.
type runner struct {
	stage
	bin, temp, state string
	outputs          map[string]string // such as build.files
	workflow         struct {
		Env  map[string]string
		Jobs map[string]struct {
			Outputs map[string]string
			Steps   []struct {
				ID, Name, Run string
				Env           map[string]string
			}
		}
	}
}

// TestMain is the release program in the processes that a runner starts.
func TestMain(m *testing.M) {
	if os.Getenv("RUN_RELEASE") == "" {
		os.Exit(m.Run())
	}
	env := command.Env{Getenv: os.Getenv, Stdout: os.Stdout, Stderr: os.Stderr}
	if err := command.Run(context.Background(), env, os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "release: %v\n", err)
		os.Exit(1)
	}
}

// The stubs. "release build" and "release files" take minutes: they copy what the stage has built.
var stubs = map[string]string{
	"go": `case $* in
*GOROOT) echo /none;;
*) mkdir -p "$RUNNER_TEMP/packer" && cp "$BIN/goreleaser" "$RUNNER_TEMP/packer/";;
esac`,
	"release": `case $1 in
build) rm -rf bin/release && mkdir -p bin && cp -r "$BUILT" bin/release;;
files) mkdir -p bin/release/files && cp dist/commit bin/release/files/ && (cd bin/release/files && sha256sum commit > checksums.txt);;
*) verb=$1 && shift && RUN_RELEASE=1 exec "$REAL" "$verb" -registry "$REGISTRY" "$@";;
esac`,
	"goreleaser": `if env | grep -i token; then echo "goreleaser has a token" >&2; exit 1; fi
[ "$*; $RELEASE_VERSION; $GITHUB_REPOSITORY" = "release --snapshot --clean; v1.2.3; Octo-Org/foreman-action" ] || exit 1
mkdir -p dist && git rev-parse HEAD > dist/commit`,
	"sudo": `case $1 in
useradd) mkdir -p "$RUNNER_TEMP/home";;
chown) ;;
--user=packer) shift && exec "$@";;
*) exec "$@";;
esac`,
	"cosign": `echo "$1" >> "$STATE/cosign.log"
if [ "$1" = sign-blob ]; then echo signature > checksums.txt.sigstore.json; fi`,
	"gh": `[ -n "$GITHUB_TOKEN" ] && [ -n "$GH_REPO" ] && [ "$1" = release ] && [ "$3" = v1.2.3 ] || [ "$2 $6 $7 $8" = "list tagName --jq .[] | select(.tagName == env.TAG) | .tagName" ] || exit 1
case $2 in
list) [ ! -f "$STATE/unreachable" ] || exit 1
	if [ -f "$STATE/release" ]; then echo "$TAG"; fi;;
create) mkdir "$STATE/assets" && echo draft > "$STATE/release"
	git ls-remote --exit-code origin refs/tags/v1.2.3 > /dev/null || exit 1
	for each; do if [ -f "$each" ] && [ "${each%/notes.md}" = "$each" ]; then cp "$each" "$STATE/assets/"; fi; done
	case $* in *" --draft --verify-tag "*) ;; *) exit 1;; esac;;
view) [ -f "$STATE/release" ] || exit 1
	if [ "$(cat "$STATE/release")" = draft ]; then echo true; else echo false; fi;;
download) cp -r "$STATE/assets" "$5";;
upload) [ "$(cat "$STATE/release")" = draft ] && cp "$4" "$STATE/assets/";; # a release may be immutable
edit) echo "$4 $5" > "$STATE/release";;
esac`,
}

func newRunner(t *testing.T) *runner {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the workflow runs on Linux")
	}
	r := &runner{stage: newStage(t), bin: t.TempDir(), temp: t.TempDir(), state: t.TempDir(), outputs: map[string]string{}}
	text, err := os.ReadFile("../../../.github/workflows/release.yml")
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &r.workflow); err != nil {
		t.Fatal(err)
	}
	for name, script := range stubs {
		path := filepath.Join(r.bin, name)
		if err := os.WriteFile(path, []byte("#!/bin/bash\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	r.write(r.root, ".gitignore", "/bin/\n/dist/\n")
	r.git("add", "-A")
	r.git("commit", "-q", "-m", "ignore")
	r.git("push", "-q", "origin", "main")
	return r
}

var expression = regexp.MustCompile(`^\$\{\{ (?:needs|steps)\.([a-z]+)\.outputs\.([a-z]+) \}\}$`)

// value returns the value of an expression: an output of a job or of a step of the job.
func (r *runner) value(job, text string) string {
	r.t.Helper()
	known := map[string]string{
		"${{ inputs.tag }}": "v1.2.3", "${{ inputs.branch }}": "main", "${{ github.token }}": "example", "${{ github.repository }}": "Octo-Org/foreman-action",
	}
	parts := expression.FindStringSubmatch(text)
	switch {
	case known[text] != "":
		return known[text]
	case parts == nil && strings.Contains(text, "${{"):
		r.t.Fatalf("unknown expression %s", text)
		return ""
	case parts == nil:
		return text
	case strings.Contains(text, "steps."):
		return r.outputs[job+"/"+parts[1]+"."+parts[2]]
	default:
		return r.outputs[parts[1]+"."+parts[2]]
	}
}

// job runs the scripts of a job in a fresh checkout, and returns the log and the name of the step
// that failed; empty: none.
func (r *runner) job(name string) (log, failed string) {
	r.t.Helper()
	r.git("checkout", "-q", "--detach", "main")
	r.git("clean", "-fdxq")
	if err := errors.Join(os.RemoveAll(r.temp), os.Mkdir(r.temp, 0o755)); err != nil {
		r.t.Fatal(err)
	}
	for _, tag := range strings.Fields(r.git("tag")) {
		r.git("tag", "-d", tag)
	}
	r.git("fetch", "-q", "--tags", "origin") // as the checkout does
	for _, step := range r.workflow.Jobs[name].Steps {
		if step.Run == "" {
			continue
		}
		out, err := r.script(name, step.Run, step.Env)
		log += "== " + step.Name + "\n" + out
		r.read(name + "/" + step.ID)
		if err != nil {
			return log + err.Error(), step.Name
		}
	}
	for output, text := range r.workflow.Jobs[name].Outputs {
		r.outputs[name+"."+output] = r.value(name, text)
	}
	return log, ""
}

func (r *runner) script(job, text string, env map[string]string) (string, error) {
	program, err := os.Executable()
	if err != nil {
		return "", err
	}
	text = strings.ReplaceAll(text, "/home/packer", filepath.Join(r.temp, "home"))
	cmd := exec.CommandContext(r.t.Context(), "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", text)
	cmd.Dir = r.root
	all := map[string]string{
		"PATH": r.bin + ":" + os.Getenv("PATH"), "HOME": r.state, "BIN": r.bin, "STATE": r.state, "BUILT": r.out, "REGISTRY": r.reg,
		"REAL": program, "RUNNER_TEMP": r.temp, "GITHUB_OUTPUT": filepath.Join(r.temp, "output"),
		"GITHUB_PATH": filepath.Join(r.temp, "path"), "GITHUB_REF": "refs/heads/main", "GITHUB_SHA": r.git("rev-parse", "main"),
		"GITHUB_REPOSITORY": "Octo-Org/foreman-action", "GITHUB_REPOSITORY_OWNER": "Octo-Org", "GITHUB_SERVER_URL": "https://github.com",
		"GITHUB_ACTOR": "octo",
	}
	for _, source := range []map[string]string{r.workflow.Env, env} {
		for name, value := range source {
			all[name] = r.value(job, value)
		}
	}
	for name, value := range all {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// read reads the outputs of a step.
func (r *runner) read(step string) {
	r.t.Helper()
	path := filepath.Join(r.temp, "output")
	f, err := os.Open(path)
	if err != nil {
		return // it has none
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), "=")
		r.outputs[step+"."+name] = value
	}
	if err := os.Remove(path); err != nil {
		r.t.Fatal(err)
	}
}

// do runs jobs, which must succeed.
func (r *runner) do(names ...string) {
	r.t.Helper()
	for _, name := range names {
		if log, failed := r.job(name); failed != "" {
			r.t.Fatalf("%s: %q failed:\n%s", name, failed, log)
		}
	}
}

func (r *runner) release() string {
	text, err := os.ReadFile(filepath.Join(r.state, "release"))
	if err != nil {
		return "none"
	}
	return strings.TrimSpace(string(text))
}

// moving returns the commit of v1 at the remote.
func (r *runner) moving() string {
	return strings.Split(r.git("ls-remote", "origin", "refs/tags/v1"), "\t")[0]
}

// TestWorkflowRun runs all jobs: the release is public at the end only, with all of its files and
// the signature, and the last job may run again.
func TestWorkflowRun(t *testing.T) {
	t.Parallel()
	r := newRunner(t)
	r.do("build")
	if tags := r.git("ls-remote", "--tags", "origin"); tags != "" || r.requests.Load() > 0 {
		t.Errorf("the first job pushed the tags %q and asked the registry %d times", tags, r.requests.Load())
	}
	r.do("draft", "sign")
	if r.release() != "draft" || r.moving() != "" {
		t.Errorf("before the last job the release is %q, and v1 is at %q", r.release(), r.moving())
	}
	r.do("publish", "publish")
	if r.release() != "--draft=false --latest=true" {
		t.Errorf("the release is %q", r.release())
	}
	tag := strings.Split(r.git("ls-remote", "origin", "refs/tags/v1.2.3"), "\t")[0]
	if r.moving() != tag || tag == r.git("rev-parse", "main") {
		t.Errorf("v1 is at %s, v1.2.3 at %s", r.moving(), tag)
	}
	made, err := os.ReadFile(filepath.Join(r.state, "assets", "commit"))
	if err != nil || strings.TrimSpace(string(made)) != tag {
		t.Errorf("the files are made from %s and the error is %v, want those of %s", made, err, tag)
	}
	assets, err := os.ReadDir(filepath.Join(r.state, "assets"))
	if err != nil || fmt.Sprint(names(assets)) != "[checksums.txt checksums.txt.sigstore.json commit]" {
		t.Errorf("the release has %v and the error %v", names(assets), err)
	}
}

func names(list []os.DirEntry) []string {
	var all []string
	for _, e := range list {
		all = append(all, e.Name())
	}
	return all
}

// TestWorkflowFails ends runs at each kind of mistake. Nothing is pushed when the two builds differ,
// and nothing is public without a signature.
func TestWorkflowFails(t *testing.T) {
	t.Parallel()
	other := func(r *runner, files ...string) {
		for _, file := range files {
			r.write(r.out, file, strings.Repeat("cd", 32)+"  foreman-linux-amd64\n")
		}
	}
	tests := []struct {
		name   string
		before []string // jobs that pass
		change func(*runner)
		job    string
		step   string // step that fails
		pushed bool   // the tag
	}{
		{"another branch", nil, func(r *runner) { r.workflow.Env["BRANCH"] = "topic" }, "build", "Refuse a wrong branch, tag, tree or changelog", false},
		{"another program in the second build", []string{"build"}, func(r *runner) { other(r, "checksums.txt") }, "draft", "Build again", false},
		{"another image in the second build", []string{"build"}, func(r *runner) { other(r, "images/foremand.digest") }, "draft", "Build again", false},
		{"another file in the second build", []string{"build"}, func(r *runner) {
			r.outputs["build.files"] = "eA=="
		}, "draft", "Inspect the files", false},
		{"a later commit", []string{"build"}, func(r *runner) {
			r.git("push", "-q", "origin", r.git("commit-tree", "main^{tree}", "-p", "main", "-m", "later")+":refs/heads/main")
		}, "draft", "Make the commit of the tag", false},
		{"a draft of an earlier run", []string{"build"}, func(r *runner) { r.write(r.state, "release", "draft\n") }, "draft", "Refuse a draft that an earlier run left", false},
		{"GitHub does not list the releases", []string{"build"}, func(r *runner) { r.write(r.state, "unreachable", "") }, "draft", "Refuse a draft that an earlier run left", false},
		{"again after the tag", []string{"build", "draft"}, func(*runner) {}, "draft", "Make the commit of the tag", true},
		{"a file of the draft changed", []string{"build", "draft", "sign"}, func(r *runner) { r.write(r.state, "assets/commit", "other") }, "publish", "Publish the draft, unless it is public", true},
		{"no release", []string{"build", "draft", "sign"}, func(r *runner) { _ = os.Remove(filepath.Join(r.state, "release")) }, "publish", "Publish the draft, unless it is public", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRunner(t)
			r.do(tt.before...)
			requests := r.requests.Load()
			tt.change(r)
			log, failed := r.job(tt.job)
			if failed != tt.step {
				t.Errorf("the step %q failed, want %q:\n%s", failed, tt.step, log)
			}
			if pushed := r.git("ls-remote", "--tags", "origin") != ""; pushed != tt.pushed {
				t.Errorf("a tag is pushed: %v, want %v", pushed, tt.pushed)
			}
			if r.requests.Load() != requests {
				t.Error("an image is pushed")
			}
			if r.moving() != "" || strings.Contains(r.release(), "--draft=false") {
				t.Errorf("the release is %q, and v1 is at %q", r.release(), r.moving())
			}
		})
	}
}
