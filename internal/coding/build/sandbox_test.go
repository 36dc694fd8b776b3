//go:build unix

package build_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/coding/build"
	"github.com/org/foreman-action/internal/coding/build/machine"
	"github.com/org/foreman-action/internal/coding/sandbox"
	"github.com/org/foreman-action/internal/testkit/programtest"
)

// engine is a shell script in place of docker. Its volumes are folders, and its containers are
// processes that start in them. It passes files and arguments like docker, but it isolates
// nothing.
const engine = `#!/bin/sh
here=${0%/*}
{ printf '%s\037' "$@"; printf '\036'; } >>"$here/argv"
if [ -e "$here/down" ]; then echo 'Cannot connect to the Docker daemon' >&2; exit 1; fi
case "$1 $2" in
"volume create") for name; do :; done; mkdir -p "$here/volumes/$name"; exit 0 ;;
"volume rm") shift 3; for name; do rm -rf "$here/volumes/$name"; done; exit 0 ;;
"volume ls") [ "$6" = --quiet ] || [ "$7" = --quiet ] && ls "$here/volumes"; exit 0 ;;
kill\ *) kill -9 "$(cat "$here/pid-$2")"; exit 0 ;;
run\ *) ;;
*) exit 0 ;;
esac
while [ "$1" != --entrypoint ]; do
	case $1 in
	--name) echo $$ >"$here/pid-$2" ;;
	--cidfile) echo id >"$2" ;;
	--mount) case $2 in *workspace-*) volume=${2#*source=}; volume=$here/volumes/${volume%%,*} ;; esac ;;
	esac
	shift
done
shift 3
case "$1 $2" in
"tar -x") exec tar -x -o -f - -C "$volume" --strip-components 1 workspace ;;
"tar -c") exec tar -c -f - -C "$volume" . ;;
esac
cd "$volume"
exec "$@"
`

// contain writes the script in engine as the program docker. It returns the folder of the program,
// and a function that sets it in the options of a run.
func contain(t *testing.T) (string, func(*build.Options)) {
	t.Helper()
	dir := t.TempDir()
	if err := errors.Join(programtest.Write(filepath.Join(dir, "docker"), engine), os.Mkdir(filepath.Join(dir, "volumes"), 0o700)); err != nil {
		t.Fatal(err)
	}
	return dir, func(o *build.Options) { o.Docker = filepath.Join(dir, "docker") }
}

const docker = "sandbox: docker\nimage: agents:1\n"

// turns returns a script that executes another step in each run of an agent. It counts the runs in
// a file of the worktree, so it needs an agent whose files are copied back.
func turns(steps ...string) string {
	script := "echo x >>turns.txt\ncase $(grep -c x turns.txt) in\n"
	for i, step := range steps {
		script += string(rune('1'+i)) + ") " + step + ";;\n"
	}
	return script + "esac\n"
}

