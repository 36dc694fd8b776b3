package main

import (
	"net/http/httptest"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

func agentCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: agent FILE|stop|start|tasks COUNT")
	}
	a := rigOf(ts).agent
	switch args[0] {
	case "stop", "start":
		a.mu.Lock()
		a.down = args[0] == "stop"
		a.mu.Unlock()
	case "tasks":
		a.mu.Lock()
		defer a.mu.Unlock()
		if len(a.tasks) != number(ts, args[1]) || len(a.errs) > 0 {
			ts.Fatalf("%d tasks decided, want %s: %v %v", len(a.tasks), args[1], a.tasks, a.errs)
		}
	case "sync":
		a.mu.Lock()
		a.sync = true
		a.mu.Unlock()
	case "secret":
		a.mu.Lock()
		a.user = args[1] + ":" + args[2] + "@"
		a.mu.Unlock()
	default:
		r := rigOf(ts)
		a = &scriptAgent{answer: strings.TrimSpace(ts.ReadFile(args[0])), url: func() string { at, _ := r.url.Load().(string); return at }}
		srv := httptest.NewServer(a)
		ts.Defer(srv.Close)
		rigOf(ts).agent = a
		ts.Setenv("AGENT", srv.URL)
	}
}
