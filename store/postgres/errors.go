package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/org/foreman-action/queue"
)

// busyIndex lets one decision of an issue be carried out at a time. Of two transactions
// that lease decisions of one issue it refuses one, which then looks again.
const busyIndex = "task_busy"

// conflict reports whether a transaction failed because of another one, and may be run
// again: nothing of it was kept.
func conflict(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return false
	}
	switch e.Code {
	case "40001", "40P01": // serialization failure, deadlock
		return true
	case "23505": // unique violation
		return e.ConstraintName == busyIndex
	}
	return false
}

// undone reports whether nothing of a transaction that failed can have been kept because of
// something that is over, so that it is run once more. This is the rule:
//
//   - The database says that it undid the transaction: it is run again.
//   - Nothing was sent to the database: it is run again.
//   - A connection was cut off before the commit was sent, or what was run only reads: it is
//     run again. The database undoes what was not committed.
//   - A connection was cut off after that: nobody knows. The answer to the commit may have been
//     lost on its way, or have been replaced, by a pooler that is shut down, by one that says so
//     (57P01). The caller is told that the queue is not available, and finds out what was done when it
//     tries again, for all calls name the task, the attempt or the lease that they are about. What
//     was handed out and did not arrive runs out. A statement that is a transaction by itself
//     is its own commit.
func undone(committing bool, err error) bool {
	return conflict(err) || pgconn.SafeToRetry(err) || !committing && cutOff(err)
}

// cutOff reports whether a connection was lost that could be used before.
func cutOff(err error) bool {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code == "57P01" || e.Code == "57P02" || e.Code == "57P05" // shut down, crashed, idle for too long
	}
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return false // the next one will fail too, as long as there is no server
	}
	return lost(err)
}

// medium makes of an error of the database or the network one that is
// queue.ErrUnavailable, if it may be over soon. The context's own stays what it is.
func medium(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%w: %w", ctx.Err(), err)
	}
	if passing(err) {
		return fmt.Errorf("%w: %w", queue.ErrUnavailable, err)
	}
	return err
}

// passing reports whether an error may be over soon.
func passing(err error) bool {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch e.Code {
		case "25006", "25P03", "25P04", "55P03", "57014", "40001", "40P01", "3D000", "28000", "28P01":
			// A standby; a transaction, a lock or a statement that took too long; others that kept
			// getting in the way; a database or a role that is not there yet, or not any more.
			return true
		}
		switch e.Code[:min(2, len(e.Code))] {
		case "08", "53", "57", "58": // connections, resources such as the disk, operators, the system
			return true
		}
		return conflict(err)
	}
	_, connect := errors.AsType[*pgconn.ConnectError](err)
	return connect || lost(err) || errors.Is(err, context.DeadlineExceeded) || pgconn.SafeToRetry(err)
}

// lost reports whether an error is one of the network.
func lost(err error) bool {
	var network net.Error
	return errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || strings.Contains(err.Error(), "conn closed")
}
