package sqlstore

import (
	"embed"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/org/foreman-action/queue"
)

//go:embed schema/*.sql
var schema embed.FS

// Migrate brings a database to the newest version of the schema, from any older version or from
// none. It must run in a transaction that excludes others. It returns the version that the
// database had before. Errors: queue.ErrNewer, which names both versions.
func Migrate(tx Tx, d Dialect) (had int, err error) {
	steps, err := fs.Glob(schema, "schema/*.sql")
	if err != nil {
		return 0, err
	}
	if _, err := tx.Exec("CREATE TABLE IF NOT EXISTS foreman_schema (id INTEGER PRIMARY KEY, version INTEGER NOT NULL)"); err != nil {
		return 0, fmt.Errorf("create the schema: %w", err)
	}
	if had, err = version(tx, len(steps)); err != nil {
		return had, err
	}
	for i, name := range steps[had:] {
		if err := step(tx, d, name); err != nil {
			return had, fmt.Errorf("bring the schema to version %d: %w", had+i+1, err)
		}
	}
	if had < len(steps) {
		_, err = tx.Exec("INSERT INTO foreman_schema (id, version) VALUES (1, " + strconv.Itoa(len(steps)) + ") ON CONFLICT (id) DO UPDATE SET version = excluded.version")
	}
	return had, err
}

// version returns the version of the schema. Errors: queue.ErrNewer if it is above the newest one.
func version(tx Tx, newest int) (had int, err error) {
	if err := tx.Query("SELECT version FROM foreman_schema", Into(&had)); err != nil {
		return 0, fmt.Errorf("read the version of the schema: %w", err)
	}
	if had > newest {
		return had, fmt.Errorf("%w: its schema has version %d, and this program reads up to %d", queue.ErrNewer, had, newest)
	}
	return had, nil
}

// Compare checks that a database has the newest version of the schema. It only reads. Errors:
// queue.ErrOlder, also for a database without a schema, and queue.ErrNewer; both name the versions.
func Compare(tx Tx, d Dialect) error {
	steps, err := fs.Glob(schema, "schema/*.sql")
	if err != nil {
		return err
	}
	there, err := One(tx, d.Schema, Ignore)
	if err != nil {
		return fmt.Errorf("look for the schema: %w", err)
	}
	if !there {
		return fmt.Errorf("%w: it has no schema, and this program needs version %d", queue.ErrOlder, len(steps))
	}
	had, err := version(tx, len(steps))
	if err == nil && had < len(steps) {
		err = fmt.Errorf("%w: its schema has version %d, and this program needs version %d", queue.ErrOlder, had, len(steps))
	}
	return err
}

// step runs the statements of one file.
func step(tx Tx, d Dialect, name string) error {
	text, err := fs.ReadFile(schema, name)
	if err != nil {
		return err
	}
	for statement := range strings.SplitSeq(d.Expand(string(text)), ";\n") {
		if strings.TrimSpace(statement) == "" {
			continue
		}
		if _, err := tx.Exec(statement); err != nil {
			return err
		}
	}
	return nil
}
