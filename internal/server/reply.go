package server

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/queue"
)

// A refusal is an answer other than success, as an error.
type refusal struct {
	status int
	detail any // a sentence, or a list of problems
	header http.Header
}

// Error returns the sentence, if there is one.
func (e *refusal) Error() string {
	if s, ok := e.detail.(string); ok {
		return s
	}
	return http.StatusText(e.status)
}

// refusalOf returns what an error is answered with. That of the queue is told only if the
// caller can do something about it.
func refusalOf(err error) *refusal {
	if r, ok := errors.AsType[*refusal](err); ok {
		return r
	}
	switch {
	case errors.Is(err, queue.ErrUnavailable):
		return &refusal{
			status: http.StatusServiceUnavailable, detail: "the queue cannot be written now; try again",
			header: http.Header{"Retry-After": {"1"}},
		}
	case errors.Is(err, queue.ErrNotYours):
		return &refusal{status: http.StatusForbidden, detail: "the task was claimed with another credential"}
	case errors.Is(err, queue.ErrLost):
		return &refusal{status: http.StatusConflict, detail: "the claim is lost: the task was given to somebody else, or is finished"}
	case errors.Is(err, queue.ErrNotFound):
		return &refusal{status: http.StatusNotFound, detail: "there is no such task"}
	case errors.Is(err, queue.ErrState):
		return &refusal{status: http.StatusConflict, detail: "the state of the task does not allow that"}
	}
	return &refusal{status: http.StatusInternalServerError, detail: "Internal Server Error"}
}

// fail answers a request with an error. What is no fault of the caller goes to the log.
func (s *Server) fail(c *call, err error) {
	r, gone := refusalOf(err), c.r.Context().Err() != nil && errors.Is(err, context.Canceled)
	if gone { // or says no more, and reads on: without an answer it would get a 200
		r = &refusal{status: http.StatusServiceUnavailable, detail: "the connection was closed before there was an answer"}
	}
	// A refusal is ours, and the log was told if it is to know.
	if _, ours := errors.AsType[*refusal](err); r.status >= http.StatusInternalServerError && !ours && !gone {
		s.log.LogAttrs(c.r.Context(), slog.LevelError, "request failed", slog.String("path", shown(c.r.URL.Path)), slog.Any("error", err))
	}
	maps.Copy(c.w.Header(), r.header)
	answer := func() { c.reply(r.status, map[string]any{"detail": r.detail}) }
	if !c.early(answer) {
		answer()
	}
}

// Values of headers that answers share; nobody changes them.
var (
	// typeJSON is for Content-Type.
	typeJSON = []string{"application/json"}
	// nosniff is for X-Content-Type-Options.
	nosniff = []string{"nosniff"}
	// noStore is for Cache-Control.
	noStore = []string{"no-store"}
)

// minGzip is from how many bytes on an answer is compressed: below, a client on the same
// network has it sooner as it is.
const minGzip = 4 << 10

// reply answers with JSON.
func (c *call) reply(status int, v any) {
	data, err := protocol.Encode(v)
	if err != nil {
		status, data = http.StatusInternalServerError, []byte(`{"detail":"Internal Server Error"}`)
	}
	c.send(status, data)
}

// send answers with JSON that is there already.
func (c *call) send(status int, data []byte) {
	h := c.w.Header()
	h["Content-Type"] = typeJSON
	if len(data) >= minGzip {
		h["Vary"] = []string{"Accept-Encoding"}
		if acceptsGzip(c.r.Header["Accept-Encoding"]) {
			b := buffer()
			defer release(b)
			zip(b, data)
			data = b.Bytes()
			h["Content-Encoding"] = []string{"gzip"}
		}
	}
	h["Content-Length"] = []string{strconv.Itoa(len(data))}
	c.w.WriteHeader(status)
	_, _ = c.w.Write(data)
}

// empty answers with a status alone.
func (c *call) empty(status int) { c.w.WriteHeader(status) }

// acceptsGzip reports whether Accept-Encoding names gzip, and not with the weight 0.
func acceptsGzip(headers []string) bool {
	for _, h := range headers {
		for part := range strings.SplitSeq(h, ",") {
			name, weight, _ := strings.Cut(part, ";")
			name = strings.TrimSpace(name)
			if !strings.EqualFold(name, "gzip") && name != "*" {
				continue
			}
			q, found := strings.CutPrefix(strings.ReplaceAll(strings.ToLower(weight), " ", ""), "q=")
			return !found || strings.Trim(q, "0.") != ""
		}
	}
	return false
}

// buffers hold the bodies of requests and answers while they are worked on.
var buffers = sync.Pool{}

func buffer() *bytes.Buffer {
	if b, ok := buffers.Get().(*bytes.Buffer); ok {
		return b
	}
	return new(bytes.Buffer)
}

// release puts a buffer back, unless it grew so large that it would be held for nothing.
func release(b *bytes.Buffer) {
	if b.Cap() <= 256<<10 {
		b.Reset()
		buffers.Put(b)
	}
}

// zippers are kept, for a new one allocates hundreds of kilobytes.
var zippers = sync.Pool{}

func zip(b *bytes.Buffer, data []byte) {
	z, ok := zippers.Get().(*gzip.Writer)
	if !ok {
		z, _ = gzip.NewWriterLevel(b, gzip.BestSpeed) // the level is a known one
	}
	defer zippers.Put(z)
	z.Reset(b)
	_, _ = z.Write(data) // a buffer takes everything
	_ = z.Close()
}

// raw is a value of JSON for an answer, or nothing if it is too long to be repeated.
func raw(data []byte) json.RawMessage {
	const most = 2 << 10
	if len(data) > most || !json.Valid(data) {
		return json.RawMessage("null")
	}
	return data
}
