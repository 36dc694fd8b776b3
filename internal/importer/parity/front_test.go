package parity_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/github/githubtest"
)

// isNew reports whether an account looks like those that peakoss/anti-slop is made against: it is
// some days old, has no profile and many forks, and its commits belong to another account.
func isNew(login string) bool { return strings.HasPrefix(login, "new") }

var (
	userPath    = regexp.MustCompile(`^/users/([^/]+)(/repos)?$`)
	comparePath = regexp.MustCompile(`^/repos/[^/]+/[^/]+/compare/`)
	commitsPath = regexp.MustCompile(`^/repos/[^/]+/[^/]+/pulls/[0-9]+/commits$`)
	notOfUser   = regexp.MustCompile(` ?-user:\S+`)
)

// front starts a server before the fake GitHub. It answers the calls of peakoss/anti-slop that the
// fake does not know, and adds profiles and the authors of commits to the answers of the fake. It
// returns the server's address.
func (w *world) front(e event) string {
	w.t.Helper()
	fake, err := url.Parse(w.gh.URL)
	if err != nil {
		w.t.Fatal(err)
	}
	author := w.opened[e.number()].author()
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(fake)
			if r.In.Method == http.MethodPatch { // closing a pull request
				r.Out.URL.Path = strings.Replace(r.Out.URL.Path, "/pulls/", "/issues/", 1)
			}
			if r.In.Method == http.MethodDelete && strings.HasSuffix(r.In.URL.Path, "/labels") { // all of them
				const none = `{"labels":[]}`
				r.Out.Method, r.Out.Body, r.Out.ContentLength = http.MethodPut, io.NopCloser(strings.NewReader(none)), int64(len(none))
			}
			q := r.Out.URL.Query()
			if search := q.Get("q"); search != "" {
				q.Set("q", notOfUser.ReplaceAllString(search, ""))
				r.Out.URL.RawQuery = q.Encode()
			}
		},
		ModifyResponse: func(r *http.Response) error {
			switch path := r.Request.URL.Path; {
			case userPath.MatchString(path) && !isNew(author):
				return edited(r, func(user map[string]any) {
					user["user_view_type"], user["name"], user["company"], user["location"], user["followers"] = "public", author, "Example", "Here", 3
				})
			case commitsPath.MatchString(path) && !isNew(author):
				return edited(r, func(commit map[string]any) { commit["author"] = map[string]any{"login": author} })
			}
			return nil
		},
	}
	s := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		var answer any
		switch user := userPath.FindStringSubmatch(r.URL.Path); {
		case len(user) > 2 && user[2] != "":
			answer = forks(isNew(author))
		case comparePath.MatchString(r.URL.Path):
			answer = map[string]any{"commits": []any{}, "files": []any{}}
		default:
			proxy.ServeHTTP(out, r)
			return
		}
		w.answered = append(w.answered, githubtest.Call{Method: r.Method, Path: r.URL.Path})
		out.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(out).Encode(answer) // the program sees a cut answer
	}))
	w.t.Cleanup(s.Close)
	return s.URL
}

// forks returns the repositories of an account; ten of a new one are forks of one day.
func forks(many bool) []map[string]any {
	list := []map[string]any{{"fork": false, "created_at": start.AddDate(-1, 0, 0).Format(time.RFC3339)}}
	for k := range 10 {
		if many {
			list = append(list, map[string]any{"fork": true, "created_at": start.Add(-time.Duration(k) * time.Hour).Format(time.RFC3339)})
		}
	}
	return list
}

// edited changes the objects of an answer: the only one, or each of a list.
func edited(r *http.Response, change func(map[string]any)) error {
	if r.StatusCode != http.StatusOK {
		return nil
	}
	var v any
	if err := json.NewDecoder(r.Body).Decode(&v); err != nil {
		return err
	}
	list, many := v.([]any)
	if !many {
		list = []any{v}
	}
	for _, one := range list {
		if fields, ok := one.(map[string]any); ok {
			change(fields)
		}
	}
	raw, err := json.Marshal(v)
	r.Body = io.NopCloser(strings.NewReader(string(raw)))
	r.ContentLength = int64(len(raw))
	r.Header.Del("Content-Length")
	return err
}
