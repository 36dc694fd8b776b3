package resultstest

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// ids generates one sequence of ids for artifacts, entries, blobs and jobs.
type ids struct{ last int64 }

func (n *ids) next() int64 {
	n.last++
	return n.last
}

// storage is the storage behind signed addresses.
type storage struct {
	url   string // of the server
	ids   *ids
	blobs map[int64]*blob
	calls int
}

// A blob is one file of the storage.
type blob struct {
	id      int64
	data    []byte
	written bool
	blocks  map[string][]byte // uploaded blocks; a block list adds them to data
}

// place makes an empty blob.
func (s *storage) place() *blob {
	b := &blob{id: s.ids.next(), blocks: map[string][]byte{}}
	s.blobs[b.id] = b
	return b
}

// signature returns a signature with characters that a URL has to encode, like those of Azure.
func signature(id int64, perm string) string { return fmt.Sprintf("s/ecret+%s+%d==", perm, id) }

// address returns the signed address of a blob for reading ("r") or writing ("w").
func (s *storage) address(b *blob, perm string) string {
	return fmt.Sprintf("%s/blob/%d?se=2026-04-10&sp=%s&sig=%s", s.url, b.id, perm, url.QueryEscape(signature(b.id, perm)))
}

// serve answers one call. It sets a request id, because every response of Azure has one and clients
// rely on it.
func (s *storage) serve(r request) answer {
	a := s.answer(r)
	if a.header == nil {
		a.header = http.Header{}
	}
	s.calls++
	a.header.Set("X-Ms-Request-Id", fmt.Sprintf("%08x-501e-0021-7e5a-0b7a5c000000", s.calls))
	return a
}

func (s *storage) answer(r request) answer {
	id, err := strconv.ParseInt(strings.TrimPrefix(r.URL.Path, "/blob/"), 10, 64)
	b, ok := s.blobs[id]
	q := r.URL.Query()
	switch {
	case err != nil || !ok:
		return azure(http.StatusNotFound, "BlobNotFound", "there is no such blob")
	case r.Header.Get("Authorization") != "":
		return problem("the request to the storage has a token")
	case q.Get("sig") != signature(id, q.Get("sp")):
		return azure(http.StatusForbidden, "AuthenticationFailed", "the signature "+q.Get("sig")+" is wrong")
	case r.Method == http.MethodGet && q.Get("sp") == "r":
		if !b.written {
			return azure(http.StatusNotFound, "BlobNotFound", "there is nothing yet")
		}
		return answer{status: http.StatusOK, body: b.data}
	case r.Method == http.MethodPut && q.Get("sp") == "w":
		return b.put(r, q.Get("comp"), q.Get("blockid"))
	}
	return problem("the address does not permit this request")
}

func (b *blob) put(r request, comp, id string) answer {
	switch comp {
	case "":
		if kind := r.Header.Get("X-Ms-Blob-Type"); kind != "BlockBlob" {
			return problem("x-ms-blob-type is %q", kind)
		}
		b.data, b.written = r.body, true
	case "block":
		if id == "" || len(r.body) == 0 {
			return problem("a block needs an id and data")
		}
		b.blocks[id] = r.body
	case "blocklist":
		var list struct {
			XMLName xml.Name `xml:"BlockList"`
			Latest  []string `xml:"Latest"`
		}
		if err := xml.Unmarshal(r.body, &list); err != nil {
			return problem("%v", err)
		}
		var data []byte
		for _, id := range list.Latest {
			block, ok := b.blocks[id]
			if !ok {
				return problem("block %q was not uploaded", id)
			}
			data = append(data, block...)
		}
		b.data, b.written = data, true
	default:
		return problem("comp is %q", comp)
	}
	return answer{status: http.StatusCreated}
}

// azure returns an error of the storage.
func azure(status int, code, text string) answer {
	var b bytes.Buffer
	b.WriteString(`<?xml version="1.0" encoding="utf-8"?><Error><Code>` + code + `</Code><Message>`)
	if err := xml.EscapeText(&b, []byte(text)); err != nil {
		panic(err) // impossible: a buffer accepts every write
	}
	b.WriteString(`</Message></Error>`)
	return answer{status: status, header: http.Header{"Content-Type": {"application/xml"}, "X-Ms-Error-Code": {code}}, body: b.Bytes()}
}
