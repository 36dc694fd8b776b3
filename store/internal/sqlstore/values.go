package sqlstore

import (
	"fmt"
	"time"
)

// Time is a time as it is kept, in milliseconds since 1970; 0 is the zero time.
func Time(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// Millis is a length of time as it is kept; a part of a millisecond is a whole one, so
// that nothing ends too early.
func Millis(d time.Duration) int64 {
	return int64((d + time.Millisecond - 1) / time.Millisecond)
}

// Truth is a truth as it is kept: 1 or 0.
func Truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// Text is a text that is never NULL, as a parameter.
func Text(data []byte) any {
	if data == nil {
		return []byte{}
	}
	return data
}

// Blob is a text as a parameter; nil is NULL.
func Blob(data []byte) any {
	if data == nil {
		return nil
	}
	return data
}

// Doing says in an error what was done; nil stays nil.
func Doing(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}

// One runs a query of one row at most, and reports whether there was one.
func One(tx Tx, query string, each func(Row) error, args ...any) (bool, error) {
	found := false
	err := tx.Query(query, func(r Row) error {
		found = true
		return each(r)
	}, args...)
	return found, err
}

// None is for a row of which only matters that it is there.
func None(Row) error { return nil }

// Exclude keeps other transactions out that exclude others by the same key, until this one
// ends. The statement is Dialect.Exclusive; empty: there are no others.
func Exclude(tx Tx, statement, key string) error {
	if statement == "" {
		return nil
	}
	return tx.Query(statement, None, key)
}
