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

// A blob is a place in the storage behind signed addresses.
type blob struct {
	data    []byte
	written bool
	blocks  map[string][]byte // uploaded, and not in the blob yet
}

// place makes an empty blob. The caller holds s.mu.
func (s *Server) place() int64 {
	id := s.id()
	s.blobs[id] = &blob{blocks: map[string][]byte{}}
	return id
}

// signature has characters that have to be encoded, as Azure's have.
func signature(id int64, perm string) string { return fmt.Sprintf("s/ecret+%s+%d==", perm, id) }

// address returns the signed address of a blob for reading ("r") or writing ("w").
func (s *Server) address(id int64, perm string) string {
	return fmt.Sprintf("%s/blob/%d?se=2026-04-10&sp=%s&sig=%s", s.URL, id, perm, url.QueryEscape(signature(id, perm)))
}

// blob serves the storage. Every answer of Azure has an id, and clients rely on it.
func (r *request) blob() answer {
	a := r.storage()
	if a.header == nil {
		a.header = map[string]string{}
	}
	a.header["X-Ms-Request-Id"] = fmt.Sprintf("%08x-501e-0021-7e5a-0b7a5c000000", len(r.s.calls))
	return a
}

// azure is an error of the storage.
func azure(status int, code, text string) answer {
	var b bytes.Buffer
	b.WriteString(`<?xml version="1.0" encoding="utf-8"?><Error><Code>` + code + `</Code><Message>`)
	if err := xml.EscapeText(&b, []byte(text)); err != nil {
		panic(err) // of a buffer
	}
	b.WriteString(`</Message></Error>`)
	return answer{status, map[string]string{"Content-Type": "application/xml", "X-Ms-Error-Code": code}, b.Bytes()}
}

func (r *request) storage() answer {
	id, err := strconv.ParseInt(strings.TrimPrefix(r.URL.Path, "/blob/"), 10, 64)
	b, ok := r.s.blobs[id]
	q := r.URL.Query()
	switch {
	case err != nil || !ok:
		return azure(http.StatusNotFound, "BlobNotFound", "there is no such blob")
	case r.Header.Get("Authorization") != "":
		return r.problem("a token came to the storage")
	case q.Get("sig") != signature(id, q.Get("sp")):
		return azure(http.StatusForbidden, "AuthenticationFailed", "the signature "+q.Get("sig")+" is wrong")
	case r.Method == http.MethodGet && q.Get("sp") == "r":
		if !b.written {
			return azure(http.StatusNotFound, "BlobNotFound", "there is nothing yet")
		}
		return answer{status: http.StatusOK, body: b.data}
	case r.Method == http.MethodPut && q.Get("sp") == "w":
		return r.putBlob(b, q.Get("comp"), q.Get("blockid"))
	}
	return r.problem("not what the address is for")
}

func (r *request) putBlob(b *blob, comp, id string) answer {
	switch comp {
	case "":
		if r.Header.Get("X-Ms-Blob-Type") != "BlockBlob" {
			return r.problem("x-ms-blob-type is %q", r.Header.Get("X-Ms-Blob-Type"))
		}
		b.data, b.written = r.body, true
	case "block":
		if id == "" || len(r.body) == 0 {
			return r.problem("a block needs an id and data")
		}
		b.blocks[id] = r.body
	case "blocklist":
		var list struct {
			XMLName xml.Name `xml:"BlockList"`
			Latest  []string `xml:"Latest"`
		}
		if err := xml.Unmarshal(r.body, &list); err != nil {
			return r.problem("%v", err)
		}
		var data []byte
		for _, id := range list.Latest {
			block, ok := b.blocks[id]
			if !ok {
				return r.problem("block %q was not uploaded", id)
			}
			data = append(data, block...)
		}
		b.data, b.written = data, true
	default:
		return r.problem("comp is %q", comp)
	}
	return answer{status: http.StatusCreated}
}
