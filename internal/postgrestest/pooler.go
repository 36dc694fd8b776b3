package postgrestest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// poolerPort is the port in the name of the pooler's socket, which is in the same folder as the
// server's.
const poolerPort = "6432"

// maxSchemas is the most schemas of a cluster that its pooler can serve.
const maxSchemas = 5000

// errNoPooler means that PgBouncer is not installed.
var errNoPooler = errors.New("no PgBouncer is installed (Debian: pgbouncer)")

// A Pooler is a PgBouncer in front of a cluster.
type Pooler struct {
	cluster *Cluster
	leash   io.Closer // ends the program
	program *exec.Cmd
}

// Pooler returns the PgBouncer in front of the cluster, which its first call starts. The test is
// skipped if PgBouncer is not installed. PgBouncer lends a connection of the server for one
// transaction, and uses at most four per database and user.
func (c *Cluster) Pooler(tb testing.TB) *Pooler {
	tb.Helper()
	p, err := c.pooler()
	if errors.Is(err, errNoPooler) {
		tb.Skip(err)
	}
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// URL returns the URL of a database behind the pooler. The pooler does not forward the other
// settings of the URL, such as a search path.
func (p *Pooler) URL(direct string) string { return direct + "&port=" + poolerPort }

// Schema does the same as Cluster.Schema, but its URL uses the pooler. The user has the schema's
// name and the schema as the search path.
func (p *Pooler) Schema(tb testing.TB) string {
	tb.Helper()
	name := p.cluster.name()
	p.cluster.exec(tb, fmt.Sprintf("CREATE SCHEMA %[1]s; CREATE ROLE %[1]s SUPERUSER LOGIN; ALTER ROLE %[1]s SET search_path = %[1]s", name))
	return p.URL(strings.Replace(p.cluster.URL("postgres"), "user=postgres", "user="+name, 1))
}

// startPooler starts the program, and waits until it answers. Close ends it.
func (c *Cluster) startPooler() (*Pooler, error) {
	bin, err := exec.LookPath("pgbouncer")
	if err != nil {
		bin, err = exec.LookPath("/usr/sbin/pgbouncer")
	}
	if err != nil {
		return nil, errNoPooler
	}
	config := filepath.Join(c.dir, "pooler.ini")
	users := filepath.Join(c.dir, "pooler.users")
	text := fmt.Sprintf(`[databases]
* = host=%[1]s port=5432
[pgbouncer]
listen_addr =
listen_port = %[2]s
unix_socket_dir = %[1]s
auth_type = trust
auth_file = %[3]s
logfile = %[1]s/pooler.log
pool_mode = transaction
default_pool_size = 4
max_user_connections = 60
max_client_conn = 1000
server_idle_timeout = 5
`, c.dir, poolerPort, users)
	names := []byte(`"postgres" ""` + "\n")
	for n := range maxSchemas {
		names = fmt.Appendf(names, "\"test_%d\" \"\"\n", n)
	}
	if err := errors.Join(os.WriteFile(config, []byte(text), 0o644), os.WriteFile(users, names, 0o644)); err != nil {
		return nil, err
	}
	// The shell ends the program when its standard input is closed.
	cmd := exec.Command("sh", "-c", `"$@" >/dev/null 2>&1 & pid=$!; cat >/dev/null; kill "$pid"; wait "$pid"`, "sh")
	cmd.Args = append(cmd.Args, append(c.as, bin, "-q", config)...)
	cmd.Dir = c.dir
	apart(cmd)
	leash, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, err
	}
	p := &Pooler{c, leash, cmd}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := reachable(ctx, p.URL(c.URL("postgres"))); err != nil {
		p.stop()
		log, _ := os.ReadFile(filepath.Join(c.dir, "pooler.log"))
		return nil, fmt.Errorf("PgBouncer does not answer: %w\n%s", err, log)
	}
	c.pooled = p
	return p, nil
}

// stop ends the program.
func (p *Pooler) stop() {
	_ = p.leash.Close()
	_ = p.program.Wait()
}

// reachable waits until a connection succeeds.
func reachable(ctx context.Context, url string) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		conn, err := pgx.Connect(ctx, url)
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return err
		}
	}
}
