package githubtest

import (
	"net/http"
	"strings"
	"testing"
)

// TestCheckerFindsBadAnswers checks that the fake's own responses are compared with the description
// as strictly as the requests.
func TestCheckerFindsBadAnswers(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		path string
		a    answer
		want string // empty: no problem
	}{
		{"an error", "/repos/o/r/issues/1", failure(404, "Not Found"), ""},
		{"a status of its own", "/repos/o/r/issues/1", failure(418, "x"), ""},
		{"half an issue", "/repos/o/r/issues/1", reply(200, object{"id": 1}), "answer 200: "},
		{"a list for an object", "/repos/o/r/issues/1", reply(200, []object{}), "answer 200: "},
		{"a label without color", "/repos/o/r/labels/a%2Fb", reply(200, object{
			"id": 1, "node_id": "x", "url": "https://x", "name": "a/b", "default": false, "description": nil,
		}), "/color: "},
		{"a number for a name", "/repos/o/r/labels/x", reply(200, object{
			"id": 1, "node_id": "x", "url": "https://x", "name": 7, "default": false, "description": nil, "color": "x",
		}), "/name: "},
		{"an error of another form", "/repos/o/r/issues/1", reply(404, object{"message": 7}), "/message: "},
		{"not JSON", "/repos/o/r/issues/1", answer{status: 200, raw: []byte("x"), header: http.Header{"Content-Type": {"text/html"}}}, "answer 200: "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1"+tt.path, nil)
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Join(checker{}.check(r, nil, &tt.a), "\n")
			if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) || strings.Contains(got, "Schema:") {
				t.Errorf("got problems %q, want %q", got, tt.want)
			}
		})
	}
}

// TestEveryRouteIsDescribed checks that GitHub describes each route of the fake, because other
// routes could not be checked.
func TestEveryRouteIsDescribed(t *testing.T) {
	t.Parallel()
	router, err := newRouter()
	if err != nil {
		t.Fatal(err)
	}
	fill := strings.NewReplacer("{number}", "7", "{id}", "1", "{delivery}", "1", "{path...}", "a/b.yml", "{owner}", "o", "{repo}", "r", "{login}", "l", "{name}", "n")
	for _, route := range routes() {
		path := "/" + strings.Join(route.parts, "/")
		if path == graphQLPath {
			continue // the GraphQL API is described by a schema
		}
		if strings.HasSuffix(path, "/contents") {
			continue // GitHub also accepts the root without a slash
		}
		r, err := http.NewRequestWithContext(t.Context(), route.method, "http://x"+fill.Replace(path), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := router.FindRoute(r); err != nil {
			t.Errorf("%s %s: %v", route.method, path, err)
		}
	}
}

func FuzzMatch(f *testing.F) {
	for _, seed := range []string{"/", "", "/repos/o/r/contents/a%2Fb/c", "/repos/o/r/labels/%zz", "/repos//r/issues/7", "/repos/o/r/issues/7/labels/%2E%2E"} {
		f.Add(seed)
	}
	table := routes()
	f.Fuzz(func(t *testing.T, path string) {
		for _, route := range table {
			vars, ok := route.match(strings.Split(strings.TrimPrefix(path, "/"), "/"))
			if ok && len(vars) != strings.Count(strings.Join(route.parts, "/"), "{") {
				t.Errorf("%q matches %v with %v", path, route.parts, vars)
			}
		}
	})
}
