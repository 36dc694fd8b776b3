package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/wait"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// maxStatements is the most prepared statements of a connection.
const maxStatements = 150

// A conn is one connection to the database, with its prepared statements. It is not safe for
// concurrent use.
type conn struct {
	db       *sql.DB
	pinned   *sql.Conn
	prepared map[string]*sql.Stmt
}

// A connector opens connections with one driver and one name.
type connector struct {
	driver driver.Driver
	dsn    string
}

func (c connector) Connect(context.Context) (driver.Conn, error) { return c.driver.Open(c.dsn) }
func (c connector) Driver() driver.Driver                        { return c.driver }

// open opens a connection and sets it up.
func open(d driver.Driver, dsn string, pragmas ...string) (*conn, error) {
	db := sql.OpenDB(connector{d, dsn})
	pinned, err := db.Conn(context.Background())
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	c := &conn{db: db, pinned: pinned, prepared: map[string]*sql.Stmt{}}
	for _, p := range pragmas {
		if err := c.set(p); err != nil {
			return nil, errors.Join(fmt.Errorf("pragma %s: %w", p, err), c.close())
		}
	}
	return c, nil
}

// busyTimeout is the pragma for the milliseconds to wait for another process's lock.
var busyTimeout = fmt.Sprintf("busy_timeout = %d", lockTime.Milliseconds())

// vacuum is the pragma that lets the file shrink. It is run for an empty file only. For any other
// file SQLite would write without an effect, so that the file could not be opened on a full disk.
const vacuum = "auto_vacuum = INCREMENTAL"

// oldest is the first version of SQLite without the fault that could corrupt a file in
// write-ahead mode.
const oldest = "3.51.3"

// checkVersion returns an error if the version of SQLite is too old.
func checkVersion(got string) error {
	if number(got) < number(oldest) {
		return fmt.Errorf("SQLite %s can corrupt files; want %s or newer", got, oldest)
	}
	return nil
}

// number returns a number by which versions can be compared; 0: not a version.
func number(version string) int {
	n := 0
	for part := range strings.SplitSeq(version, ".") {
		i, err := strconv.Atoi(part)
		if err != nil {
			return 0
		}
		n = n*1000 + i
	}
	return n
}

// lockTime is how long a connection waits for another process's lock. lockPause is the pause
// between two tries.
const (
	lockTime  = 10 * time.Second
	lockPause = 10 * time.Millisecond
)

// set runs a pragma. It retries while another process has the lock. SQLite itself does not wait
// when it changes the journal mode of a new file, which another server may be creating at the
// same time.
func (c *conn) set(pragma string) error {
	if pragma == vacuum {
		var pages int64
		_, err := c.query("PRAGMA page_count", func(r sqlstore.Row) error { return r.Scan(&pages) })
		if err != nil || pages > 0 {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), lockTime)
	defer cancel()
	for {
		err := c.once("PRAGMA " + pragma)
		if !locked(err) || wait.For(ctx, lockPause) != nil {
			return err
		}
	}
}

func (c *conn) close() error {
	c.forget()
	return errors.Join(c.pinned.Close(), c.db.Close())
}

// forget closes all prepared statements.
func (c *conn) forget() {
	for query, s := range c.prepared {
		_ = s.Close() // the connection's end closes it otherwise
		delete(c.prepared, query)
	}
}

// prepare returns a prepared statement, and keeps it for the next call.
func (c *conn) prepare(query string) (*sql.Stmt, error) {
	if s, ok := c.prepared[query]; ok {
		return s, nil
	}
	if len(c.prepared) >= maxStatements {
		c.forget()
	}
	s, err := c.pinned.PrepareContext(context.Background(), numbered(query))
	if err == nil {
		c.prepared[query] = s
	}
	return s, err
}

// numbered replaces the parameters $1, $2, … by +?1, +?2, …. The plus changes no value, but makes
// SQLite ignore the values when it plans the query. Otherwise SQLite would compile a statement
// again when a value changes, such as a LIMIT. See https://www.sqlite.org/qpsg.html.
func numbered(query string) string {
	parts := strings.Split(query, "$")
	for i, p := range parts[1:] {
		mark := "$"
		if p != "" && '0' <= p[0] && p[0] <= '9' {
			mark = "+?"
		}
		parts[i+1] = mark + p
	}
	return strings.Join(parts, "")
}

// exec runs a statement, and returns how many rows it changed.
func (c *conn) exec(query string, args ...any) (int64, error) {
	s, err := c.prepare(query) //nolint:sqlclosecheck // it stays open for the next call
	if err != nil {
		return 0, err
	}
	result, err := s.ExecContext(context.Background(), args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// once runs a rare statement without keeping it prepared.
func (c *conn) once(query string) error {
	_, err := c.pinned.ExecContext(context.Background(), query)
	return err
}

// query runs a statement, calls each for every row, and returns the number of rows.
func (c *conn) query(query string, each func(sqlstore.Row) error, args ...any) (n int64, err error) {
	s, err := c.prepare(query) //nolint:sqlclosecheck // it stays open for the next call
	if err != nil {
		return 0, err
	}
	rows, err := s.QueryContext(context.Background(), args...)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		n++
		if err := each(row{rows}); err != nil {
			return n, err
		}
	}
	return n, rows.Err()
}

// A row is one row of a result.
type row struct{ rows *sql.Rows }

// Scan implements sqlstore.Row.
func (r row) Scan(dest ...any) error {
	columns := make([]any, len(dest))
	for i, d := range dest {
		columns[i] = column{d}
	}
	return r.rows.Scan(columns...)
}

// A column is a destination that accepts any type and NULL.
type column struct{ dest any }

// Scan implements sql.Scanner.
func (c column) Scan(value any) error { return scan(c.dest, value) }

// scan stores a value in dest. It accepts any type, because SQLite keeps values of any type in
// any column, and another program may have written the file.
func scan(dest any, value driver.Value) error {
	switch d := dest.(type) {
	case *int64:
		n, err := integer(value)
		*d = n
		return err
	case *int:
		n, err := integer(value)
		*d = int(n)
		return err
	case *string:
		switch v := value.(type) {
		case nil:
			*d = ""
		case string:
			*d = v
		case []byte:
			*d = string(v)
		default:
			return fmt.Errorf("want text, got %T", value)
		}
	case *[]byte:
		switch v := value.(type) {
		case nil:
			*d = nil
		case string:
			*d = []byte(v)
		case []byte:
			*d = append([]byte{}, v...)
		default:
			return fmt.Errorf("want bytes, got %T", value)
		}
	default:
		return fmt.Errorf("cannot scan into %T", dest)
	}
	return nil
}

func integer(value driver.Value) (int64, error) {
	switch v := value.(type) {
	case nil:
		return 0, nil
	case int64:
		return v, nil
	case float64:
		return int64(v), nil
	}
	return 0, fmt.Errorf("want a number, got %T", value)
}
