package request

import (
	"io"
	"net/http"
	"sync"
	"time"
)

// maxDiscarded is how many bytes are read of a body that was refused. Many clients read an
// answer only after they have sent everything.
const maxDiscarded = 64 << 20

// Deadlines sets read deadlines for the bodies of requests. After the server is asked to stop, they
// are shorter. The zero value is ready for use. It is safe for concurrent use.
type Deadlines struct {
	mu       sync.Mutex
	open     map[*body]struct{} // bodies that are being read
	stopping bool
}

// A body is a request's body with a read deadline.
type body struct {
	io.ReadCloser

	control   *http.ResponseController
	deadlines *Deadlines
	ended     bool // by EOF or an error
}

// Track replaces the body of a request by one with a deadline, unless it is one. The caller calls
// done when the request was answered.
func (d *Deadlines) Track(w http.ResponseWriter, r *http.Request) (done func()) {
	if r.Body == nil || r.ContentLength == 0 {
		return func() {}
	}
	if _, ok := r.Body.(*body); ok {
		return func() {}
	}
	b := &body{ReadCloser: r.Body, control: http.NewResponseController(w), deadlines: d}
	r.Body = b
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.open == nil {
		d.open = map[*body]struct{}{}
	}
	d.open[b] = struct{}{}
	timeout := bodyTimeout
	if d.stopping {
		timeout = finalTimeout
	}
	b.expire(timeout)
	return b.done
}

// Stop sets a deadline of two seconds for all current and later bodies.
func (d *Deadlines) Stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopping = true
	for b := range d.open {
		b.expire(finalTimeout)
	}
}

func (d *Deadlines) remove(b *body) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.open, b)
}

// expire sets how much longer the connection may be read.
func (b *body) expire(after time.Duration) {
	_ = b.control.SetReadDeadline(time.Now().Add(after)) // the writers of some tests have no connection
}

// abort ends the reading of the body now.
func (b *body) abort() {
	b.deadlines.mu.Lock()
	defer b.deadlines.mu.Unlock()
	if _, open := b.deadlines.open[b]; open {
		b.expire(0)
	}
}

// Read implements io.Reader. At EOF it sets the deadline of the whole request, because the server
// continues to read the connection to notice when the client disconnects. After Stop, the deadline
// may be shorter.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && !b.ended {
		b.ended = true
		b.deadlines.remove(b)
		if err == io.EOF {
			b.expire(Timeout)
		}
	}
	return n, err
}

// done shortens the deadline for the unread rest of the body.
func (b *body) done() {
	b.deadlines.remove(b)
	if !b.ended {
		b.expire(finalTimeout)
	}
}

// AnswerEarly calls answer, possibly before the body was read. Then it reads and discards the rest
// of the body, within limits, so that the client can read the answer.
func AnswerEarly(w http.ResponseWriter, r *http.Request, answer func()) {
	b, ok := r.Body.(*body)
	if !ok || b.ended || b.control.EnableFullDuplex() != nil {
		answer()
		return
	}
	if r.ProtoMajor == 1 {
		w.Header().Set("Connection", "close")
	}
	answer()
	if b.control.Flush() != nil || r.Header.Get("Expect") != "" {
		return // the client disconnected, or waits for "100 Continue"
	}
	b.expire(finalTimeout)
	_, _ = io.CopyN(io.Discard, b, maxDiscarded)
}
