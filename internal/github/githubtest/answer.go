package githubtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/github/githubtest/internal/render"
	"github.com/org/foreman-action/internal/testkit/loopback"
)

const docsURL = "https://docs.github.com/rest"

// An object is a JSON object of an answer.
type object = render.Object

// An answer is the fake's response to one call.
type answer struct {
	status  int
	header  http.Header
	raw     []byte
	foreign bool // the body is not JSON, because the request asked for another type
}

// encode returns the answer as the server sends it.
func (a answer) encode(now time.Time) loopback.Answer {
	h := http.Header{
		"Server": {"github.com"}, "X-Ratelimit-Limit": {"5000"}, "X-Ratelimit-Remaining": {"4999"},
		"Date": {now.Format(http.TimeFormat)},
	}
	maps.Copy(h, a.header)
	if len(a.raw) > 0 {
		h.Set("Content-Length", strconv.Itoa(len(a.raw)))
	}
	return loopback.Answer{Status: a.status, Header: h, Body: a.raw}
}

// reply returns an answer with a JSON body; a nil body means no body.
func reply(status int, body any) answer {
	a := answer{status: status, header: http.Header{}}
	if body == nil {
		return a
	}
	raw, err := json.Marshal(body)
	if err != nil {
		panic(fmt.Sprintf("githubtest: encode an answer: %v", err)) // impossible: bodies consist of plain values
	}
	a.raw = raw
	a.header.Set("Content-Type", "application/json; charset=utf-8")
	return a
}

// failure returns an answer with an error in GitHub's JSON.
func failure(status int, message string) answer {
	return reply(status, object{
		"message": message, "documentation_url": docsURL, "status": strconv.Itoa(status),
	})
}

// invalid returns a 422 with one validation error.
func invalid(resource, field, code, message string) answer {
	e := object{"resource": resource, "field": field, "code": code}
	if message != "" {
		e["message"] = message
	}
	return reply(http.StatusUnprocessableEntity, object{
		"message": "Validation Failed", "documentation_url": docsURL, "status": "422", "errors": []object{e},
	})
}

func notFound() answer { return failure(http.StatusNotFound, "Not Found") }

func withBody(r *http.Request, body []byte) *http.Request {
	out := r.Clone(r.Context())
	out.Body = io.NopCloser(bytes.NewReader(body))
	return out
}

// page returns one page of a list, as the query requests, and the Link header for it.
func page[T any](r *http.Request, list []T) ([]T, http.Header) {
	size := number(r, "per_page", 30)
	size = min(max(size, 1), 100)
	n := max(number(r, "page", 1), 1)
	last := max((len(list)+size-1)/size, 1)
	var links []string
	link := func(rel string, to int) {
		u := *r.URL
		q := u.Query()
		q.Set("page", strconv.Itoa(to))
		u.RawQuery = q.Encode()
		links = append(links, fmt.Sprintf(`<http://%s%s>; rel=%q`, r.Host, u.RequestURI(), rel))
	}
	if n > 1 {
		link("prev", n-1)
	}
	if n < last {
		link("next", n+1)
		link("last", last)
	}
	if n > 1 {
		link("first", 1)
	}
	h := http.Header{}
	if len(links) > 0 {
		h.Set("Link", strings.Join(links, ", "))
	}
	from := min((n-1)*size, len(list))
	return list[from:min(from+size, len(list))], h
}

func number(r *http.Request, key string, unset int) int {
	n, err := strconv.Atoi(r.URL.Query().Get(key))
	if err != nil {
		return unset
	}
	return n
}

// listed answers with one page of a list, rendered.
func listed[T any](r *http.Request, list []T, form func(T) object) answer {
	part, link := page(r, list)
	out := make([]object, 0, len(part))
	for _, item := range part {
		out = append(out, form(item))
	}
	a := reply(http.StatusOK, out)
	maps.Copy(a.header, link)
	return a
}
