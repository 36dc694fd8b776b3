package queue

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/internal/server/database"
	"github.com/org/foreman-action/internal/server/filter"
	"github.com/org/foreman-action/queue"
)

// maxFound is how many tasks of an issue an error lists.
const maxFound = 10

// find returns the task that a person names: by its ID, as it is when it is changed; or by its issue, such
// as owner/name#7, as it is now. An issue must have exactly one task in the states; nil: in any state.
func find(ctx context.Context, q database.Store, name string, states []queue.State) (queue.Seen, error) {
	f, ok := issueOf(name)
	if !ok {
		return queue.Seen{ID: name}, nil
	}
	list, _, err := search(ctx, q, queue.Filter{Repo: f.Repo, Issue: f.Issue}, 1000)
	if err != nil {
		return queue.Seen{}, err
	}
	if states != nil {
		list = slices.DeleteFunc(list, func(t queue.Info) bool { return !slices.Contains(states, t.State) })
	}
	issue := fmt.Sprintf("%s#%d", sanitize.Line(f.Repo), f.Issue)
	switch len(list) {
	case 0:
		return queue.Seen{}, fmt.Errorf("%s has no such task; foremand queue ls %[1]s lists its tasks", issue)
	case 1:
		return list[0].Seen(), nil
	}
	var ids []string
	for _, t := range list[:min(len(list), maxFound)] {
		ids = append(ids, fmt.Sprintf("%s (%s)", sanitize.Line(t.ID), t.State))
	}
	if len(list) > maxFound {
		ids = append(ids, "…")
	}
	return queue.Seen{}, fmt.Errorf("%s has %d tasks; name one by its ID: %s", issue, len(list), strings.Join(ids, ", "))
}

// titles returns the titles of the issues of tasks. A task that has been purged meanwhile, or whose texts
// have no title, has an empty one.
func titles(ctx context.Context, q database.Store, list []queue.Info) ([]string, error) {
	out := make([]string, len(list))
	for i, t := range list {
		d, err := q.Inspect(ctx, t.ID)
		switch {
		case errors.Is(err, queue.ErrNotFound):
		case err != nil:
			return nil, err
		default:
			out[i] = title(d)
		}
	}
	return out, nil
}

// title returns the title of a task's issue as it was received, else that of its report. It is untrusted.
func title(d queue.Details) string {
	var message struct {
		Payload struct {
			Title string `json:"title"`
		} `json:"payload"`
	}
	var report struct {
		Title string `json:"title"`
	}
	// A text that cannot be decoded has no title; show reports it.
	_ = json.Unmarshal(d.Message, &message)
	_ = json.Unmarshal(d.Report, &report)
	return cmp.Or(message.Payload.Title, report.Title)
}

// issueOf returns the filter for the tasks of an issue; ok is false if the name is the ID of a task.
func issueOf(name string) (f queue.Filter, ok bool) {
	f, err := filter.Parser{}.ParseAll(url.Values{"q": {name}})
	return f, err == nil && f.Repo != "" && f.Issue != 0
}

// namesIssue reports whether the name of a task is that of its issue.
func namesIssue(name string) bool {
	_, ok := issueOf(name)
	return ok
}
