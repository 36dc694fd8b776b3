package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/wait"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// maxStatements is the most prepared statements of a connection.
const maxStatements = 150

// A conn is one connection to the database, with its prepared statements. It is not safe for
// concurrent use. It calls the driver directly: package database/sql would double the time
// of a statement.
type conn struct {
	driver.Conn
	prepared map[string]*statement
	args     []driver.NamedValue
	row      row
}

// A statement is a prepared statement with positional parameters.
type statement struct {
	runner
	order []int // index of the argument for each parameter, from 0
}

// A runner is a driver's statement with the context methods.
type runner interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// open opens a connection and sets it up.
func open(d driver.Driver, dsn string, pragmas ...string) (*conn, error) {
	dc, err := d.Open(dsn)
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: dc, prepared: map[string]*statement{}}
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
	return c.Close()
}

// forget closes all prepared statements.
func (c *conn) forget() {
	for query, s := range c.prepared {
		_ = s.Close() // the connection's end closes it otherwise
		delete(c.prepared, query)
	}
}

// prepare returns a prepared statement, and keeps it for the next call.
func (c *conn) prepare(query string) (*statement, error) {
	if s, ok := c.prepared[query]; ok {
		return s, nil
	}
	if len(c.prepared) >= maxStatements {
		c.forget()
	}
	text, order := positional(query)
	r, err := c.compile(text)
	if err != nil {
		return nil, err
	}
	s := &statement{r, order}
	c.prepared[query] = s
	return s, nil
}

// compile prepares a statement. The caller closes it.
func (c *conn) compile(text string) (runner, error) {
	s, err := c.Prepare(text)
	if err != nil {
		return nil, err
	}
	r, ok := s.(runner)
	if !ok {
		return nil, errors.Join(errors.New("the driver is too old"), s.Close())
	}
	return r, nil
}

// positional replaces the parameters $1, $2, … by +?, and returns the index of each parameter's
// argument. The driver binds ? faster than $1. The plus changes no value, but makes SQLite ignore
// the values when it plans the query. Otherwise SQLite would compile a statement again when a
// value changes, such as a LIMIT. See https://www.sqlite.org/qpsg.html.
func positional(query string) (text string, order []int) {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(query, "$")
		b.WriteString(before)
		if !found {
			return b.String(), order
		}
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		n, err := strconv.Atoi(rest[:digits])
		if err != nil {
			b.WriteByte('$')
		} else {
			b.WriteString("+?")
			order = append(order, n-1)
		}
		query = rest[digits:]
	}
}

// bind returns a statement, and the arguments in the order of its parameters. The arguments are
// valid until the next call of bind.
func (c *conn) bind(query string, args []any) (*statement, []driver.NamedValue, error) {
	s, err := c.prepare(query)
	if err != nil {
		return nil, nil, err
	}
	c.args = c.args[:0]
	for i, n := range s.order {
		if n < 0 || n >= len(args) {
			return nil, nil, fmt.Errorf("parameter $%d has no value", n+1)
		}
		c.args = append(c.args, driver.NamedValue{Ordinal: i + 1, Value: args[n]})
	}
	return s, c.args, nil
}

// exec runs a statement, and returns how many rows it changed.
func (c *conn) exec(query string, args ...any) (int64, error) {
	s, values, err := c.bind(query, args)
	if err != nil {
		return 0, err
	}
	// A context that can be cancelled would cost a goroutine for each statement.
	result, err := s.ExecContext(context.Background(), values)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// once runs a rare statement without keeping it prepared.
func (c *conn) once(query string) error {
	s, err := c.compile(query)
	if err != nil {
		return err
	}
	_, err = s.ExecContext(context.Background(), nil)
	return errors.Join(err, s.Close())
}

// query runs a statement, calls each for every row, and returns the number of rows.
func (c *conn) query(query string, each func(sqlstore.Row) error, args ...any) (n int64, err error) {
	s, values, err := c.bind(query, args)
	if err != nil {
		return 0, err
	}
	rows, err := s.QueryContext(context.Background(), values)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	c.row.values = make([]driver.Value, len(rows.Columns()))
	for {
		if err := rows.Next(c.row.values); errors.Is(err, io.EOF) {
			return n, nil
		} else if err != nil {
			return n, err
		}
		n++
		if err := each(&c.row); err != nil {
			return n, err
		}
	}
}

// A row is one row of a result.
type row struct{ values []driver.Value }

// Scan implements sqlstore.Row.
func (r *row) Scan(dest ...any) error {
	if len(dest) != len(r.values) {
		return fmt.Errorf("%d columns for %d destinations", len(r.values), len(dest))
	}
	for i, d := range dest {
		if err := scan(d, r.values[i]); err != nil {
			return fmt.Errorf("column %d: %w", i+1, err)
		}
	}
	return nil
}

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
