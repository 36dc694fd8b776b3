package githubtest

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/github/githubtest/internal/render"
	"github.com/org/foreman-action/internal/github/githubtest/internal/state"
)

// search supports the qualifiers repo, is (also is:merged and is:unmerged), state, type, label, author, language, archived, no and created:>=;
// "-" negates one. It looks for other words in title and body. OR joins words in parentheses;
// commas join labels.
func search(in *input) answer {
	q := in.r.URL.Query()
	type hit struct {
		repo  *state.Repository
		issue *state.Record
	}
	var hits []hit
	for _, r := range in.repos {
		for _, i := range r.Issues {
			if i.Indexed != nil {
				i = i.Indexed
			}
			ok, err := matches(r, i, words(q.Get("q")))
			if err != nil {
				return invalid("Search", "q", "invalid", err.Error())
			}
			if ok && i.Visible() {
				hits = append(hits, hit{r, i})
			}
		}
	}
	slices.SortFunc(hits, func(a, b hit) int {
		if c := a.issue.Updated.Compare(b.issue.Updated); c != 0 && q.Get("sort") == "updated" {
			return c
		}
		if c := a.issue.CreatedAt.Compare(b.issue.CreatedAt); c != 0 && q.Get("sort") == "created" {
			return c
		}
		return a.issue.Number - b.issue.Number
	})
	if q.Get("order") != "asc" {
		slices.Reverse(hits)
	}
	part, link := page(in.r, hits)
	items := make([]object, 0, len(part))
	for _, h := range part {
		o := render.Issue(h.repo, h.issue)
		o["score"] = 1
		if h.issue.Body == "" {
			delete(o, "body") // the search's schema does not allow null here
		}
		items = append(items, o)
	}
	a := reply(http.StatusOK, object{"total_count": len(hits), "incomplete_results": false, "items": items, "search_type": "lexical"})
	maps.Copy(a.header, link)
	return a
}

// words splits a query at spaces outside of quotes, and removes the quotes.
func words(q string) []string {
	quoted := false
	list := strings.FieldsFunc(q, func(r rune) bool {
		if r == '"' {
			quoted = !quoted
		}
		return r == ' ' && !quoted
	})
	for k, w := range list {
		list[k] = strings.ReplaceAll(w, `"`, "")
	}
	return list
}

func matches(r *state.Repository, i *state.Record, query []string) (bool, error) {
	for len(query) > 0 {
		group := 1
		if strings.HasPrefix(query[0], "(") {
			group = slices.IndexFunc(query, func(w string) bool { return strings.HasSuffix(w, ")") }) + 1
		}
		found := false
		for _, word := range query[:max(group, 1)] {
			if word == "OR" {
				continue
			}
			positive, minus := strings.CutPrefix(strings.Trim(word, "()"), "-")
			ok, err := match(r, i, positive)
			if err != nil {
				return false, err
			}
			found = found || ok != minus
		}
		if !found {
			return false, nil
		}
		query = query[max(group, 1):]
	}
	return true, nil
}

func match(r *state.Repository, i *state.Record, word string) (bool, error) {
	name, value, qualified := strings.Cut(word, ":")
	if !qualified {
		text := strings.ToLower(i.Title + "\n" + i.Body)
		return strings.Contains(text, strings.ToLower(word)), nil
	}
	switch name + ":" + value {
	case "is:issue", "type:issue":
		return !i.PullRequest, nil
	case "is:pr", "type:pr", "is:pull-request":
		return i.PullRequest, nil
	case "is:open", "state:open":
		return i.State == "open", nil
	case "is:closed", "state:closed":
		return i.State == "closed", nil
	case "is:merged":
		return i.Merged, nil
	case "is:unmerged":
		return i.PullRequest && !i.Merged, nil
	case "no:label":
		return len(i.Labels) == 0, nil
	case "no:assignee":
		return len(i.Assignees) == 0, nil
	}
	switch name {
	case "repo":
		return strings.EqualFold(value, r.Owner+"/"+r.Name), nil
	case "created":
		day, err := time.Parse(">="+time.DateOnly, value)
		return !i.CreatedAt.Before(day), err
	case "sort": // it orders the results, and excludes none
		return true, nil
	case "label":
		return slices.ContainsFunc(strings.Split(value, ","), i.Has), nil
	case "language":
		return strings.EqualFold(value, r.About.Language), nil
	case "archived":
		return value == fmt.Sprint(r.About.Archived), nil
	case "author":
		if app, ok := strings.CutPrefix(value, "app/"); ok {
			value = app + "[bot]"
		}
		return strings.EqualFold(value, i.Author), nil
	}
	return false, fmt.Errorf("the fake does not support %s", word)
}
