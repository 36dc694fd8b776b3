package sqlstore

import (
	"context"
	"fmt"
	"time"
)

// Time returns a stored time, in milliseconds since 1970; 0 is the zero time.
func Time(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// Millis returns a duration in milliseconds, rounded up, so that no lease ends too early.
func Millis(d time.Duration) int64 {
	return int64((d + time.Millisecond - 1) / time.Millisecond)
}

// Bool returns the stored form of a bool: 1 or 0.
func Bool(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// Text returns the parameter for a text that is never NULL.
func Text(data []byte) any {
	if data == nil {
		return []byte{}
	}
	return data
}

// Blob returns the parameter for a text; nil is NULL.
func Blob(data []byte) any {
	if data == nil {
		return nil
	}
	return data
}

// Wrap prefixes an error with the operation that failed; nil stays nil.
func Wrap(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}

// One runs a query that returns at most one row, and reports whether there was one.
func One(tx Tx, query string, each func(Row) error, args ...any) (bool, error) {
	found := false
	err := tx.Query(query, func(r Row) error {
		found = true
		return each(r)
	}, args...)
	return found, err
}

// Never is a time in milliseconds after all times until which a task is held back. In the column run_at
// of the table task, later times stand for tasks that are never due.
const Never = "576460752303423488"

// Ignore reads no columns. It is for queries that only check whether there is a row.
func Ignore(Row) error { return nil }

// Exclude takes an exclusive lock on a key until the transaction ends. statement is
// Dialect.Exclusive; if it is empty, Exclude does nothing, because there is only one writer.
func Exclude(tx Tx, statement, key string) error {
	if statement == "" {
		return nil
	}
	return tx.Query(statement, Ignore, key)
}

// Value runs f with a method of an [Engine], such as Engine.Write, and returns the result of f.
func Value[T any](ctx context.Context, run func(context.Context, func(Tx) error) error, f func(Tx) (T, error)) (v T, err error) {
	err = run(ctx, func(tx Tx) (err error) {
		v, err = f(tx)
		return err
	})
	return v, err
}

// All returns the values that scan reads from the rows of a query, in order.
func All[T any](tx Tx, query string, scan func(Row) (T, error), args ...any) (list []T, err error) {
	err = tx.Query(query, func(r Row) error {
		v, err := scan(r)
		list = append(list, v)
		return err
	}, args...)
	return list, err
}

// Column reads a row of one column, for [All].
func Column[T any](r Row) (v T, err error) {
	err = r.Scan(&v)
	return v, err
}

// Into returns a function that scans a row into dest, for [One] and Tx.Query.
func Into(dest ...any) func(Row) error {
	return func(r Row) error { return r.Scan(dest...) }
}
