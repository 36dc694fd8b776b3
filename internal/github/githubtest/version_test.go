package githubtest

import (
	"encoding/json"
	"io"
	"net/http"
	"testing"
)

// TestVersions checks that answers have the fields of the version that the request names.
func TestVersions(t *testing.T) {
	t.Parallel()
	s := New(t, Config{})
	s.Repo("o/r").AddIssue(Issue{Number: 1, Assignees: []string{"mona"}})
	for _, tt := range []struct {
		version, path, field string
		status               int
		has                  bool
	}{
		{"", "/repos/o/r/issues/1", "assignee", 200, true},
		{oldVersion, "/repos/o/r/issues/1", "assignee", 200, true},
		{newVersion, "/repos/o/r/issues/1", "assignee", 200, false},
		{newVersion, "/repos/o/r/issues/1", "assignees", 200, true},
		{oldVersion, "/repos/o/r", "has_downloads", 200, true},
		{newVersion, "/repos/o/r", "has_downloads", 200, false},
		{oldVersion, "/rate_limit", "rate", 200, true},
		{newVersion, "/rate_limit", "rate", 200, false},
		{"2020-01-01", "/repos/o/r", "message", 400, true},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+tt.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if tt.version != "" {
			r.Header.Set("X-Github-Api-Version", tt.version)
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		var got map[string]any
		if err != nil || json.Unmarshal(body, &got) != nil {
			t.Fatalf("%s: %v", body, err)
		}
		if _, has := got[tt.field]; has != tt.has || res.StatusCode != tt.status {
			t.Errorf("%q %s: status %d, has %s: %t, want %d and %t", tt.version, tt.path, res.StatusCode, tt.field, has, tt.status, tt.has)
		}
	}
}

// TestDescribe checks that the description of the newer version has its changes, and no others.
func TestDescribe(t *testing.T) {
	t.Parallel()
	text, err := describe(newVersion)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Components struct {
			Schemas map[string]struct {
				Properties map[string]any `json:"properties"`
				Required   []string       `json:"required"`
			} `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	issue := doc.Components.Schemas["issue"]
	if issue.Properties["assignee"] != nil || issue.Properties["assignees"] == nil || len(issue.Required) < 10 {
		t.Errorf("an issue has the properties %v", issue.Properties)
	}
}
