package request

import (
	"context"
	"net/http"
	"runtime/debug"

	"github.com/org/foreman-action/internal/server/response"
)

// budgetUnit is the number of bytes for one permit of a Budget.
const budgetUnit = 256 << 10

// A Budget bounds how many bytes of bodies are processed at the same time. It serves requests in
// order. It is safe for concurrent use.
type Budget struct {
	turn    chan struct{} // contains an element while a request acquires its permits
	permits chan struct{}
}

// NewBudget returns a Budget for a number of bytes.
func NewBudget(n int64) *Budget {
	return &Budget{turn: make(chan struct{}, 1), permits: make(chan struct{}, max(1, n/budgetUnit))}
}

// Acquire waits until size more bytes fit into the budget. A larger body than the whole budget is
// processed alone. The caller calls release after the work. If ctx ends first, the error is of type
// *response.Error.
func (b *Budget) Acquire(ctx context.Context, size int64) (release func(), err error) {
	taken := 0
	release = func() {
		if taken > cap(b.permits)/4 {
			debug.FreeOSMemory() // otherwise the next one would come on top of it
		}
		for range taken {
			<-b.permits
		}
	}
	select {
	case b.turn <- struct{}{}:
		defer func() { <-b.turn }()
	case <-ctx.Done():
		return nil, overBudget()
	}
	for want := min(cap(b.permits), 1+int(size/budgetUnit)); taken < want; taken++ {
		select {
		case b.permits <- struct{}{}:
		case <-ctx.Done():
			release()
			return nil, overBudget()
		}
	}
	return release, nil
}

func overBudget() error {
	return &response.Error{
		Status: http.StatusServiceUnavailable, Detail: "too many bodies are being stored at the moment; try again",
		Header: http.Header{"Retry-After": {"30"}}, Warning: response.TooManyBodies,
	}
}
