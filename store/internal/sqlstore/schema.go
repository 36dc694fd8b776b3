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
	err = tx.Query("SELECT version FROM foreman_schema", Into(&had))
	if err != nil {
		return 0, fmt.Errorf("read the version of the schema: %w", err)
	}
	if had > len(steps) {
		return had, fmt.Errorf("%w: its schema has version %d, and this program reads up to %d", queue.ErrNewer, had, len(steps))
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
