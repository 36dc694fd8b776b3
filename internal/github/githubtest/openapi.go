package githubtest

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
)

//go:embed testdata/github-subset.json
var description []byte

// The routers of the two versions are parsed once for all servers of a process, because each takes 50 ms. They
// are not modified afterwards.
var (
	oldRouter = sync.OnceValues(func() (routers.Router, error) { return loadRouter(oldVersion) })
	newRouter = sync.OnceValues(func() (routers.Router, error) { return loadRouter(newVersion) })
)

func loadRouter(version string) (routers.Router, error) {
	text, err := describe(version)
	if err != nil {
		return nil, err
	}
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		return nil, err
	}
	doc.Servers = nil // then the router accepts any host
	for _, p := range []string{"/repos/{owner}/{repo}/contents/{path}"} {
		// GitHub accepts slashes in this parameter, which an OpenAPI path template cannot express.
		item := doc.Paths.Value(p)
		doc.Paths.Delete(p)
		doc.Paths.Set(strings.Replace(p, "{path}", "{path:.*}", 1), item)
	}
	return gorillamux.NewRouter(doc)
}

// A checker compares calls with GitHub's description.
type checker struct{}

// check returns the violations in a request and, unless a is nil, in its answer.
func (checker) check(r *http.Request, body []byte, a *answer) []string {
	if r.URL.Path == graphQLPath {
		if _, err := parseQuery(body); err != nil {
			return []string{"request: " + err.Error()}
		}
		return nil
	}
	load := newRouter
	if version(r) != newVersion {
		load = oldRouter
	}
	router, err := load()
	if err != nil {
		return []string{fmt.Sprintf("load GitHub's description: %v", err)}
	}
	req := withBody(r, body)
	route, params, err := router.FindRoute(req)
	if err != nil {
		return []string{fmt.Sprintf("GitHub's description has no such route: %v", err)}
	}
	if path, ok := params["path"]; ok && path == "" {
		params["path"] = "/" // an empty value, the root, would count as missing
	}
	in := &openapi3filter.RequestValidationInput{
		Request: req, PathParams: params, Route: route,
		Options: &openapi3filter.Options{SkipSettingDefaults: true, RejectWhenRequestBodyNotSpecified: true},
	}
	var problems []string
	if err := openapi3filter.ValidateRequest(r.Context(), in); err != nil {
		problems = append(problems, "request: "+reason(err))
	}
	if a == nil || a.foreign {
		return problems
	}
	out := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: in, Status: a.status, Header: a.header,
		Body: io.NopCloser(bytes.NewReader(a.raw)),
	}
	if err := openapi3filter.ValidateResponse(r.Context(), out); err != nil {
		problems = append(problems, fmt.Sprintf("answer %d: %s", a.status, reason(err)))
	}
	return problems
}

// reason returns the text of a violation and its position in the document. It omits the schema,
// which the library would print.
func reason(err error) string {
	if e, ok := errors.AsType[*openapi3.SchemaError](err); ok {
		return fmt.Sprintf("/%s: %s", strings.Join(e.JSONPointer(), "/"), e.Reason)
	}
	s, _, _ := strings.Cut(err.Error(), "\nSchema:")
	return s
}
