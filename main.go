// Foreman is a GitHub Action and a command line that triage issues: rules or an
// agent decide, and Foreman carries the decision out.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"

	"github.com/org/foreman-action/internal/app"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	code := app.App{
		Args:     os.Args[1:],
		Getenv:   os.Getenv,
		Stdin:    os.Stdin,
		Stdout:   os.Stdout,
		Stderr:   os.Stderr,
		Colour:   term.IsTerminal(int(os.Stdout.Fd())) && os.Getenv("NO_COLOR") == "",
		Terminal: term.IsTerminal(int(os.Stderr.Fd())),
	}.Main(ctx)
	stop()
	os.Exit(code)
}
