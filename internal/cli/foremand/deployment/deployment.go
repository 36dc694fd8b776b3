// Package deployment finds the configuration and the databases of a server for the commands of
// foremand.
package deployment

import (
	"cmp"
	"context"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/config/serverconfig"
	"github.com/org/foreman-action/internal/cli/process"
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
	return serverconfig.Load(ctx, serverconfig.Spec{Path: path, Lookup: env.LookupEnv, Home: env.Getenv("HOME"), Database: postgres.CheckURL})
}

// Databases returns the locations of a server's databases: from non-empty flags, else from the
// configuration, else in ~/.foreman. If the queue is in PostgreSQL, the memory's default is the
// same database.
func Databases(env process.Env, flags database.Locations, s *serverconfig.Config) database.Locations {
	file := func(name string) string { return filepath.Join(env.Getenv("HOME"), ".foreman", name) }
	at := database.Locations{Queue: cmp.Or(flags.Queue, string(s.Queue.URL), s.Queue.DBPath, file("queue.db"))}
	at.Memory = cmp.Or(flags.Memory, s.Memory.DBPath)
	switch {
	case at.Memory != "":
	case serverconfig.Postgres(at.Queue):
		at.Memory = at.Queue
	default:
		at.Memory = file("memory.db")
	}
	return at
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
	return Databases(env, flags, s), nil
}
