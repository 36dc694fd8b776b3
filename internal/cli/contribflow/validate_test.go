package contribflow_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/testkit/programtest"

	"github.com/rogpeppe/go-internal/testscript"
)

// dockerStandIn puts a stand-in for docker on the search path of a script. The stand-in sets the
// variables that the test binary needs, because the program does not pass them on to docker.
func dockerStandIn(e *testscript.Env) error {
	dir := filepath.Join(e.WorkDir, "bin")
	e.Setenv("PATH", dir+string(filepath.ListSeparator)+e.Getenv("PATH"))
	standIn := e.Getenv("STANDIN")
	script := fmt.Sprintf("#!/bin/sh\nSTANDIN='%s' GOCOVERDIR='%s' GORACE='%s' exec standin-docker \"$@\"\n", standIn, standIn, os.Getenv("GORACE"))
	return programtest.Write(filepath.Join(dir, "docker"), script)
}

// containers prints a line for each container that docker was asked to run, and resets the list. It
// fails if a container could reach the host, its network or its secrets.
func containers(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: containers")
	}
	file := filepath.Join(ts.Getenv("STANDIN"), "docker.log")
	for line := range strings.Lines(ts.ReadFile(file)) {
		var call struct{ Args, Env []string }
		ts.Check(json.Unmarshal([]byte(line), &call))
		if call.Args[0] != "run" {
			continue
		}
		for _, name := range append(call.Env, call.Args...) {
			if strings.Contains(strings.ToUpper(name), "TOKEN") || strings.Contains(name, "ghs_") {
				ts.Fatalf("a secret reaches docker: %s", name)
			}
		}
		at := slices.Index(call.Args, "--entrypoint")
		if at < 0 {
			ts.Fatalf("no --entrypoint: %q", call.Args)
		}
		options := strings.Join(call.Args[:at], " ") + " "
		for _, never := range []string{" -v ", "--volume ", "type=bind", "docker.sock", "--privileged", "host "} {
			if strings.Contains(options, never) {
				ts.Fatalf("a container has %s: %s", never, options)
			}
		}
		for _, always := range []string{"--rm ", "--read-only ", "--cap-drop ALL ", "--security-opt no-new-privileges ", "--cpus 2 ", "--memory 4g ", "--memory-swap 4g ", "--pids-limit 512 "} {
			if !strings.Contains(options, always) {
				ts.Fatalf("a container has no %s: %s", always, options)
			}
		}
		value := func(option string) string {
			if i := slices.Index(call.Args, option); i >= 0 {
				return call.Args[i+1]
			}
			return "default"
		}
		fmt.Fprintf(ts.Stdout(), "user %s, network %s, in %s: %s\n", value("--user"), value("--network"), value("--workdir"), strings.Join(call.Args[at+2:], " "))
	}
	ts.Check(os.WriteFile(file, nil, 0o600))
}
