package process

import (
	"io"
	"sync"
)

// An Output is a writer that knows whether something was written, and keeps the first error of the
// writer it wraps. It is safe for concurrent use if the wrapped writer is.
type Output struct {
	to  io.Writer
	mu  sync.Mutex
	any bool // something was written
	err error
}

// NewOutput returns an output that writes to a stream.
func NewOutput(to io.Writer) *Output { return &Output{to: to} }

// Write writes to the stream.
func (o *Output) Write(p []byte) (int, error) {
	n, err := o.to.Write(p)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.any = o.any || n > 0
	if o.err == nil {
		o.err = err
	}
	return n, err
}

// Empty reports whether nothing was written.
func (o *Output) Empty() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return !o.any
}

// Err returns the first error of a write, or nil if there was none.
func (o *Output) Err() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}