func TestSandbox(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		builder, inspector, more string
		code                     int
		reason                   machine.Reason
		commits                  string
		tree                     string // files of the branch
	}{
		"approved": {
			builder:   work + "rm -f gone.txt; mkdir -p new/folder; echo n >new/folder/file; ln -s /etc/passwd link; chmod +x a.txt; " + result("builder", built),
			inspector: "grep -q work a.txt; grep -q '^+work' .foreman/tmp/change.diff; " + result("inspector", approved),
			commits:   "Foreman: Mend the sum", tree: "100644 .foreman/build.yml\n100755 a.txt\n120000 link\n100644 new/folder/file",
		},
		"history": {
			builder:   `test "$(git log --format=%s)" = first; test -z "$(git status --porcelain)"; git config core.fsmonitor /bin/false; ` + work + "git -c user.name=x -c user.email=x commit -qam 'own commit'; " + result("builder", built),
			inspector: `git diff --stat HEAD~1 | grep -q a.txt; test "$(git log --format=%s)" = "$(printf 'Mend the sum\nfirst')"; ` + result("inspector", approved),
			commits:   "Foreman: Mend the sum", tree: "100644 .foreman/build.yml\n100644 a.txt",
		},
		"files that git ignores": {
			builder:   "test -f node_modules/tool; echo more >node_modules/more; printf '*\\n' >node_modules/.gitignore; " + work + result("builder", built),
			inspector: "test ! -e node_modules; " + result("inspector", approved),
			more:      "setup: [[sh, -c, 'mkdir node_modules; echo tool >node_modules/tool; echo \"*\" >node_modules/.gitignore']]\nchecks: [{run: [test, -f, node_modules/tool, -a, '!', -e, node_modules/more]}]\n",
			commits:   "Foreman: Mend the sum", tree: "100644 .foreman/build.yml\n100644 a.txt",
		},
		"the Inspector changes nothing": {
			builder:   work + result("builder", built),
			inspector: "echo x >>a.txt; rm -rf .git; echo y >other.txt; " + result("inspector", approved),
			commits:   "Foreman: Mend the sum", tree: "100644 .foreman/build.yml\n100644 a.txt",
		},
		"a check changes nothing": {
			builder:   work + result("builder", built),
			inspector: "test ! -e checked.txt; " + result("inspector", approved),
			more:      "checks: [{run: [sh, -c, 'echo x >checked.txt; echo x >>a.txt']}]\n",
			commits:   "Foreman: Mend the sum", tree: "100644 .foreman/build.yml\n100644 a.txt",
		},
		"two rounds": {
			builder:   turns(work+result("builder", built), "grep -q 'Add a test' .foreman/tmp/prompt.md; "+work+result("builder", built)),
			inspector: "case $(grep -c work a.txt) in 1) " + result("inspector", changes) + ";; *) " + result("inspector", approved) + ";; esac",
			commits:   "Foreman: Mend the sum\nForeman: Mend the sum", tree: "100644 .foreman/build.yml\n100644 a.txt\n100644 turns.txt",
		},
		"a required check fails": {
			builder: work + result("builder", built), inspector: "exit 1", more: "checks: [{run: [sh, -c, 'echo why; exit 1']}]\nlimits: {rounds: 1}\n",
			code: 8, reason: machine.PreflightFailed, commits: "Foreman: Mend the sum", tree: "100644 .foreman/build.yml\n100644 a.txt",
		},
		"a setup for the checks leaves too much": { // a path of more than 6,000 bytes
			builder: work + `echo 'n=$(printf "%0200d/" 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15); mkdir -p a/$n b/$n; mv a b/$n' >s.sh; ` + result("builder", built), inspector: "exit 1",
			more: "setup: [[sh, -c, 'test ! -e s.sh || sh s.sh']]\nchecks: [{run: [test, -f, a.txt]}]\nlimits: {rounds: 1}\n",
			code: 8, reason: machine.PreflightFailed, commits: "Foreman: Mend the sum", tree: "100644 .foreman/build.yml\n100644 a.txt\n100644 s.sh",
		},
		"the Builder fails hard": {
			builder: work + result("builder", failed) + "; exit 1", inspector: "exit 1",
			code: 4, reason: machine.AgentFailed, tree: "100644 .foreman/build.yml\n100644 a.txt",
		},
		"the Builder hangs": {
			builder: "sleep 300", inspector: "exit 1", more: "limits: {attempts: 1, run_timeout: 15s}\n",
			code: 124, reason: machine.Timeout, tree: "100644 .foreman/build.yml\n100644 a.txt",
		},
		"a result that leads out of the tree": {
			builder: work + "ln -s /etc/passwd builder_result.json", inspector: "exit 1", more: "limits: {attempts: 1}\n",
			code: 5, reason: machine.HandoffInvalid, tree: "100644 .foreman/build.yml\n100644 a.txt",
		},
		"handoff files lead elsewhere": {
			builder: "rm -rf .foreman/tmp; ln -s /tmp .foreman/tmp; " + work + result("builder", built), inspector: "rm -rf .foreman; ln -s /tmp .foreman; " + result("inspector", approved),
			commits: "Foreman: Mend the sum", tree: "100644 .foreman/build.yml\n100644 a.txt",
		},
		"no token reaches an agent": {
			builder: `if env | grep -q "GITHUB\|t0p"; then exit 1; fi; test "$MARKER" = m; ` + work + result("builder", built), inspector: result("inspector", approved), more: "env: [MARKER]\n",
			commits: "Foreman: Mend the sum", tree: "100644 .foreman/build.yml\n100644 a.txt",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			consumer := newConsumer(t, c.builder, c.inspector, docker+c.more)
			dir, use := contain(t)
			o := options(consumer.root, consumer.state)
			use(&o)
			report, err := build.Run(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			consumer.clean(report)
			if report.ExitCode() != c.code || value(report.Reason) != c.reason {
				t.Errorf("%+v\nreason %q, want code %d reason %q", report, value(report.Reason), c.code, c.reason)
			}
			if got := consumer.sh("git log --format='%an: %s' main..foreman/t-1"); got != c.commits {
				t.Errorf("the branch has:\n%s\nwant:\n%s", got, c.commits)
			}
			if got := consumer.sh("git ls-tree -r --format='%(objectmode) %(path)' foreman/t-1"); got != c.tree {
				t.Errorf("the branch has the files:\n%s\nwant:\n%s", got, c.tree)
			}
			if left, err := os.ReadDir(filepath.Join(dir, "volumes")); err != nil || len(left) > 0 {
				t.Errorf("volumes are left: %v %v", left, err)
			}
			if got := consumer.sh("git config --local --list"); strings.Contains(got, "fsmonitor") {
				t.Errorf("the configuration is\n%s", got)
			}
			walls(t, dir)
		})
	}
}

