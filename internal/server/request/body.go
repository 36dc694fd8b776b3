// Package request reads the bodies of requests to the server's API: up to a size, within a
// time, only so many at once, and as JSON with the problems that published clients know.
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
	MaxSmall    = 64 << 10 // what agents send, other than decisions
	MaxDecision = 8 << 20  // a comment on GitHub has 64 KiB at most; each byte costs ten while it is decoded
	MaxWebhook  = 25 << 20 // GitHub sends no more
)

// How long a body may take.
const (
	bodyTimeout  = 30 * time.Second
	finalTimeout = 2 * time.Second // after Deadlines.Stop, or when the body is no longer needed
	// Timeout is for the whole of a request, the longest poll included.
	Timeout = 2 * time.Minute
)

// storeTimeout is how long it may take to store a body, less than what the server leaves to
// requests when it stops.
const storeTimeout = 15 * time.Second

// Read returns the whole body, of at most limit bytes. Errors are of type *response.Error.
func Read(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	if r.ContentLength > limit {
		return nil, TooLarge(limit)
	}
	var b bytes.Buffer
	if r.ContentLength > 0 {
		b.Grow(int(r.ContentLength) + bytes.MinRead) // at once, not in doublings
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
		return &response.Error{Status: http.StatusRequestTimeout, Detail: "the body did not come in time"}
	}
	return &response.Error{Status: http.StatusBadRequest, Detail: "the body ended too early"}
}

// TooLarge returns the error of a body with more than limit bytes.
func TooLarge(limit int64) error {
	return &response.Error{Status: http.StatusRequestEntityTooLarge, Detail: fmt.Sprintf("the body has more than %d bytes", limit)}
}

// StoreContext returns the context in which a body that arrived whole is stored. It does not
// end when the client disconnects: published agents wait for five seconds only, and do not
// send a decision twice. It ends 15 seconds from now.
func StoreContext(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
}
