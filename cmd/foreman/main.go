// Foreman is the program at the root of the module, under its own name: a GitHub Action
// and a command line that triage issues.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"

	"github.com/org/foreman-action/internal/cli"
	"github.com/org/foreman-action/internal/cli/process"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program immediately
	// With this handler, a closed output pipe is an error of the write. Without it, SIGPIPE would
	// end the program between two writes to GitHub.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	env := process.Env{
		Getenv: os.Getenv, Environ: os.Environ, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		OutTerminal: term.IsTerminal(int(os.Stdout.Fd())), Terminal: term.IsTerminal(int(os.Stderr.Fd())),
		Program: os.Args[0],
	}
	code := cli.Main(ctx, env, os.Args[1:])
	stop()
	os.Exit(code)
}
