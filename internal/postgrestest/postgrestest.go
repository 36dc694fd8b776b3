// Package postgrestest starts a PostgreSQL server for tests. Each server has its own cluster in
// its own folder, which is removed when the process ends. The package needs the server's programs
// (Debian: postgresql), but no running service and no port.
package postgrestest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// ErrMissing means that the programs of a server are not installed, or that there is no user that
// can run them.
var ErrMissing = errors.New("no PostgreSQL server is installed")

// A Cluster is a server. It is safe for concurrent use, except for Stop and Start.
type Cluster struct {
	dir      string
	bin      string   // folder of the server's programs
	as       []string // prefix of a command that runs it as another user
	settings []string
	guard    *exec.Cmd // ends the server when this process ends
	leash    io.Closer
	admin    *pgxpool.Pool // runs the statements of Database and Schema
	names    atomic.Int64
	pooler   func() (*Pooler, error) // starts the pooler at its first call
	pooled   *Pooler                 // nil: it was not started
}

// Start starts a cluster for one test. The test is skipped if no server is installed.
func Start(tb testing.TB, settings ...string) *Cluster {
	tb.Helper()
	c, err := Launch(tb.Context(), settings...)
	if errors.Is(err, ErrMissing) {
		tb.Skip(err)
	}
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(c.Close)
	return c
}

// Launch starts a cluster for several tests. A setting has the form "fsync=off". Close ends the
// cluster.
func Launch(ctx context.Context, settings ...string) (*Cluster, error) {
	bin, err := programs()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "foreman-pg-")
	if err != nil {
		return nil, err
	}
	c := &Cluster{dir: dir, bin: bin, settings: settings}
	c.pooler = sync.OnceValues(c.startPooler)
	if err := c.drop(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	err = c.run(ctx, "initdb", "-D", c.data(), "-U", "postgres", "-A", "trust", "--encoding=UTF8", "--locale=C", "--no-sync", "--no-instructions")
	if err == nil {
		err = c.watch()
	}
	if err == nil {
		err = c.Start(ctx)
	}
	if err == nil {
		c.admin, err = pgxpool.New(ctx, c.URL("postgres"))
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// programs finds the folder of the newest server's programs.
func programs() (string, error) {
	var list []string
	for _, pattern := range []string{"/usr/lib/postgresql/*/bin/initdb", "/usr/pgsql-*/bin/initdb", "/opt/homebrew/opt/postgresql@*/bin/initdb"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			return "", err
		}
		list = append(list, found...)
	}
	if path, err := exec.LookPath("initdb"); err == nil && len(list) == 0 {
		// The other programs are in the same folder.
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return "", err
		}
		list = append(list, path)
	}
	if len(list) == 0 {
		return "", fmt.Errorf("%w: initdb is missing", ErrMissing)
	}
	return filepath.Dir(list[len(list)-1]), nil
}

// drop prepares to run the server as another user, because it refuses to run as root.
func (c *Cluster) drop() error {
	if os.Geteuid() != 0 {
		return nil
	}
	postgres, err := user.Lookup("postgres")
	if err != nil {
		return fmt.Errorf("%w: it does not run as root, and there is no user postgres", ErrMissing)
	}
	uid, err := strconv.Atoi(postgres.Uid)
	if err != nil {
		return err
	}
	// Clients need access to the socket in the folder.
	if err := errors.Join(os.Chown(c.dir, uid, -1), os.Chmod(c.dir, 0o755)); err != nil {
		return err
	}
	c.as = []string{"runuser", "-u", "postgres", "--"}
	return nil
}

func (c *Cluster) data() string { return filepath.Join(c.dir, "data") }

// command returns the command that runs one of the server's programs.
func (c *Cluster) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	all := append(slices.Clone(c.as), filepath.Join(c.bin, name))
	cmd := exec.CommandContext(ctx, all[0], append(all[1:], args...)...)
	cmd.Dir = c.dir
	return cmd
}

func (c *Cluster) run(ctx context.Context, name string, args ...string) error {
	out, err := c.command(ctx, name, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("run %s: %w: %s", name, err, out)
	}
	return nil
}

// watch starts a process that ends the server after this process has ended, even if it was
// killed.
func (c *Cluster) watch() error {
	c.guard = exec.Command("sh", "-c", `cat >/dev/null; "$@"; rm -rf "$0"`, c.dir)
	c.guard.Args = append(c.guard.Args, c.command(context.Background(), "pg_ctl", "-D", c.data(), "-m", "immediate", "stop").Args...)
	c.guard.Dir = "/"
	apart(c.guard)
	leash, err := c.guard.StdinPipe()
	if err != nil {
		return err
	}
	c.leash = leash
	return c.guard.Start()
}

// Close ends the pooler and the server, and removes their files.
func (c *Cluster) Close() {
	if c.pooled != nil {
		c.pooled.stop()
	}
	if c.admin != nil {
		c.admin.Close()
	}
	if c.leash == nil {
		_ = os.RemoveAll(c.dir) // temporary files
		return
	}
	_ = c.leash.Close() // the guard ends the server and removes the folder
	_ = c.guard.Wait()
}

// Start starts the server after a Stop, and waits until it answers.
func (c *Cluster) Start(ctx context.Context) error {
	options := []string{"-c listen_addresses='' -c unix_socket_directories=" + c.dir, "-c max_connections=1000", "-c timezone=UTC"}
	for _, s := range c.settings {
		options = append(options, "-c "+s)
	}
	log := filepath.Join(c.dir, "log")
	err := c.run(ctx, "pg_ctl", "-D", c.data(), "-w", "-l", log, "-o", strings.Join(options, " "), "start")
	if err != nil {
		text, _ := os.ReadFile(log)
		return fmt.Errorf("%w: %s", err, text)
	}
	return nil
}

// Stop stops the server: "fast" ends all connections first, "immediate" is like a crash.
func (c *Cluster) Stop(ctx context.Context, mode string) error {
	c.admin.Reset() // its connections would fail after the next Start
	return c.run(ctx, "pg_ctl", "-D", c.data(), "-w", "-m", mode, "stop")
}

// Database creates an empty database, and returns its URL.
func (c *Cluster) Database(tb testing.TB) string {
	tb.Helper()
	name := c.name()
	c.exec(tb, "CREATE DATABASE "+name+" TEMPLATE template0")
	return c.URL(name)
}

// Schema creates an empty schema in a database that other tests also use, and returns its URL. It
// is faster than Database.
func (c *Cluster) Schema(tb testing.TB) string {
	tb.Helper()
	name := c.name()
	c.exec(tb, "CREATE SCHEMA "+name)
	return c.URL("postgres") + "&search_path=" + name
}

// URL returns the URL of a database.
func (c *Cluster) URL(database string) string {
	return "postgres:///" + database + "?" + url.Values{"host": {c.dir}, "user": {"postgres"}}.Encode()
}

func (c *Cluster) name() string { return fmt.Sprintf("test_%d", c.names.Add(1)) }

// exec runs a statement of an administrator.
func (c *Cluster) exec(tb testing.TB, sql string) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), time.Minute)
	defer cancel()
	_, err := c.admin.Exec(ctx, sql)
	if err != nil {
		tb.Fatal(err)
	}
}
