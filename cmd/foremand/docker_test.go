package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/org/foreman-action/internal/postgrestest"
	"github.com/org/foreman-action/internal/testkit/freeport"
)

// condition implements the script conditions docker (on Linux, a Docker engine answers) and postgres (a
// PostgreSQL server is installed). A missing Docker is an error if FOREMAN_E2E_REQUIRE_DOCKER is
// set.
func condition(name string) (bool, error) {
	switch name {
	case "docker":
	case "postgres":
		programs, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
		return len(programs) > 0, err
	default:
		return false, fmt.Errorf("unknown condition %q", name)
	}
	if runtime.GOOS != "linux" { // the containers run programs of this machine
		return false, nil
	}
	out, err := exec.Command("docker", "version", "--format", "{{.Server.Version}}").CombinedOutput()
	if err != nil && os.Getenv("FOREMAN_E2E_REQUIRE_DOCKER") != "" {
		return false, fmt.Errorf("no Docker engine answers, and one must: %w: %s", err, out)
	}
	return err == nil, nil
}

// imageCommand makes an image of the agent of testdata, sets $IMAGE to its name, and $PORT to a
// free port.
func imageCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: image")
	}
	run := func(env []string, name string, args ...string) {
		cmd := exec.Command(name, args...)
		cmd.Env = append(os.Environ(), env...)
		if out, err := cmd.CombinedOutput(); err != nil {
			ts.Fatalf("%s: %v\n%s", cmd, err, out)
		}
	}
	dir := ts.MkAbs("image")
	ts.Check(os.MkdirAll(dir, 0o700))
	run([]string{"CGO_ENABLED=0"}, "go", "build", "-o", filepath.Join(dir, "agent"), "./testdata/agent")
	run(nil, "tar", "-C", dir, "-cf", ts.MkAbs("image.tar"), "agent")
	name := fmt.Sprintf("foremand-test:%s-%d", strings.ToLower(filepath.Base(ts.MkAbs("."))), os.Getpid())
	run(nil, "docker", "import", "-c", `ENTRYPOINT ["/agent"]`, ts.MkAbs("image.tar"), name)
	ts.Defer(func() {
		// A script that failed leaves its containers behind.
		left, _ := exec.Command("docker", "ps", "-aq", "--filter", "ancestor="+name).Output()
		for id := range strings.FieldsSeq(string(left)) {
			_ = exec.Command("docker", "rm", "-f", id).Run()
		}
		_ = exec.Command("docker", "image", "rm", "-f", name).Run()
	})
	at, err := freeport.Find(context.Background())
	ts.Check(err)
	ts.Setenv("IMAGE", name)
	ts.Setenv("PORT", fmt.Sprint(at.Port()))
}

// postgresCommand starts a PostgreSQL server and sets $PG to the address of a database.
func postgresCommand(ts *testscript.TestScript, neg bool, args []string) {
	r := rigOf(ts)
	switch {
	case !neg && len(args) == 0:
		c, err := postgrestest.Launch(context.Background(), "fsync=off")
		ts.Check(err)
		ts.Defer(c.Close)
		r.database = c
		ts.Setenv("PG", c.URL("postgres"))
	case !neg && args[0] == "stop":
		ts.Check(r.database.Stop(context.Background(), "immediate"))
	case !neg && args[0] == "start":
		ts.Check(r.database.Start(context.Background()))
	default:
		ts.Fatalf("usage: postgres [stop|start]")
	}
}

// readyCommand waits until the server's readiness check answers with a status code.
func readyCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: ready CODE")
	}
	await(ts, "ready "+args[0], func() bool {
		resp, err := http.Get(ts.Getenv("URL") + "/healthcheck/ready")
		if err != nil {
			return false
		}
		_ = resp.Body.Close()
		return resp.StatusCode == number(ts, args[0])
	})
}
