package github_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/internal/github/rest"
	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/triage"
)

// removalOf returns the removal of labels from an issue, with the ids that the API returns now.
func removalOf(t *testing.T, c *github.Client, number int, names ...string) (triage.Ref, effect.RemoveLabels) {
	t.Helper()
	at := ref
	at.Number = number
	issue, err := c.Issue(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	e := effect.RemoveLabels{Names: names, Issue: issue.NodeID}
	for _, name := range names {
		for _, l := range issue.LabelIDs {
			if strings.EqualFold(l.Name, name) {
				e.IDs = append(e.IDs, l.ID)
			}
		}
	}
	return at, e
}

// labeled starts a GitHub with three labels on issue 7 and on pull request 8.
func labeled(t *testing.T) *githubtest.Server {
	t.Helper()
	s := fake(t)
	for _, number := range []int{7, 8} {
		for _, name := range []string{"bug", "Kind/Feature", "other"} {
			s.Repo("octo/hello").LabelAs("octocat", number, name)
		}
	}
	return s
}

// TestRemoveLabels removes several labels with one call. It repeats the call after they are
// removed.
func TestRemoveLabels(t *testing.T) {
	t.Parallel()
	for _, number := range []int{7, 8} {
		s := labeled(t)
		c, _ := client(t, s.URL)
		at, e := removalOf(t, c, number, "kind/feature", "bug")
		s.ResetCalls()
		for range 2 {
			if err := put(t.Context(), c, at, e); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff([]string{"POST /graphql 200", "POST /graphql 200"}, s.Log()); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"other"}, s.Issue("octo/hello", number).Labels); diff != "" {
			t.Errorf("labels of #%d (-want +got):\n%s", number, diff)
		}
	}
}

// TestRemoveLabelsWithoutIDs checks that a removal without ids makes no call.
func TestRemoveLabelsWithoutIDs(t *testing.T) {
	t.Parallel()
	s := labeled(t)
	c, _ := client(t, s.URL)
	for _, e := range []effect.RemoveLabels{
		{Names: []string{"bug", "other"}},
		{Names: []string{"bug", "other"}, Issue: "I_7", IDs: []string{"L_1"}},
		{Names: []string{"bug", "other"}, IDs: []string{"L_1", "L_2"}},
	} {
		if err := put(t.Context(), c, ref, e); err == nil || !strings.Contains(err.Error(), "octo/hello#7") {
			t.Errorf("%v: got %v, want an error that names the issue", e, err)
		}
	}
	if err := put(t.Context(), c, ref, effect.RemoveLabels{}); err != nil || len(s.Log()) != 0 {
		t.Errorf("no labels: got %v, calls %v", err, s.Log())
	}
}

// TestRemoveLabelsRefused checks two kinds of failure. If GitHub refuses the mutation, the error
// lets the caller remove each label with a separate call. Otherwise the outcome is unknown.
func TestRemoveLabelsRefused(t *testing.T) {
	t.Parallel()
	const refused = `{"data":{"removeLabelsFromLabelable":null},"errors":[{"type":"TYPE","message":"no"}]}`
	of := func(typ string) string { return strings.Replace(refused, "TYPE", typ, 1) }
	tests := []struct {
		name   string
		status int
		body   string
		want   error  // nil: the caller may remove each label separately
		text   string // part of the error
	}{
		{"no permission", 403, `{"message":"Resource not accessible by integration"}`, nil, "403 Forbidden: Resource not accessible"},
		{"no GraphQL", 404, `{"message":"Not Found"}`, nil, "404 Not Found"},
		{"moved", 301, `{"message":"Moved"}`, nil, "301 Moved"},
		{"not logged in", 401, `{"message":"Bad credentials"}`, nil, "401 Unauthorized"},
		{"not found", 200, of("NOT_FOUND"), nil, "GraphQL error NOT_FOUND: no"},
		{"forbidden", 200, of("FORBIDDEN"), nil, "GraphQL error FORBIDDEN: no"},
		{"unprocessable", 200, of("UNPROCESSABLE"), nil, "GraphQL error UNPROCESSABLE: no"},
		{"scopes", 200, of("INSUFFICIENT_SCOPES"), nil, "GraphQL error INSUFFICIENT_SCOPES: no"},
		{"own limit", 200, of("RATE_LIMITED"), nil, "GraphQL error RATE_LIMITED: no"},
		{"unknown mutation", 200, `{"errors":[{"message":"no such field","extensions":{"code":"undefinedField"}}]}`, nil, "GraphQL error: no such field"},
		{"internal", 200, `{"errors":[{"message":"Something went wrong"}]}`, triage.ErrUncertain, "Something went wrong"},
		{"another type", 200, of("INTERNAL"), triage.ErrUncertain, "INTERNAL"},
		{"the second is not known", 200, `{"errors":[{"type":"FORBIDDEN"},{"message":"x"}]}`, triage.ErrUncertain, "FORBIDDEN"},
		{"code beside data", 200, `{"data":{},"errors":[{"message":"x","extensions":{"code":"y"}}]}`, triage.ErrUncertain, "x"},
		{"in part", 200, `{"data":{"removeLabelsFromLabelable":{"labelable":null}},"errors":[{"type":"FORBIDDEN","message":"x"}]}`, triage.ErrUncertain, "FORBIDDEN"},
		{"nothing", 200, `{"data":{"removeLabelsFromLabelable":{"labelable":null}}}`, triage.ErrUncertain, "does not name the issue"},
		{"another issue", 200, `{"data":{"removeLabelsFromLabelable":{"labelable":{"number":8}}}}`, triage.ErrUncertain, "does not name the issue"},
		{"not JSON", 200, `{`, triage.ErrUncertain, "unreadable"},
		{"502", 502, ``, triage.ErrUncertain, "502 Bad Gateway"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := labeled(t)
			c, ticks := client(t, s.URL)
			_, e := removalOf(t, c, 7, "bug", "other")
			s.ResetCalls()
			s.Fault(githubtest.Fault{Path: "/graphql", Status: tt.status, Body: tt.body})
			err := put(t.Context(), c, ref, e)
			if err == nil || !strings.Contains(err.Error(), tt.text) || !strings.HasPrefix(err.Error(), "remove 2 labels from octo/hello#7: ") {
				t.Fatalf("got %v, want %q", err, tt.text)
			}
			for _, sentinel := range []error{triage.ErrGone, triage.ErrUncertain, triage.ErrLimited, triage.ErrHalted} {
				if errors.Is(err, sentinel) != (sentinel == tt.want) {
					t.Errorf("got %v, errors.Is %v", err, sentinel)
				}
			}
			if _, denied := errors.AsType[*triage.PermissionError](err); denied {
				t.Errorf("got the permission error %v", err)
			}
			if len(s.Log()) != 1 || len(ticks.Waits()) != 0 {
				t.Errorf("calls %v, waited %v", s.Log(), ticks.Waits())
			}
		})
	}
}

