package resultstest

import (
	"net/http"
	"net/http/httptest"
	"strings"
)

// Front serves GitHub's REST API at one address, as GITHUB_API_URL names it: what is
// about artifacts is answered by s, whatever token it comes with, and all else by
// github. The caller closes the server.
func (s *Server) Front(github http.Handler) *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.URL.Path, "/actions/artifacts") {
			github.ServeHTTP(w, r)
			return
		}
		r.Header.Set("Authorization", "Bearer "+s.RESTToken())
		s.serve(w, r)
	}))
}
