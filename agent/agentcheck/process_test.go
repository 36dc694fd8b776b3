//go:build unix

package agentcheck_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
	"time"

	"github.com/org/foreman-action/agent/agentcheck"
	"github.com/org/foreman-action/internal/testkit/freeport"
)

// freePort returns an address of 127.0.0.1 that is free.
func freePort(t *testing.T) string {
	t.Helper()
	at, err := freeport.Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return at.String()
}

// checkProgram runs the kit on a program.
func checkProgram(t *testing.T, wire, addr string, argv ...string) agentcheck.Report {
	t.Helper()
	report, err := agentcheck.Run(t.Context(), agentcheck.Options{
		Agent: "http://" + addr, Wire: wire, Patience: 12 * time.Second,
		Start: func(_ context.Context, harness string) (func(context.Context) error, error) {
			cmd := exec.Command(argv[0], argv[1:]...)
			_, port, err := net.SplitHostPort(addr)
			if err != nil {
				return nil, err
			}
			cmd.Env = append(os.Environ(), "FOREMAN_HARNESS_URL="+harness, "AGENT_URL=http://"+addr, "LISTEN="+addr, "PORT="+port)
			cmd.Stdout, cmd.Stderr = t.Output(), t.Output()
			if err := cmd.Start(); err != nil {
				return nil, err
			}
			stopped := false
			return func(context.Context) error {
				if stopped {
					return nil
				}
				stopped = true
				err := cmd.Process.Signal(syscall.SIGTERM)
				err = errors.Join(err, ended(cmd.Wait()))
				return err
			}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// ended returns the error of a program that got SIGTERM.
func ended(err error) error {
	e, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		return err
	}
	if status, ok := e.Sys().(syscall.WaitStatus); ok && status.Signaled() && status.Signal() == syscall.SIGTERM {
		return nil
	}
	return err
}

func wantGood(t *testing.T, report agentcheck.Report) {
	t.Helper()
	for _, c := range report.Checks {
		if c.Result == agentcheck.Failed && c.Must {
			t.Errorf("%s: %s", c.ID, c.Got)
		}
	}
	if !report.OK() {
		t.Error("the report is not OK")
	}
}

// TestPython checks the Python agent of testdata, which behaves like the published one.
func TestPython(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not there")
	}
	report := checkProgram(t, "", freePort(t), python, "../../testdata/agents/agent.py")
	wantGood(t, report)
	if report.Wires[0] != agentcheck.Queue || len(report.Wires) != 1 {
		t.Errorf("got wires %v", report.Wires)
	}
}

// TestDocument compiles and checks the agent of docs/write-an-agent.md.
func TestDocument(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../../docs/write-an-agent.md")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile("(?s)```go\n(package main\n.*?)```").FindSubmatch(doc)
	if m == nil {
		t.Fatal("docs/write-an-agent.md holds no program")
	}
	if lines := len(regexp.MustCompile(`(?m)^.*\S.*$`).FindAll(m[1], -1)); lines > 30 {
		t.Errorf("the agent has %d lines, want 30 or less", lines)
	}
	// An overlay adds the file to this module without writing it into the module's folder.
	dir := t.TempDir()
	source, program := filepath.Join(dir, "main.go"), filepath.Join(dir, "agent")
	here, err := filepath.Abs("testdata/agent/main.go")
	if err != nil {
		t.Fatal(err)
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {here: source}})
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{source: m[1], source + ".json": overlay} {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-overlay", source+".json", "-o", program, "./testdata/agent")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	wantGood(t, checkProgram(t, "", freePort(t), program))
}