// walls checks the arguments of every container: no folder of this machine is mounted, only agents
// and setup have the network, and no argument contains a secret.
func walls(t *testing.T, dir string) {
	t.Helper()
	calls, err := os.ReadFile(filepath.Join(dir, "argv"))
	if err != nil {
		t.Fatal(err)
	}
	for call := range strings.SplitSeq(string(calls), "\x1e") {
		args := strings.Split(call, "\x1f")
		if args[0] != "run" {
			continue
		}
		joined := strings.Join(args, " ")
		network := !strings.Contains(joined, " --network none ")
		check := strings.Contains(joined, "agents:1 sh -c echo ") || strings.Contains(joined, "agents:1 test ")
		if check && network || strings.Contains(joined, "agents:1 sh -e -c ") && !network {
			t.Errorf("the network of: %s", joined)
		}
		for i, arg := range args {
			if arg == "-v" || arg == "--volume" || arg == "--privileged" || arg == "--mount" && !strings.HasPrefix(args[i+1], "type=volume,source=foreman-build-") {
				t.Errorf("%s in: %s", arg, joined)
			}
		}
		if strings.Contains(joined, "=t0p") {
			t.Errorf("a token in: %s", joined)
		}
	}
}

// TestSandboxAway fails while the engine is unavailable, and resumes when it is available again.
func TestSandboxAway(t *testing.T) {
	t.Parallel()
	consumer := newConsumer(t, work+result("builder", built), result("inspector", approved), docker)
	dir, use := contain(t)
	o := options(consumer.root, consumer.state)
	use(&o)
	if err := os.WriteFile(filepath.Join(dir, "down"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	report, err := build.Run(t.Context(), o)
	if !errors.Is(err, sandbox.ErrUnavailable) || report.ExitCode() != 1 {
		t.Errorf("without an engine: %+v %v", report, err)
	}
	if err := os.Remove(filepath.Join(dir, "down")); err != nil {
		t.Fatal(err)
	}
	if report, err = build.Resume(t.Context(), o); err != nil || report.ExitCode() != 0 {
		t.Errorf("with the engine: %+v %v", report, err)
	}
}

// TestSandboxLost makes the engine unavailable while the Builder works. This does not count as a
// failure of the Builder.
func TestSandboxLost(t *testing.T) {
	t.Parallel()
	dir, use := contain(t)
	consumer := newConsumer(t, work+result("builder", built)+"; if [ ! -e "+dir+"/was ]; then touch "+dir+"/down "+dir+"/was; fi", result("inspector", approved), docker)
	o := options(consumer.root, consumer.state)
	use(&o)
	report, err := build.Run(t.Context(), o)
	if !errors.Is(err, sandbox.ErrUnavailable) || report.ExitCode() != 1 {
		t.Errorf("it was lost: %+v %v", report, err)
	}
	if err := errors.Join(os.Remove(filepath.Join(dir, "down")), os.MkdirAll(filepath.Join(consumer.state, "t-1/.builder-left/x"), 0o700)); err != nil {
		t.Fatal(err)
	}
	if report, err = build.Resume(t.Context(), o); err != nil || report.ExitCode() != 0 {
		t.Errorf("it is back: %+v %v", report, err)
	}
	consumer.clean(report)
	if left, err := os.ReadDir(filepath.Join(dir, "volumes")); err != nil || len(left) > 2 {
		t.Errorf("volumes are left: %v %v", left, err)
	}
}

// TestSandboxHome checks that the home folder and the caches in which the setup has run code of the change are
// not those of the Inspector.
func TestSandboxHome(t *testing.T) {
	t.Parallel()
	consumer := newConsumer(t, "exit 1", "exit 1", docker)
	consumer.write(".foreman/build.yml", `version: 1
sandbox: docker
image: agents:1
setup: [[test, -f, a.txt]]
builder: {command: [sh, -e, -c, "echo w >>a.txt; printf %s '`+strings.ReplaceAll(built, `"`, `\"`)+`' >builder_result.json"]}
inspector: {command: [sh, -e, -c, "printf %s '`+strings.ReplaceAll(approved, `"`, `\"`)+`' >inspector_result.json"], setup: true}
`)
	calls := consumer.approves()
	volume := func(command string) (name string) { // of the last container that runs the command
		for call := range strings.SplitSeq(calls, "\x1e") {
			if _, after, ok := strings.Cut(call, "type=volume,source="); ok && strings.Contains(call, command) {
				_, after, _ = strings.Cut(after, "type=volume,source=")
				name, _, _ = strings.Cut(after, ",")
			}
		}
		return name
	}
	setup, inspector := volume("\x1ftest\x1f-f\x1fa.txt"), volume(">inspector_result.json")
	if !strings.HasSuffix(setup, "-cache") || !strings.HasSuffix(inspector, "-cache") || setup == inspector {
		t.Errorf("the volumes are %s of the setup and %s of the Inspector", setup, inspector)
	}
}

// approves commits the configuration, and checks that a run in containers approves a change. It returns the
// arguments of all calls of docker.
func (c *consumer) approves() string {
	c.t.Helper()
	c.sh("git commit -qam second")
	dir, use := contain(c.t)
	o := options(c.root, c.state)
	use(&o)
	report, err := build.Run(c.t.Context(), o)
	if err != nil || report.ExitCode() != 0 {
		c.t.Errorf("%+v %v", report, err)
	}
	calls, err := os.ReadFile(filepath.Join(dir, "argv"))
	if err != nil {
		c.t.Fatal(err)
	}
	return string(calls)
}

// TestSandboxHangs checks that the result of a hanging agent counts in a container, too.
func TestSandboxHangs(t *testing.T) {
	t.Parallel()
	consumer := newConsumer(t, "exit 1", "exit 1", docker)
	consumer.write(".foreman/build.yml", `version: 1
sandbox: docker
image: agents:1
builder: {command: [sh, -e, -c, "echo w >>a.txt; printf %s '`+strings.ReplaceAll(built, `"`, `\"`)+`' >builder_result.json; echo done; exec sleep 300"], idle_timeout: 2s}
inspector: {command: [sh, -e, -c, "printf %s '`+strings.ReplaceAll(approved, `"`, `\"`)+`' >inspector_result.json"]}
limits: {attempts: 1}
`)
	consumer.approves()
}

// TestSandboxMessage takes the result from the final message. The command receives paths in the
// container.
func TestSandboxMessage(t *testing.T) {
	t.Parallel()
	consumer := newConsumer(t, "exit 1", "exit 1", docker)
	consumer.write(".foreman/build.yml", `version: 1
sandbox: docker
image: agents:1
builder:
  result_from: message
  command:
    - sh
    - -e
    - -c
    - |
      test "$1 $2" = "/workspace/.foreman/tmp/prompt.md /workspace/.foreman/tmp/schema.json"
      echo w >>a.txt
      mark=$(sed -n 's/.*a line that consists of \([^,]*\), and nothing else.*/\1/p' .foreman/tmp/prompt.md)
      printf 'Done:\n%s\n%s\n%s\n' "$mark" '`+built+`' '{"run": {"status": "failed", "failed_step": "x", "error": "forged"}, "work": null}'
    - sh
    - "{{prompt_file}}"
    - "{{schema_file}}"
inspector:
  result_from: message
  command:
    - sh
    - -e
    - -c
    - |
      grep -q 'Mend it' # the prompt is the standard input
      echo '`+approved+`' >.foreman/tmp/message
      test "$1" = /workspace/.foreman/tmp/message
    - sh
    - "{{message_file}}"
`)
	consumer.approves()
}
