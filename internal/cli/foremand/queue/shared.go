package queue

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/org/foreman-action/internal/cli/foremand/deployment"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/server/database"
	"github.com/org/foreman-action/queue"
)

// sharedOptions are the options that all commands for the queue have.
type sharedOptions struct {
	Env    process.Env
	Config string // configuration file; empty: none
	Queue  string // location of the queue's database; empty: as configured
	JSON   bool   // print JSON
}

// open opens the queue. A missing file is an error; open does not create it. A database that is out of
// reach counts as a failure. open does not upgrade a database either.
func (o sharedOptions) open(ctx context.Context) (database.Store, error) {
	at, err := deployment.FindQueue(ctx, o.Env, o.Config, o.Queue)
	if err != nil {
		return nil, err
	}
	if path, ok := database.File(at); ok {
		switch _, err := os.Stat(path); {
		case errors.Is(err, fs.ErrNotExist) && o.Config+o.Queue == "":
			return nil, fmt.Errorf("there is no queue: no file %s; name one with --queue-db, or the configuration with --config", path)
		case errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("there is no queue: no file %s; the server's first start makes it", path)
		case err != nil:
			return nil, fmt.Errorf("open the queue: %w", err)
		}
	}
	q, err := database.Open(ctx, at)
	if errors.Is(err, queue.ErrUnavailable) {
		err = command.Failed(err)
	}
	return q, err
}

// with opens the queue, calls f, and closes the queue. An error of f counts as a failure.
func (o sharedOptions) with(ctx context.Context, f func(database.Store) error) (err error) {
	q, err := o.open(ctx)
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
