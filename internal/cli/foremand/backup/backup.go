// Package backup is the command that copies the database of a server.
package backup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/internal/cli/foremand/deployment"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/server/database"
	"github.com/org/foreman-action/store/sqlite"
)

const help = `Copies the database into a folder, as queue.db, while a server uses it. To restore, stop the
server, replace the file by the copy, and remove the files beside it that end in -wal and
-shm. A database in PostgreSQL is backed up with PostgreSQL's own programs.

A database of an earlier version is copied as it is. So make the backup before an upgrade with
either version: the earlier one can use the copy.

If there is a file of the memory, which earlier versions had, it is copied as memory.db.`

// Options are all that the command depends on.
type Options struct {
	Env       process.Env
	Folder    string             // to copy to
	Config    string             // configuration file; empty: none
	Databases database.Locations // empty ones: as configured
}

// Command returns the command with its flags.
func Command(env process.Env) *cobra.Command {
	o := Options{Env: env}
	c := &cobra.Command{
		Use:   "backup FOLDER",
		Short: "Copy the database while it is in use",
		Long:  help,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 1 || args[0] == "" {
				return fmt.Errorf("%s: want one folder for the copies, such as /var/backups/foremand/2026-05-01", c.CommandPath())
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			o.Folder = args[0]
			return Run(c.Context(), o)
		},
	}
	fl := c.Flags()
	fl.StringVar(&o.Config, "config", "", "the `file` with the configuration")
	fl.StringVar(&o.Databases.Memory, "db", "", "`file` of the memory of an earlier version")
	fl.StringVar(&o.Databases.Queue, "queue-db", "", "`file` of the database")
	return c
}

// Run copies each file that exists.
func Run(ctx context.Context, o Options) error {
	at, err := deployment.Find(ctx, o.Env, o.Config, o.Databases)
	if err != nil {
		return err
	}
	if _, ok := database.File(at.Queue); !ok {
		return errors.New("the queue is in PostgreSQL: back it up with pg_dump")
	}
	copied := 0
	var queue os.FileInfo // nil: none
	for i, db := range []struct{ location, name string }{{at.Queue, "queue.db"}, {at.Memory, "memory.db"}} {
		from, _ := database.File(db.location)
		info, err := os.Stat(from)
		if errors.Is(err, os.ErrNotExist) {
			if i == 0 {
				fmt.Fprintf(o.Env.Stderr, "there is no %s\n", from)
			}
			continue
		}
		if os.SameFile(queue, info) {
			continue
		}
		queue = info
		to := filepath.Join(o.Folder, db.name)
		if err := sqlite.Backup(ctx, from, to); err != nil {
			return command.Failed(err)
		}
		fmt.Fprintf(o.Env.Stdout, "%s is copied to %s\n", from, to)
		copied++
	}
	if copied == 0 {
		return command.Failed(errors.New("there is nothing to back up: name the file with --queue-db, or the configuration with --config"))
	}
	return nil
}
