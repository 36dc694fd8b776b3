// Action is the program in the image of the GitHub Action, where it is named foreman.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/org/foreman-action/internal/cli/image"
	"github.com/org/foreman-action/internal/cli/process"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program immediately
	// With this handler, a closed output pipe is an error of the write. Without it, SIGPIPE would
	// end the program between two writes to GitHub.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	env := process.Env{
		Getenv: os.Getenv, Stdout: os.Stdout, Stderr: os.Stderr,
	}
	code := image.Main(ctx, env, os.Args[1:])
	stop()
	os.Exit(code)
}
