package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/org/foreman-action/store/internal/sqlstore"
)

// executor is the common interface of a pool and a transaction.
type executor interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// A tx runs statements.
type tx struct {
	query func(sql string, args []any) (pgx.Rows, error)
	now   any
}

// Now implements sqlstore.Tx.
func (t *tx) Now() any { return t.now }

// Exec implements sqlstore.Tx.
func (t *tx) Exec(query string, args ...any) (int64, error) {
	rows, err := t.query(query, args)
	if err != nil {
		return 0, err
	}
	rows.Close()
	return rows.CommandTag().RowsAffected(), rows.Err()
}

// Query implements sqlstore.Tx.
func (t *tx) Query(query string, each func(sqlstore.Row) error, args ...any) error {
	rows, err := t.query(query, args)
	if err != nil {
		return err
	}
	return scan(rows, each)
}

// scan calls each for every row.
func scan(rows pgx.Rows, each func(sqlstore.Row) error) error {
	defer rows.Close()
	for rows.Next() {
		if err := each(row{rows}); err != nil {
			return err
		}
	}
	// A statement takes effect only after all its rows were read.
	return rows.Err()
}

// A row is a sqlstore.Row.
type row struct{ rows pgx.Rows }

// Scan implements sqlstore.Row.
func (r row) Scan(dest ...any) error {
	for i, d := range dest {
		switch d := d.(type) {
		case *int64:
			dest[i] = number{d}
		case *int:
			dest[i] = count{d}
		case *string:
			dest[i] = text{d}
		case *[]byte:
		default:
			return fmt.Errorf("column %d is read into a %T", i, d)
		}
	}
	return r.rows.Scan(dest...)
}

// number, count and text scan NULL as their zero value.
type (
	number struct{ to *int64 }
	count  struct{ to *int }
	text   struct{ to *string }
)

// ScanInt64 implements pgtype.Int64Scanner.
func (n number) ScanInt64(v pgtype.Int8) error {
	*n.to = v.Int64
	return nil
}

// ScanInt64 implements pgtype.Int64Scanner.
func (c count) ScanInt64(v pgtype.Int8) error {
	*c.to = int(v.Int64)
	return nil
}

// ScanText implements pgtype.TextScanner.
func (t text) ScanText(v pgtype.Text) error {
	*t.to = v.String
	return nil
}
