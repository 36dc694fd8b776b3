//go:build unix

package faults_test

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/org/foreman-action/agent"
	"github.com/org/foreman-action/internal/postgrestest"
	"github.com/org/foreman-action/internal/testkit/ramdir"
	"github.com/org/foreman-action/protocol"
)

var killRounds = flag.Int("kill.rounds", 5, "how often the server or the agent is killed")

// server returns the path of the server's program, which its first call builds.
var server func() (string, error)

// databases returns the PostgreSQL server of the tests, which its first call starts.
var databases func() (*postgrestest.Cluster, error)

// agentSwitch names the environment variable that makes the test binary an agent. Its value is
// the address on which the agent listens.
const agentSwitch = "FAULTS_AGENT_LISTEN"

func TestMain(m *testing.M) {
	if addr := os.Getenv(agentSwitch); addr != "" {
		fmt.Fprintln(os.Stderr, "agent:", runAgent(addr))
		os.Exit(1)
	}
	// Eight tests run at a time, because they mostly wait for other processes.
	_ = flag.Set("test.parallel", "8")
	flag.Parse()
	if err := ramdir.Use(os.Setenv); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	dir, err := os.MkdirTemp("", "foreman-faults-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	server = sync.OnceValues(func() (string, error) {
		program := filepath.Join(dir, "foremand")
		out, err := exec.Command("go", "build", "-o", program, "../../../cmd/foremand").CombinedOutput()
		if err != nil {
			return "", fmt.Errorf("go build: %w: %s", err, out)
		}
		return program, nil
	})
	var cluster *postgrestest.Cluster
	databases = sync.OnceValues(func() (*postgrestest.Cluster, error) {
		var err error
		cluster, err = postgrestest.Launch(context.Background())
		return cluster, err
	})
	code := m.Run()
	if cluster != nil {
		cluster.Close()
	}
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// runAgent runs an agent as its author would write it. It decides differently each time, so that
// the test detects when parts of two decisions are carried out.
func runAgent(addr string) error {
	ctx := context.Background()
	client, err := agent.NewClient(agent.ClientOptions{
		URL: os.Getenv("FOREMAN_HARNESS_URL"), AgentURL: os.Getenv("AGENT_URL"), Timeout: 5 * time.Second,
	})
	if err != nil {
		return err
	}
	worker, err := agent.NewWorker(agent.WorkerOptions{Client: client, Concurrency: 4, Poll: 200 * time.Millisecond, Decide: decide})
	if err != nil {
		return err
	}
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	srv := &http.Server{Handler: agent.NewHandler(agent.HandlerOptions{Nudge: worker.Nudge}), ReadHeaderTimeout: time.Minute}
	go func() { _ = srv.Serve(ln) }()
	return errors.Join(worker.Run(ctx), srv.Close())
}

func decide(_ context.Context, task protocol.TaskMessage) (protocol.DecisionMessage, error) {
	mark := rand.Text()
	m := protocol.DecisionMessage{TaskID: task.TaskID, Decision: protocol.LabelAndRespond, Rationale: "decided as " + mark}
	for _, params := range []map[string]any{{"label": "bug"}, {"body": "First. " + mark}, {"label": "seen"}, {"body": "Second. " + mark}} {
		name := protocol.ActionComment
		if params["label"] != nil {
			name = protocol.ActionAddLabel
		}
		item, err := protocol.NewAction(name, params)
		if err != nil {
			return m, err
		}
		m.Actions = append(m.Actions, item)
	}
	return m, nil
}
