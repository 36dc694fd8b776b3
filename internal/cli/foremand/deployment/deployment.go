// Package deployment finds the configuration and the databases of a server for the commands of
// foremand.
package deployment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/config/serverconfig"
	"github.com/org/foreman-action/internal/server/database"
	"github.com/org/foreman-action/store/postgres"
)

// RequireConfig adds the flag --config, which must be given, to a command.
func RequireConfig(c *cobra.Command, path *string) {
	c.Flags().StringVar(path, "config", "", "the `file` with the configuration")
	_ = c.MarkFlagRequired("config") // the flag is there
}

// Load reads the configuration file at a path.
func Load(ctx context.Context, env process.Env, path string) (*serverconfig.Config, error) {
	if path == "" {
		return nil, errors.New("--config: the name of the file is empty")
	}
	return serverconfig.Load(ctx, serverconfig.Spec{Path: path, Lookup: env.LookupEnv, Home: env.Getenv("HOME"), Database: postgres.CheckURL})
}

// Databases returns the locations of a server's databases: from non-empty flags, else from the
// configuration, else in the user's folder for state, or in ~/.foreman if one is there. If the queue is in PostgreSQL, the memory's default is the
// same database, and a file is an error. No error contains a location, because it may contain a
// password.
func Databases(env process.Env, flags database.Locations, s *serverconfig.Config) (database.Locations, error) {
	for flag, location := range map[string]string{"--queue-db": flags.Queue, "--db": flags.Memory} {
		if err := serverconfig.CheckLocation(location); err != nil {
			return database.Locations{}, fmt.Errorf("%s: %w", flag, err)
		}
	}
	at := database.Locations{Queue: cmp.Or(flags.Queue, string(s.Queue.URL), s.Queue.DBPath), Memory: cmp.Or(flags.Memory, s.Memory.DBPath)}
	if at.Queue == "" || at.Memory == "" && !serverconfig.Postgres(at.Queue) {
		dir, err := folder(env)
		if err != nil {
			return database.Locations{}, fmt.Errorf("find a folder for the databases: %w; name the files by --queue-db and --db", err)
		}
		at.Queue = cmp.Or(at.Queue, filepath.Join(dir, queueFile))
		at.Memory = cmp.Or(at.Memory, filepath.Join(dir, memoryFile))
	}
	switch {
	case at.Memory == "":
		at.Memory = at.Queue
	case serverconfig.Postgres(at.Queue) && !serverconfig.Postgres(at.Memory):
		return database.Locations{}, fmt.Errorf("find the memory: %w; remove --db or memory.db_path", serverconfig.ErrLocalMemory)
	}
	return at, nil
}

// The files that are neither named by a flag nor configured.
const (
	queueFile  = "queue.db"
	memoryFile = "memory.db"
)

// folder returns the folder of databases without a configured place: the user's folder for state. The published
// harness kept them in ~/.foreman, which is used if one of them is there.
func folder(env process.Env) (string, error) {
	former := filepath.Join(env.Getenv("HOME"), ".foreman")
	for _, name := range []string{queueFile, memoryFile} {
		if _, err := os.Stat(filepath.Join(former, name)); err == nil {
			return former, nil
		}
	}
	return env.StateDir()
}

// Find returns where the databases are, as [Databases] does, with the configuration at a
// path; empty: without a configuration.
func Find(ctx context.Context, env process.Env, path string, flags database.Locations) (database.Locations, error) {
	s := &serverconfig.Config{}
	if path != "" {
		var err error
		if s, err = Load(ctx, env, path); err != nil {
			return database.Locations{}, err
		}
	}
	return Databases(env, flags, s)
}
