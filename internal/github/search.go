package github

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/triage"
)

// maxFound is the maximal number of results that GitHub's search returns for a query.
const maxFound = 1000

// searchFor returns the query for one repository. GitHub requires that a query names the type:
// issues or pull requests.
func searchFor(ref triage.Ref, query string) string {
	within := fmt.Sprintf("%s repo:%s/%s", query, ref.Owner, ref.Repo)
	if !text.FindsPulls(query) {
		within += " is:issue"
	}
	return within
}

// found decodes a result of a search. ok is false for an issue of another repository, which a query
// with OR may match.
func found(ref triage.Ref, raw json.RawMessage) (triage.Issue, bool) {
	var at struct {
		Repo string `json:"repository_url"`
	}
	issue, err := triage.ParseIssue(raw)
	if err != nil || json.Unmarshal(raw, &at) != nil {
		return triage.Issue{}, false
	}
	own := strings.ToLower("/repos/" + ref.Owner + "/" + ref.Repo)
	return issue.Issue, strings.HasSuffix(strings.ToLower(at.Repo), own)
}
