// Package response writes the answers of the server's API: JSON, which is compressed if that saves
// time, and errors as values.
package response

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/org/foreman-action/protocol"
)

// minGzip is the minimum size of a compressed answer, in bytes. In a local network, smaller ones
// arrive sooner without compression.
const minGzip = 4 << 10

// JSON answers with a value as JSON.
func JSON(w http.ResponseWriter, r *http.Request, status int, v any) {
	data, err := protocol.Encode(v)
	if err != nil {
		status, data = http.StatusInternalServerError, []byte(`{"detail":"Internal Server Error"}`)
	}
	Raw(w, r, status, data)
}

// Raw answers with encoded JSON, which is the concatenation of parts.
func Raw(w http.ResponseWriter, r *http.Request, status int, parts ...[]byte) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	size := 0
	for _, p := range parts {
		size += len(p)
	}
	if size >= minGzip {
		h.Set("Vary", "Accept-Encoding")
		if acceptsGzip(r.Header["Accept-Encoding"]) {
			z := newCompressor()
			defer z.release()
			parts = [][]byte{z.compress(parts)}
			size = len(parts[0])
			h.Set("Content-Encoding", "gzip")
		}
	}
	h.Set("Content-Length", strconv.Itoa(size))
	w.WriteHeader(status)
	for _, p := range parts {
		_, _ = w.Write(p) // an error means that the client is gone
	}
}

// acceptsGzip reports whether Accept-Encoding contains gzip, with a weight other than 0.
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

// A compressor compresses one answer at a time.
type compressor struct {
	out bytes.Buffer
	zip *gzip.Writer
}

// compressors are reused, because a new one allocates hundreds of kilobytes.
var compressors = sync.Pool{}

func newCompressor() *compressor {
	if c, ok := compressors.Get().(*compressor); ok {
		return c
	}
	z, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // the level is valid
	return &compressor{zip: z}
}

// compress returns the parts as one gzip stream, valid until release.
func (c *compressor) compress(parts [][]byte) []byte {
	c.zip.Reset(&c.out)
	for _, p := range parts {
		_, _ = c.zip.Write(p) // writing to a buffer cannot fail
	}
	_ = c.zip.Close()
	return c.out.Bytes()
}

// release makes the compressor available again. It frees a large buffer.
func (c *compressor) release() {
	if c.out.Cap() > 256<<10 {
		c.out = bytes.Buffer{}
	}
	c.out.Reset()
	compressors.Put(c)
}
