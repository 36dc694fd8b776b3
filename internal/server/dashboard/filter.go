package dashboard

import (
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/org/foreman-action/queue"
)

// parseFilter reads the query of a list's address.
func parseFilter(q url.Values) (queue.Filter, error) {
	f := queue.Filter{
		State: queue.State(q.Get("state")), Agent: strings.TrimSpace(q.Get("agent")), Repo: strings.TrimSpace(q.Get("repo")),
	}
	if f.State != "" && !slices.Contains(queue.States(), f.State) {
		return queue.Filter{}, errors.New("the state must be one of pending, claimed, completed, done and failed")
	}
	if len(f.Agent) > queue.MaxText || len(f.Repo) > queue.MaxText {
		return queue.Filter{}, errors.New("the agent or the repository is too long")
	}
	if s := strings.TrimPrefix(strings.TrimSpace(q.Get("issue")), "#"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			return queue.Filter{}, errors.New("the issue must be a number from 1")
		}
		if f.Repo == "" {
			return queue.Filter{}, errors.New("an issue needs a repository, because its number alone would search through all tasks")
		}
		f.Issue = n
	}
	if s := q.Get("before"); s != "" {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || n < 1 {
			return queue.Filter{}, errors.New("the parameter before must be a number")
		}
		f.Before = n
	}
	return f, nil
}

// filterURL returns the address of a list.
func filterURL(f queue.Filter) string {
	q := url.Values{}
	set := func(key, value string) {
		if value != "" {
			q.Set(key, value)
		}
	}
	set("state", string(f.State))
	set("agent", f.Agent)
	set("repo", f.Repo)
	if f.Issue > 0 {
		set("issue", strconv.Itoa(f.Issue))
	}
	if f.Before > 0 {
		set("before", strconv.FormatInt(f.Before, 10))
	}
	return (&url.URL{Path: "/", RawQuery: q.Encode()}).RequestURI()
}
