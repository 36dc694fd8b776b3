// Contribflow takes a contributor from an open issue to a draft pull request.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"

	"github.com/org/foreman-action/internal/cli/contribflow"
	"github.com/org/foreman-action/internal/cli/process"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	code := contribflow.Main(ctx, process.Env{
		Getenv: os.Getenv, LookupEnv: os.LookupEnv, Environ: os.Environ, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		OutTerminal: term.IsTerminal(int(os.Stdout.Fd())), Terminal: term.IsTerminal(int(os.Stderr.Fd())), Program: os.Args[0],
	}, os.Args[1:])
	stop()
	os.Exit(code)
}
