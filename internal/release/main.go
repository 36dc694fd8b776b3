// Release makes a release of Foreman: it checks, builds, pins, tags and publishes.
// docs/release.md explains the order.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/org/foreman-action/internal/release/command"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := command.Run(ctx, command.Env{Getenv: os.Getenv, Stdout: os.Stdout, Stderr: os.Stderr}, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "release: %v\n", err)
		os.Exit(1)
	}
}
