package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/config/serverconfig"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/store/sqlite"
)

const backupHelp = `Copies the queue and the memory into a folder, as queue.db and memory.db, while a server
uses them. To go back, stop the server and put the copies in the places of the files (and
remove what ends in -wal and -shm beside them). A queue in PostgreSQL is backed up with
PostgreSQL's own programs.`

func (p program) backupCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "backup FOLDER", Short: "Copy the databases while they are in use", Long: backupHelp, Args: cobra.ExactArgs(1)}
	var at places
	f := cmd.Flags()
	config := f.String("config", "", "the `file` with the configuration")
	f.StringVar(&at.db, "db", "", "`file` of the memory")
	f.StringVar(&at.queueDB, "queue-db", "", "`file` of the queue")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		s := &serverconfig.Config{}
		if *config != "" {
			var err error
			if s, err = serverconfig.Load(cmd.Context(), p.spec(*config)); err != nil {
				return err
			}
		}
		if serverconfig.Postgres(at.queue(p, s)) {
			return errors.New("the queue is in PostgreSQL: back it up with pg_dump")
		}
		return command.Failed(p.backup(cmd.Context(), args[0], map[string]string{"queue.db": at.queue(p, s), "memory.db": at.memory(p, s)}))
	}
	return cmd
}

// backup copies each file that there is into a folder.
func (p program) backup(ctx context.Context, dir string, files map[string]string) error {
	copied := 0
	for _, name := range []string{"queue.db", "memory.db"} {
		if serverconfig.Postgres(files[name]) { // whose address may hold a password
			fmt.Fprintf(p.stderr, "what %s would hold is in PostgreSQL: back it up with pg_dump\n", name)
			continue
		}
		from := strings.TrimPrefix(files[name], "file:")
		if _, err := os.Stat(from); errors.Is(err, os.ErrNotExist) {
			fmt.Fprintf(p.stderr, "there is no %s\n", from)
			continue
		}
		to := filepath.Join(dir, name)
		if err := copyDatabase(ctx, from, to); err != nil {
			return err
		}
		fmt.Fprintf(p.stdout, "%s is copied to %s\n", from, to)
		copied++
	}
	if copied == 0 {
		return errors.New("there is nothing to back up: name the files with --queue-db and --db, or the configuration with --config")
	}
	return nil
}

func copyDatabase(ctx context.Context, from, to string) (err error) {
	s, err := sqlite.Open(ctx, from, sqlite.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return s.Backup(ctx, to)
}
