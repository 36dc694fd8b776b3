package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// defaultConnections is what a PostgreSQL with stock settings has to spare for each of
// several harnesses.
const defaultConnections = 16

// ErrURL says that the URL of a database cannot be read.
var ErrURL = errors.New("read the URL of the database")

// CheckURL says what is wrong with the URL of a database, without repeating any of it. It
// matches ErrURL.
func CheckURL(url string) error {
	_, err := parse(url, Options{})
	return err
}

// parse reads the URL of a database.
func parse(url string, o Options) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("%w: %w; want postgres://user:password@host:5432/database", ErrURL, public(err, url))
	}
	if o.Connections > 0 {
		config.MaxConns = int32(min(o.Connections, 10_000))
	} else if !strings.Contains(url, "pool_max_conns") {
		config.MaxConns = defaultConnections
	}
	if config.ConnConfig.RuntimeParams["application_name"] == "" {
		config.ConnConfig.RuntimeParams["application_name"] = "foremand"
	}
	config.ConnConfig.DialFunc = dialer().DialContext
	config.ConnConfig.ConnectTimeout = cmp.Or(config.ConnConfig.ConnectTimeout, connectTimeout)
	config.AfterConnect = prepare
	return config, nil
}

// public is why a URL could not be read, without anything of the URL: pgx takes the
// password out of those that it understands only.
func public(err error, url string) error {
	if _, ok := errors.AsType[*net.AddrError](err); ok {
		return errors.New("its host and port are malformed")
	}
	cause := err
	for next := err; next != nil; next = errors.Unwrap(next) {
		cause = next
	}
	text := cause.Error()
	for _, part := range strings.FieldsFunc(url, func(r rune) bool { return strings.ContainsRune(":/@?&= '\"", r) }) {
		if strings.Contains(text, part) {
			return errors.New("it is malformed")
		}
	}
	return errors.New(text)
}

// nameOf names a database for people.
func nameOf(c *pgx.ConnConfig) string {
	return c.Database + " on " + net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port)))
}

// session makes sure of what all rests on, whatever the server's, the database's or the
// role's defaults are: that what is committed is on the disk, that statements see what
// was committed before them, and that a transaction which a stalled process left open
// ends, for it keeps dead rows from being cleaned up. Every statement has an index that it
// goes by, also where statistics that are old, or not there yet, let the whole table look
// small.
const session = `
SELECT set_config('synchronous_commit', CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, false),
  set_config('default_transaction_isolation', 'read committed', false),
  set_config('default_transaction_read_only', 'off', false),
  set_config('idle_in_transaction_session_timeout', '60s', false),
  set_config('lock_timeout', '30s', false),
  set_config('enable_seqscan', 'off', false),
  set_config('jit', 'off', false)`

// connectTimeout is how long a connection may take until it can be used, where the URL has
// no connect_timeout.
const connectTimeout = 10 * time.Second

// dialer makes connections that are noticed to be dead within a minute: a machine that went
// away, or a firewall that forgot them, tells nobody.
func dialer() *net.Dialer {
	return &net.Dialer{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 10 * time.Second, Count: 3}}
}

// prepare prepares a new connection. The pool gives it as long as it likes.
func prepare(ctx context.Context, c *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	_, err := c.Exec(ctx, session)
	return err
}
