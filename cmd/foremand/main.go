// Foremand is the harness as a service: events in, tasks to agents over a durable queue,
// and what they decide carried out.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"

	"github.com/org/foreman-action/internal/cli/foremand"
	"github.com/org/foreman-action/internal/cli/process"
)

func main() {
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // nohup has it ignored
		ends = append(ends, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	code := foremand.Main(ctx, process.Env{
		Getenv: os.Getenv, LookupEnv: os.LookupEnv, Stdout: os.Stdout, Stderr: os.Stderr, Terminal: term.IsTerminal(int(os.Stderr.Fd())),
	}, os.Args[1:])
	stop()
	os.Exit(code)
}
