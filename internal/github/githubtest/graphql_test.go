package githubtest_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/github/githubtest"
)

const removeLabels = `mutation($on: ID!, $labels: [ID!]!) {
  removeLabelsFromLabelable(input: {labelableId: $on, labelIds: $labels, clientMutationId: "me"}) {
    clientMutationId
    labelable { ... on Issue { number title } ... on PullRequest { n: number } }
  }
}`

// nodes returns the GraphQL id of an issue, and the ids of labels of the repository.
func nodes(t *testing.T, s *githubtest.Server, number int, labels ...string) (issue string, ids []string) {
	t.Helper()
	get := func(path string) string {
		var out struct {
			ID string `json:"node_id"`
		}
		if _, _, raw := call(t, s, "GET", "/repos/octo/hello"+path, ""); json.Unmarshal(raw, &out) != nil || out.ID == "" {
			t.Fatalf("%s has no node_id: %s", path, raw)
		}
		return out.ID
	}
	for _, name := range labels {
		ids = append(ids, get("/labels/"+name))
	}
	return get(fmt.Sprintf("/issues/%d", number)), ids
}

// mutate makes a call to the GraphQL API.
func mutate(t *testing.T, s *githubtest.Server, query string, vars map[string]any) string {
	t.Helper()
	body, err := json.Marshal(map[string]any{"query": query, "variables": vars})
	if err != nil {
		t.Fatal(err)
	}
	status, header, answer := call(t, s, "POST", "/graphql", string(body))
	if got := header.Get("X-Ratelimit-Resource"); status != 200 || got != "graphql" {
		t.Errorf("got status %d, a limit of %q", status, got)
	}
	return string(answer)
}

// TestRemoveLabelsMutation removes labels by their ids. As on GitHub, a label that the issue does
// not have is ignored, and a label that does not exist makes the whole mutation fail.
func TestRemoveLabelsMutation(t *testing.T) {
	t.Parallel()
	s := furnished(t)
	r := s.Repo("octo/hello").AddLabel("a", "b", "gone")
	for _, number := range []int{7, 8} {
		r.LabelAs("octo", number, "a").LabelAs("octo", number, "b")
	}
	issue, labels := nodes(t, s, 7, "a", "b", "bug", "gone")
	pull, _ := nodes(t, s, 8)
	s.DeleteLabel("octo/hello", "gone")
	r.AddLabel("gone")
	missing := func(id string) string {
		return `{"data":{"removeLabelsFromLabelable":null},"errors":[{"message":"Could not resolve to a node with the global id of '` + id +
			`'.","path":["removeLabelsFromLabelable"],"type":"NOT_FOUND"}]}`
	}
	const done = `{"data":{"removeLabelsFromLabelable":{"clientMutationId":"me","labelable":{"number":7,"title":"It breaks"}}}}`
	tests := []struct {
		name   string
		on     string
		labels []string
		want   string
		left   string // labels that remain on the issue and on the pull request
	}{
		{"a label that was created again", issue, []string{labels[0], labels[3]}, missing(labels[3]), "[bug a b] [a b]"},
		{"no such issue", "I_0", labels[:1], missing("I_0"), "[bug a b] [a b]"},
		{"two", issue, labels[:2], done, "[bug] [a b]"},
		{"again", issue, labels[:2], done, "[bug] [a b]"},
		{"of a pull request", pull, labels[1:3], `{"data":{"removeLabelsFromLabelable":{"clientMutationId":"me","labelable":{"n":8}}}}`, "[bug] [a]"},
		{"none", issue, []string{}, done, "[bug] [a]"},
	}
	for _, tt := range tests {
		got := mutate(t, s, removeLabels, map[string]any{"on": tt.on, "labels": tt.labels})
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		if left := fmt.Sprint(s.Issue("octo/hello", 7).Labels, s.Issue("octo/hello", 8).Labels); left != tt.left {
			t.Errorf("%s: left %s, want %s", tt.name, left, tt.left)
		}
	}
	_, _, timeline := call(t, s, "GET", "/repos/octo/hello/issues/7/timeline", "")
	if n := strings.Count(string(timeline), `"unlabeled"`); n != 2 {
		t.Errorf("the timeline has %d labels taken off, want 2", n)
	}
	for number, what := range map[int]func(){7: func() { r.DeleteIssue(7) }, 8: func() { r.TransferIssue(8, "octo/other", 1) }} {
		id, _ := nodes(t, s, number)
		what()
		if got := mutate(t, s, removeLabels, map[string]any{"on": id, "labels": labels[:1]}); got != missing(id) {
			t.Errorf("#%d is gone: got %s", number, got)
		}
	}
}

// TestQueriesAreChecked reports queries that GitHub's schema does not permit.
func TestQueriesAreChecked(t *testing.T) {
	t.Parallel()
	vars := map[string]any{"on": "I", "labels": []string{"L"}}
	tests := []struct {
		name, query string
		vars        map[string]any
	}{
		{"another field", strings.Replace(removeLabels, "title", "titel", 1), vars},
		{"another mutation", strings.Replace(removeLabels, "removeLabels", "dropLabels", 1), vars},
		{"a missing input", strings.Replace(removeLabels, "labelableId: $on, ", "", 1), vars},
		{"a field of one type only", strings.Replace(removeLabels, "labelable {", "labelable { number", 1), vars},
		{"a missing variable", removeLabels, map[string]any{"on": "I"}},
		{"a variable of another type", removeLabels, map[string]any{"on": "I", "labels": map[string]any{}}},
		{"no mutation", "query { id }", nil},
		{"no query", "", nil},
	}
	for _, tt := range tests {
		s, err := githubtest.Start(githubtest.Config{})
		if err != nil {
			t.Fatal(err)
		}
		if got := mutate(t, s, tt.query, tt.vars); !strings.Contains(got, `"errors"`) {
			t.Errorf("%s: got %s", tt.name, got)
		}
		if len(s.Problems()) != 1 {
			t.Errorf("%s: got problems %q, want one", tt.name, s.Problems())
		}
		s.Close()
	}
}

// TestGraphQLLimit checks that calls to the GraphQL API do not count towards the REST API's limit.
func TestGraphQLLimit(t *testing.T) {
	t.Parallel()
	s := furnished(t)
	issue, labels := nodes(t, s, 7, "bug")
	s.LimitCalls(0, time.Hour)
	if got := mutate(t, s, removeLabels, map[string]any{"on": issue, "labels": labels}); strings.Contains(got, "errors") {
		t.Errorf("got %s", got)
	}
}
