package queue

import (
	"context"
	"errors"

	"github.com/org/foreman-action/internal/cli/foremand/deployment"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/server/database"
)

// sharedOptions are the options that all commands for the queue have.
type sharedOptions struct {
	Env    process.Env
	Config string // configuration file; empty: none
	Queue  string // location of the queue's database; empty: as configured
	JSON   bool   // print JSON
}

// with opens the queue as [deployment.OpenQueue] does, calls f, and closes the queue. An error of f counts as a failure.
func (o sharedOptions) with(ctx context.Context, f func(database.Store) error) (err error) {
	q, err := deployment.OpenQueue(ctx, o.Env, o.Config, o.Queue)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, command.Failed(q.Close())) }()
	return command.Failed(f(q))
}

// printCount prints the JSON document of a command that counts tasks. A failure is in the document,
// and ends the command with [command.ExitFailed].
func (o sharedOptions) printCount(key string, n int, failure error) error {
	document := map[string]any{"version": 1, key: n}
	if failure != nil {
		document["error"] = failure.Error()
	}
	if err := printJSON(o.Env.Stdout, document); err != nil || failure == nil {
		return err
	}
	return command.Reported(command.ExitFailed)
}