// TestRemoveLabelsLimited checks the secondary rate limits, which also apply to the REST API. The
// client waits for them, and returns an error if the wait is too long.
func TestRemoveLabelsLimited(t *testing.T) {
	t.Parallel()
	for _, f := range []githubtest.Fault{
		{Status: 200, Body: `{"errors":[{"message":"You have exceeded a secondary rate limit."}]}`},
		{Status: 200, Body: `{"errors":[{"type":"RATE_LIMITED","message":"slow down"}]}`, Header: map[string]string{"Retry-After": "60"}},
		{Status: 403, Body: `{"message":"You have exceeded a secondary rate limit."}`},
		{Status: 429, Header: map[string]string{"Retry-After": "60"}},
	} {
		s := labeled(t)
		c, ticks := client(t, s.URL)
		_, e := removalOf(t, c, 7, "bug", "other")
		f.Path, f.Times = "/graphql", 1
		s.Fault(f)
		if err := put(t.Context(), c, ref, e); err != nil || len(ticks.Waits()) != 1 {
			t.Errorf("%d %s: got %v, waited %v", f.Status, f.Body, err, ticks.Waits())
		}
		s.ClearFaults()
		f.Times = -1
		s.Fault(f)
		err := put(t.Context(), c, ref, e)
		if _, ok := errors.AsType[*rest.LimitError](err); !ok {
			t.Errorf("%d %s, for ever: got %v, want a LimitError", f.Status, f.Body, err)
		}
	}
}

// TestRemoveLabelsHidesTheToken checks that the error does not contain the token.
func TestRemoveLabelsHidesTheToken(t *testing.T) {
	t.Parallel()
	s := labeled(t)
	c, _ := client(t, s.URL)
	_, e := removalOf(t, c, 7, "bug", "other")
	s.Fault(githubtest.Fault{Path: "/graphql", Status: 200, Body: `{"errors":[{"type":"` + token + `","message":"` + strings.Repeat("x", 290) + token + `"}]}`})
	if err := put(t.Context(), c, ref, e); err == nil || strings.Contains(err.Error(), token[:8]) {
		t.Errorf("got %v", err)
	}
}

// TestRemoveLabelsPassesTheGate checks that the gate is called before the call, as for every write.
func TestRemoveLabelsPassesTheGate(t *testing.T) {
	t.Parallel()
	s := labeled(t)
	c, _ := client(t, s.URL)
	_, e := removalOf(t, c, 7, "bug", "other")
	s.ResetCalls()
	ctx := effect.WithGate(t.Context(), func(context.Context) error { return errors.New("the lease is over") })
	if err := put(ctx, c, ref, e); !errors.Is(err, triage.ErrHalted) || len(s.Log()) != 0 {
		t.Errorf("got %v, calls %v", err, s.Log())
	}
}

// An addressBook records the addresses of requests.
type addressBook struct{ urls []string }

// RoundTrip implements http.RoundTripper.
func (b *addressBook) RoundTrip(r *http.Request) (*http.Response, error) {
	b.urls = append(b.urls, r.Method+" "+r.URL.String())
	body := `{"data":{"removeLabelsFromLabelable":{"labelable":{"number":7}}}}`
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(body)), Request: r,
	}, nil
}

// TestGraphQLAddress checks the address of the GraphQL API for each address of the REST API.
func TestGraphQLAddress(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]string{
		"":                                     "https://api.github.com/graphql",
		"https://api.octo.ghe.com/":            "https://api.octo.ghe.com/graphql",
		"https://github.example.com/api/v3":    "https://github.example.com/api/graphql",
		"https://proxy.example.com/gh/api/v3/": "https://proxy.example.com/gh/api/graphql",
		"http://127.0.0.1:8080/github":         "http://127.0.0.1:8080/github/graphql",
	} {
		book := &addressBook{}
		c, _ := client(t, base, func(o *github.Options) { o.Transport = book })
		if err := put(t.Context(), c, ref, effect.RemoveLabels{Names: []string{"a", "b"}, Issue: "I", IDs: []string{"1", "2"}}); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff([]string{"POST " + want}, book.urls); diff != "" {
			t.Errorf("%q (-want +got):\n%s", base, diff)
		}
	}
}
