package github

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/org/foreman-action/triage"
)

// maxFound is how much of a query GitHub's search shows.
const maxFound = 1000

// searchFor is the query for one repository. GitHub requires the type: issues or pull requests.
func searchFor(ref triage.Ref, query string) string {
	within := fmt.Sprintf("%s repo:%s/%s", query, ref.Owner, ref.Repo)
	if !triage.FindsPulls(query) {
		within += " is:issue"
	}
	return within
}

// found decodes the results of a search. A query with OR may also find issues of other
// repositories, which it leaves out.
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
