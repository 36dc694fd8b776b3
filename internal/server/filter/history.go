package filter

import (
	"errors"
	"fmt"
	"net/url"
	"slices"

	"github.com/org/foreman-action/queue/history"
)

// ParseHistory parses the query of the history: range, agent and repo. Empty values are as if they
// were missing. Unknown keys are errors.
func ParseHistory(v url.Values) (history.Query, error) {
	known := []string{"range", "agent", "repo"}
	for key := range v {
		if !slices.Contains(known, key) {
			return history.Query{}, errors.New("unknown key; want range, agent or repo")
		}
	}
	span, err := history.ParseRange(v.Get("range"))
	if err != nil {
		return history.Query{}, err
	}
	if len(v["range"]) > 1 {
		return history.Query{}, fmt.Errorf("range: want it once, got it %d times", len(v["range"]))
	}
	f, err := Parser{}.Parse(url.Values{"agent": v["agent"], "repo": v["repo"]})
	if err != nil {
		return history.Query{}, err
	}
	return history.Query{Range: span, Scope: history.Scope{Agent: f.Agent, Repo: f.Repo}}, nil
}

// HistoryValues returns the keys of a query of the history, so that ParseHistory returns it again.
func HistoryValues(q history.Query) url.Values {
	v := url.Values{"range": {q.Range.Name}}
	if q.Agent != "" {
		v.Set("agent", q.Agent)
	}
	if q.Repo != "" {
		v.Set("repo", q.Repo)
	}
	return v
}
