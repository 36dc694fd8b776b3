package server

import (
	"io"
	"net/http"
	"sync"
	"time"
)

// How long it may take until a body is there, and how long after the server was told to
// stop, or after the answer was given without it.
const (
	bodyTimeout = 30 * time.Second
	lastTimeout = 2 * time.Second
)

// maxUnwanted is how many bytes are read of a body that nobody wants: many clients read an
// answer only when they have said all.
const maxUnwanted = 64 << 20

// bodies are those that are being read.
type bodies struct {
	mu       sync.Mutex
	open     map[*body]struct{}
	stopping bool
}

// A body is that of a request: it has to come in time.
type body struct {
	io.ReadCloser

	control *http.ResponseController
	all     *bodies
	ended   bool // nothing more comes
}

// begin sets how long the body may take. Who begins must call leave.
func (bs *bodies) begin(w http.ResponseWriter, from io.ReadCloser) *body {
	b := &body{ReadCloser: from, control: http.NewResponseController(w), all: bs}
	bs.mu.Lock()
	defer bs.mu.Unlock()
	bs.open[b] = struct{}{}
	timeout := bodyTimeout
	if bs.stopping {
		timeout = lastTimeout
	}
	b.within(timeout)
	return b
}

// stop has all of them end soon, and those that are yet to begin.
func (bs *bodies) stop() {
	bs.mu.Lock()
	defer bs.mu.Unlock()
	bs.stopping = true
	for b := range bs.open {
		b.within(lastTimeout)
	}
}

// hurry ends a body that is being read: no more of it is waited for.
func (b *body) hurry() {
	b.all.mu.Lock()
	defer b.all.mu.Unlock()
	if _, open := b.all.open[b]; open {
		b.within(0)
	}
}

// within sets how long the connection may be read from now on.
func (b *body) within(d time.Duration) {
	_ = b.control.SetReadDeadline(time.Now().Add(d)) // there are writers without a connection, in tests
}

// Read implements io.Reader. At the end the connection is given back the time that a
// request has, which a stop may have shortened just then: it is read on, to see whether
// the client is there still.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && !b.ended {
		b.ended = true
		b.gone()
		if err == io.EOF {
			b.within(requestTimeout)
		}
	}
	return n, err
}

// leave ends what begin began: what is left of the body may take no long time.
func (b *body) leave() {
	b.gone()
	if !b.ended {
		b.within(lastTimeout)
	}
}

func (b *body) gone() {
	b.all.mu.Lock()
	defer b.all.mu.Unlock()
	delete(b.all.open, b)
}

// early answers before the body was read: at once, and reads then what the client wants to
// say, within bounds, so that it comes to the answer. It reports whether it did.
func (c *call) early(answer func()) bool {
	b, ok := c.r.Body.(*body)
	if !ok || b.ended || b.control.EnableFullDuplex() != nil {
		return false
	}
	if c.r.ProtoMajor == 1 {
		c.w.Header().Set("Connection", "close")
	}
	answer()
	if b.control.Flush() != nil || c.r.Header.Get("Expect") != "" {
		return true // the client is gone, or does not send what it was not asked for
	}
	b.within(lastTimeout)
	_, _ = io.CopyN(io.Discard, b, maxUnwanted)
	return true
}
