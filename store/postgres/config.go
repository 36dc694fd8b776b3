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

// defaultConnections is a share that a PostgreSQL with stock settings can give to each of
// several harnesses.
const defaultConnections = 16

// ErrURL means that the URL of a database cannot be parsed.
var ErrURL = errors.New("read the URL of the database")

// CheckURL returns an error for a bad URL of a database, without repeating any part of it.
// It matches [ErrURL].
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

// public returns the reason why a URL could not be parsed, without any part of the URL: pgx
// removes the password only from those that it understands.
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

// session overrides the defaults of the server, the database and the role with the settings
// that the store relies on: commits are on the disk, statements see earlier commits,
// and an open transaction of a stalled process ends, because it would keep dead rows from
// being cleaned up. Statements are planned once: a plan for each number of calls that share one
// would cost more than running it. Sequential scans are off because every statement has an index, and
// missing or old statistics can make a table look small.
const session = `
SELECT set_config('synchronous_commit', CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, false),
  set_config('default_transaction_isolation', 'read committed', false),
  set_config('default_transaction_read_only', 'off', false),
  set_config('idle_in_transaction_session_timeout', '60s', false),
  set_config('lock_timeout', '30s', false),
  set_config('enable_seqscan', 'off', false),
  set_config('jit', 'off', false),
  set_config('plan_cache_mode', 'force_generic_plan', false)`

// connectTimeout bounds the set-up of a connection, unless the URL has a connect_timeout.
const connectTimeout = 10 * time.Second

// dialer enables keep-alives that detect a dead connection within a minute, for machines that
// vanish and firewalls that drop connections silently.
func dialer() *net.Dialer {
	return &net.Dialer{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 10 * time.Second, Count: 3}}
}

// prepare makes the settings of a new connection. The pool sets no deadline.
func prepare(ctx context.Context, c *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	_, err := c.Exec(ctx, session)
	return err
}
