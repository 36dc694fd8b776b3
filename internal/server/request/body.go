// Package request reads the bodies of requests to the server's API. It limits their size, time and
// number, and parses JSON with the same problems as the published server.
package request

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/org/foreman-action/internal/server/response"
)

// The largest bodies, in bytes.
const (
	MaxSmall    = 64 << 10 // from agents, except decisions
	MaxDecision = 8 << 20  // GitHub comments have at most 64 KiB; decoding needs ten times the memory
)

// The time limits of bodies.
const (
	bodyTimeout  = 30 * time.Second
	finalTimeout = 2 * time.Second // after Deadlines.Stop, or when the body is no longer needed
	// Timeout is the limit for a whole request, including the longest poll.
	Timeout = 2 * time.Minute
)

// storeTimeout is the time limit for storing a body. It is shorter than the time that a stopping
// server gives to requests.
const storeTimeout = 15 * time.Second

// Read returns the whole body, of at most limit bytes. Errors are of type *response.Error.
func Read(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	if r.ContentLength > limit {
		return nil, TooLarge(limit)
	}
	var b bytes.Buffer
	if r.ContentLength > 0 {
		b.Grow(int(r.ContentLength) + bytes.MinRead) // allocate once, instead of growing repeatedly
	}
	if _, err := b.ReadFrom(http.MaxBytesReader(w, r.Body, limit)); err != nil {
		return nil, bodyError(err, limit)
	}
	return b.Bytes(), nil
}

// bodyError returns the answer to a body that could not be read.
func bodyError(err error, limit int64) error {
	if _, ok := errors.AsType[*response.Error](err); ok {
		return err
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return TooLarge(limit)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return &response.Error{Status: http.StatusRequestTimeout, Detail: "the body did not arrive in time"}
	}
	return &response.Error{Status: http.StatusBadRequest, Detail: "the body ended too early"}
}

// TooLarge returns the error of a body with more than limit bytes.
func TooLarge(limit int64) error {
	return &response.Error{Status: http.StatusRequestEntityTooLarge, Detail: fmt.Sprintf("the body has more than %d bytes", limit)}
}

// StoreContext returns the context for storing a complete body. It ends 15 seconds from now, but
// not when the client disconnects, because published agents wait only five seconds and do not send
// a decision twice.
func StoreContext(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
}
