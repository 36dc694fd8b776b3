// Package deployment finds the configuration and the databases of a server for the commands of
// foremand.
package deployment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/config/serverconfig"
	"github.com/org/foreman-action/internal/server/database"
	"github.com/org/foreman-action/queue"
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
	return serverconfig.Load(ctx, spec(env, path))
}

func spec(env process.Env, path string) serverconfig.Spec {
	return serverconfig.Spec{Path: path, Lookup: env.LookupEnv, Home: env.Getenv("HOME"), Database: postgres.CheckURL}
}

// Databases returns the location of a server's database, and that of the file in which earlier
// versions kept the memory: from non-empty flags, else from the configuration, else in the user's
// folder for state, or in ~/.foreman if only that has databases. The file of the memory there belongs to
// the database there: a server with another database does not use it. With PostgreSQL there is no such
// file, and naming one is an error. No error contains a location, because it may contain a password.
func Databases(env process.Env, flags database.Locations, queue serverconfig.Queue, memory serverconfig.Memory) (database.Locations, error) {
	at := database.Locations{Memory: cmp.Or(flags.Memory, memory.DBPath)}
	if err := serverconfig.CheckLocation(flags.Memory); err != nil {
		return database.Locations{}, fmt.Errorf("--db: %w", err)
	}
	var err error
	if at.Queue, err = queueOf(env, flags.Queue, queue); err != nil {
		return database.Locations{}, err
	}
	switch shared := serverconfig.Postgres(at.Queue); {
	case at.Memory != "" && (shared || serverconfig.Postgres(at.Memory)):
		if database.Key(at.Memory) != database.Key(at.Queue) {
			return database.Locations{}, fmt.Errorf("find the memory: %w; remove --db or memory.db_path", serverconfig.ErrOtherMemory)
		}
		at.Memory = ""
	case at.Memory == "" && !shared:
		if _, err := env.StateDir(); err != nil {
			return at, nil //nolint:nilerr // no earlier version could have kept it there
		}
		dir, err := folder(env)
		if err != nil {
			return database.Locations{}, fmt.Errorf("find a folder for %s: %w; name the file by --db or memory.db_path", memoryFile, err)
		}
		file := filepath.Join(dir, memoryFile)
		if database.Key(at.Queue) == database.Key(filepath.Join(dir, queueFile)) {
			at.Memory = file
		} else if _, err := os.Stat(file); err == nil {
			at.Left = file
		}
	}
	return at, nil
}

// queueOf returns the location of the queue alone, as [Databases] does.
func queueOf(env process.Env, flag string, queue serverconfig.Queue) (string, error) {
	if err := serverconfig.CheckLocation(flag); err != nil {
		return "", fmt.Errorf("--queue-db: %w", err)
	}
	if at := cmp.Or(flag, string(queue.URL), queue.DBPath); at != "" {
		return at, nil
	}
	dir, err := folder(env)
	if err != nil {
		return "", fmt.Errorf("find a folder for %s: %w; name the file by --queue-db or queue.db_path", queueFile, err)
	}
	return filepath.Join(dir, queueFile), nil
}

// The files that are neither named by a flag nor configured. Earlier versions kept the memory in a
// file of its own.
const (
	queueFile  = "queue.db"
	memoryFile = "memory.db"
)

// folder returns the folder of databases without a configured place: the user's folder for state. The
// published harness kept them in ~/.foreman, which is used if only that folder has one of them.
func folder(env process.Env) (string, error) {
	state, err := env.StateDir()
	if err != nil {
		return "", err
	}
	folders := []string{state}
	if home := env.Getenv("HOME"); home != "" {
		folders = append(folders, filepath.Join(home, ".foreman"))
	}
	for _, dir := range folders {
		for _, name := range []string{queueFile, memoryFile} {
			_, err := os.Stat(filepath.Join(dir, name))
			switch {
			case err == nil:
				return dir, nil
			case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR): // HOME=/dev/null is common
				return "", err
			}
		}
	}
	return state, nil
}

// Find returns where the databases are, as [Databases] does, with the configuration at a path;
// empty: without a configuration. Variables of the configuration that do not belong to the
// databases, such as secrets, need not be set.
func Find(ctx context.Context, env process.Env, path string, flags database.Locations) (database.Locations, error) {
	queue, memory, err := stores(ctx, env, path)
	if err != nil {
		return database.Locations{}, err
	}
	return Databases(env, flags, queue, memory)
}

// FindQueue returns the location of the queue alone, as [Find] does.
func FindQueue(ctx context.Context, env process.Env, path, flag string) (string, error) {
	queue, _, err := stores(ctx, env, path)
	if err != nil {
		return "", err
	}
	return queueOf(env, flag, queue)
}

func stores(ctx context.Context, env process.Env, path string) (serverconfig.Queue, serverconfig.Memory, error) {
	if path == "" {
		return serverconfig.Queue{}, serverconfig.Memory{}, nil
	}
	return serverconfig.LoadStores(ctx, spec(env, path))
}

// OpenQueue opens the database that a flag names, or else that of the configuration at a path, or else that of the
// user. A missing file is an error; OpenQueue does not create it. A database that is out of reach counts as a
// failure. OpenQueue does not upgrade a database either.
func OpenQueue(ctx context.Context, env process.Env, path, flag string) (database.Store, error) {
	at, err := FindQueue(ctx, env, path, flag)
	if err != nil {
		return nil, err
	}
	if file, ok := database.File(at); ok {
		switch _, err := os.Stat(file); {
		case errors.Is(err, fs.ErrNotExist) && path+flag == "":
			return nil, fmt.Errorf("there is no queue: no file %s; name one with --queue-db, or the configuration with --config", file)
		case errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("there is no queue: no file %s; the server's first start makes it", file)
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

// Runner returns the policy and the mode of the configuration at a path, and the address of GitHub's API, if it names one. Variables of
// secrets need not be set.
func Runner(ctx context.Context, env process.Env, path string) (*config.Config, string, error) {
	return serverconfig.LoadRunner(ctx, spec(env, path))
}
