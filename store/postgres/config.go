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

// defaultConnections is the default size of the pool. With PostgreSQL's default settings, several
// harnesses can have as many connections each.
const defaultConnections = 16

// ErrURL means that the URL of a database cannot be parsed.
var ErrURL = errors.New("read the URL of the database")

// CheckURL returns an error that matches [ErrURL] for a bad URL of a database. The error contains
// no part of the URL.
func CheckURL(url string) error {
	_, err := parse(url, Options{})
	return err
}

// parse reads the URL of a database.
func parse(url string, o Options) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(url)
	if err == nil {
		err = unescaped(url, config.ConnConfig.Host)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w; want postgres://user:password@host:5432/database; in a user or password write @ as %%40, / as %%2F, # as %%23 and %% as %%25", ErrURL, public(err, url))
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

// unescaped returns an error for a URL in which an "@" or "/" of the password ended the user or the
// host, so that pgx takes the rest for the name of a host or a database.
func unescaped(url, host string) error {
	_, rest, _ := strings.Cut(url, "://")
	authority, path, _ := strings.Cut(rest, "/")
	database, _, _ := strings.Cut(path, "?")
	if strings.Contains(host, "@") || !strings.Contains(authority, "@") && strings.Contains(database, "@") {
		return errors.New("its password has a character of its address")
	}
	return nil
}

// public returns the reason why a URL could not be parsed, without any part of the URL. The
// errors of pgx omit the password only if pgx could parse the URL.
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

// nameOf returns the name of a database for messages, such as "foreman on db:5432".
func nameOf(c *pgx.ConnConfig) string {
	return c.Database + " on " + net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port)))
}

// session overrides the defaults of the server, the database and the role with the settings that
// the store relies on. Commits are on the disk, and statements see earlier commits. An open
// transaction of a stalled process ends, because it would keep dead rows from being cleaned up.
//
// Each statement is planned once, with a generic plan: planning again for each number of joined
// calls would cost more than running the statement. Sequential scans are off because every
// statement has an index, and missing or old statistics can make a table look small. Joins are
// nested loops for the same reason: the server cannot know that a list is short, and a merge join
// would read the whole index of the tasks.
const session = `
SELECT set_config('synchronous_commit', CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, false),
  set_config('default_transaction_isolation', 'read committed', false),
  set_config('default_transaction_read_only', 'off', false),
  set_config('idle_in_transaction_session_timeout', '60s', false),
  set_config('lock_timeout', '30s', false),
  set_config('enable_seqscan', 'off', false),
  set_config('enable_mergejoin', 'off', false),
  set_config('enable_hashjoin', 'off', false),
  set_config('jit', 'off', false),
  set_config('plan_cache_mode', 'force_generic_plan', false)`

// connectTimeout bounds the set-up of a connection, unless the URL has a connect_timeout.
const connectTimeout = 10 * time.Second

// dialer enables keep-alives, which detect a dead connection within a minute. Connections die
// silently when a machine vanishes or a firewall drops them.
func dialer() *net.Dialer {
	return &net.Dialer{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 10 * time.Second, Count: 3}}
}

// prepare applies the settings to a new connection. It has its own timeout, because the pool sets
// none.
func prepare(ctx context.Context, c *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	_, err := c.Exec(ctx, session)
	return err
}
