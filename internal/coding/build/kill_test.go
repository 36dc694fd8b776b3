//go:build unix

package build_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/org/foreman-action/internal/coding/build"
	"github.com/org/foreman-action/internal/coding/build/machine"
	"github.com/org/foreman-action/internal/testkit/programtest"
)

var every = flag.Int("kill.every", 31, "kill the pipeline after every so many calls of git")

// TestKilled kills the pipeline after a call of git, and resumes it. It does so for many calls,
// since git is called between all steps. The outcome is always the same, and no work is lost or
// repeated.
func TestKilled(t *testing.T) {
	t.Parallel()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	step := *every
	if testing.Short() {
		step *= 4
	}
	for at, ended := 1, false; !ended && !t.Failed(); at += step {
		// In the last subtest, the pipeline makes fewer calls of git than that, so it is not killed.
		t.Run(strconv.Itoa(at), func(t *testing.T) {
			shim := t.TempDir()
			script := fmt.Sprintf("#!/bin/sh\necho >>%[1]s/calls; calls=0; while read -r _; do calls=$((calls + 1)); done <%[1]s/calls\n"+
				"[ $calls = %[2]d ] || exec %[3]s \"$@\"\n%[3]s \"$@\"; kill -9 $PPID\n", shim, at, git)
			if err := programtest.Write(filepath.Join(shim, "git"), script); err != nil {
				t.Fatal(err)
			}
			c := newConsumer(t, work+result("builder", built), `if grep -q "Round\|round before" .foreman/tmp/prompt.md; then `+result("inspector", approved)+"; else "+result("inspector", changes)+"; fi",
				"setup: [['true']]\nchecks: [{run: ['true']}]\n")
			// The user's refs, stashes, index, configuration and files stay the same.
			c.sh("git tag mine; echo stashed >>a.txt; git stash -q; printf '*.i\\n' >>.git/info/exclude; echo ignored >x.i")
			const users = "git for-each-ref --format='%(refname) %(objectname)' | grep -v foreman/t-1; cat .git/logs/refs/stash .git/config a.txt x.i .foreman/build.yml; sha256sum .git/index; ls -A . .git/hooks 2>/dev/null"
			before := c.sh(users)
			pipeline := func(how string) error {
				cmd := exec.CommandContext(t.Context(), os.Args[0], "run", how, c.root, c.state)
				cmd.Env = append(os.Environ(), "PATH="+shim+":"+os.Getenv("PATH"))
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Logf("%s: %v %s", how, err, out)
				}
				return err
			}
			err := pipeline("run")
			if err == nil {
				ended = true
			} else {
				goOn(t, c, err, pipeline)
			}
			c.clean(readReport(t, c.root))
			if got := c.sh("git show foreman/t-1:a.txt; git log --format=%s main..foreman/t-1"); got != "one\nwork\nwork\nMend the sum\nMend the sum" {
				t.Errorf("the branch: %s", got)
			}
			if after := c.sh(users); after != before {
				t.Errorf("the checkout has\n%s\nhad\n%s", after, before)
			}
		})
	}
}

// goOn resumes a pipeline that was killed. If the killed run had not stored its state, goOn starts
// it again.
func goOn(t *testing.T, c *consumer, end error, pipeline func(string) error) {
	t.Helper()
	killed, _ := errors.AsType[*exec.ExitError](end)
	if status, ok := killed.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
		t.Fatalf("it ended: %v", end)
	}
	how := "resume"
	if _, err := os.Stat(filepath.Join(c.root, ".foreman/runs/t-1/state.json")); err != nil {
		how = "run"
	}
	// A run that was killed after its last step cannot be resumed: it is already approved.
	if err := pipeline(how); err != nil && readReport(t, c.root).Status != machine.Approved {
		t.Fatalf("after the kill: %v", err)
	}
}

