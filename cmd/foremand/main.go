// Foremand is the harness as a service. It receives events, gives tasks to agents over a durable
// queue, and carries their decisions out.
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
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	code := foremand.Main(ctx, process.Env{
		Getenv: os.Getenv, LookupEnv: os.LookupEnv, Stdout: os.Stdout, Stderr: os.Stderr, Terminal: term.IsTerminal(int(os.Stderr.Fd())),
		Hangups: hangups,
	}, os.Args[1:])
	stop()
	os.Exit(code)
}

// hangups returns a channel that receives SIGHUP from now on.
func hangups() <-chan os.Signal {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGHUP)
	return c
}
