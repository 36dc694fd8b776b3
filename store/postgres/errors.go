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

// busyIndex is the unique index that allows only one leased decision per issue. If two
// transactions lease decisions of one issue, the index rejects one of them, and the engine runs
// it again.
const busyIndex = "task_busy"

// conflict reports whether a transaction failed because of another one. The database has rolled
// it back, so it can be run again.
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

// undone reports whether a failed transaction certainly had no effect and may succeed when it is
// run again. The rules:
//
//   - The database reports that it rolled the transaction back: it is run again.
//   - The statement was not sent to the database: it is run again.
//   - The connection was lost before the commit was sent, or the transaction only reads: it is
//     run again, because the database rolls back uncommitted changes.
//   - The connection was lost after the commit was sent: the outcome is unknown. The answer to
//     the commit may have been lost, or a pooler that shuts down may have replaced it (57P01).
//     The caller gets queue.ErrUnavailable. It learns the outcome when it tries again, because
//     every call names its task, attempt or lease. A claim whose answer was lost expires.
//
// A statement outside of a transaction counts as its own commit.
func undone(committing bool, err error) bool {
	return conflict(err) || pgconn.SafeToRetry(err) || !committing && cutOff(err)
}

// full reports whether the database refused a connection because it has as many as it, or the role,
// may have.
func full(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && e.Code == "53300"
}

// cutOff reports whether an established connection was lost.
func cutOff(err error) bool {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code == "57P01" || e.Code == "57P02" || e.Code == "57P05" // shutdown, crash, idle timeout
	}
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return false // without a server, the next connection fails, too
	}
	return lost(err)
}

// medium wraps an error of the database or the network in queue.ErrUnavailable if it may be
// temporary. The context's own errors are not wrapped.
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

// passing reports whether an error may be temporary.
func passing(err error) bool {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch e.Code {
		case "25006", "25P03", "25P04", "55P03", "57014", "40001", "40P01", "3D000", "28000", "28P01":
			// The database is a standby; a transaction, lock or statement timed out; repeated
			// conflicts with other transactions; a database or role that does not exist at the
			// moment.
			return true
		}
		switch e.Code[:min(2, len(e.Code))] {
		// Connections, resources such as the disk, operator actions, system errors.
		case "08", "53", "57", "58":
			return true
		}
		return conflict(err)
	}
	_, connect := errors.AsType[*pgconn.ConnectError](err)
	return connect || lost(err) || errors.Is(err, context.DeadlineExceeded) || pgconn.SafeToRetry(err)
}

// lost reports whether err is a network error.
func lost(err error) bool {
	var network net.Error
	return errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || strings.Contains(err.Error(), "conn closed")
}
