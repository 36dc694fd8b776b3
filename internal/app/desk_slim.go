//go:build slim

package app

import (
	"context"
	"fmt"
	"slices"

	"github.com/org/foreman-action/internal/command"
)

// command is that of the program in the action's image, which is the action and nothing
// else.
func (a App) command(ctx context.Context, args []string) int {
	switch {
	case slices.Equal(args, []string{"action"}):
		return a.action(ctx)
	case slices.Equal(args, []string{"--version"}):
		fmt.Fprintf(a.Stdout, "foreman version %s\n", version())
		return command.ExitOK
	}
	fmt.Fprintln(a.Stderr, "foreman: this is the program of the action's image, and it knows one command, action; the others are in the whole program: go install github.com/org/foreman-action@latest")
	return command.ExitUsage
}