func readReport(t *testing.T, root string) build.Report {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, ".foreman/runs/t-1/report.json"))
	if err != nil {
		t.Fatal(err)
	}
	var report build.Report
	if err := json.Unmarshal(data, &report); err != nil {
		t.Fatal(err)
	}
	return report
}

// TestStored starts, resumes and reviews runs whose files are already stored.
func TestStored(t *testing.T) {
	t.Parallel()
	c := newConsumer(t, once("b", work+result("builder", failed), work+result("builder", built)), once("i", result("inspector", approved), result("inspector", changes)), "")
	o := options(c.root, c.state)
	if r := c.run(); r.ExitCode() != 4 {
		t.Fatalf("%+v", r)
	}
	if _, err := build.Run(t.Context(), o); usage(err) == "" || !strings.Contains(err.Error(), "foreman build resume") {
		t.Errorf("a second run: %v", err)
	}
	// Resume continues after the reported failure, as if a person had removed its cause.
	r, err := build.Resume(t.Context(), o)
	if err != nil || r.ExitCode() != 0 {
		t.Fatalf("%+v %v", r, err)
	}
	c.clean(r)
	if _, err := build.Resume(t.Context(), o); !strings.Contains(usage(err), "approved") {
		t.Errorf("resume after an approval: %v", err)
	}
	r, err = build.Review(t.Context(), o)
	if err != nil || r.ExitCode() != 3 || len(r.OpenIssues) != 1 || r.Data == nil || r.Data.Summary != "Mend the sum" {
		t.Fatalf("review: %+v %v", r, err)
	}
	all, err := build.List(c.root)
	if err != nil || len(all) != 1 || all[0].TaskID != "t-1" || all[0].Status != machine.ChangesRequested || all[0].Running {
		t.Errorf("status: %+v %v", all, err)
	}
	if _, err := build.Clean(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if got := c.sh("ls .foreman/runs; git branch --list foreman/t-1; git worktree list | wc -l"); got != "1" {
		t.Errorf("after clean: %s", got)
	}
	if _, err := build.Clean(t.Context(), o); usage(err) == "" {
		t.Errorf("clean again: %v", err)
	}
	if _, err := build.Resume(t.Context(), o); usage(err) == "" {
		t.Errorf("resume of nothing: %v", err)
	}
}

func usage(err error) string {
	if e, ok := errors.AsType[*build.UsageError](err); ok {
		return e.Error()
	}
	return ""
}

func TestUsage(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		prepare, id, want string
	}{
		"task id":          {"", "a b", "must have 1 to 64"},
		"dots":             {"", "a..b", "must not contain"},
		"no configuration": {"git rm -q .foreman/build.yml; git commit -qm x", "t-2", "create it with foreman init --agents"},
		"not committed":    {"git rm -q --cached .foreman/build.yml; git commit -qm x", "t-2", "does not contain .foreman/build.yml: commit the file first"},
		"mistakes":         {"echo 'builder: 5' >.foreman/build.yml; git commit -qam x", "t-2", ".foreman/build.yml:1:10"},
		"no commit":        {"rm -rf .git; git init -q .", "t-2", "no commit yet"},
		"no repository":    {"rm -rf .git", "t-2", "not a git repository"},
		"branch":           {"git branch foreman", "t-2", "the branch foreman exists"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c2 := newConsumer(t, "true", "true", "")
			c2.sh(c.prepare)
			o := options(c2.root, c2.state)
			o.TaskID = c.id
			report, err := build.Run(t.Context(), o)
			if name == "branch" {
				if err != nil || report.ExitCode() != 1 || !strings.Contains(report.Errors[0].Message, c.want) {
					t.Errorf("%+v %v", report, err)
				}
				return
			}
			if !strings.Contains(usage(err), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
			if _, err := os.Stat(filepath.Join(c2.root, ".foreman/runs", c.id, "state.json")); err == nil {
				t.Error("a run was stored")
			}
		})
	}
}
