package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/org/foreman-action/internal/github/rest"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/internal/wait"
	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/triage"
)

const (
	// labelAge is how long a label is remembered after GitHub last reported it.
	labelAge = time.Hour
	// maxLabels is how many labels are remembered, of all repositories together.
	maxLabels = 20_000
)

// Labels remember labels that exist, so that they need not be looked up before each write. They do not
// remember that a label is missing, because people create the missing label and expect it to be used.
// A remembered label may have been deleted or renamed since, so writes check the ids in GitHub's answer.
// Labels are safe for concurrent use. The methods of nil Labels remember nothing.
type Labels struct {
	now func() time.Time

	mu    sync.Mutex
	repos map[string]map[string]seenLabel // by repository in lower case, and folded name
	size  int
}

// A seenLabel is a label as GitHub last reported it.
type seenLabel struct {
	triage.LabelID

	at time.Time
}

// NewLabels returns an empty memory. now may be nil: time.Now.
func NewLabels(now func() time.Time) *Labels {
	return &Labels{now: wait.Clock(now), repos: map[string]map[string]seenLabel{}}
}

// A LabelChange is a change of a repository's label, from a webhook.
type LabelChange struct {
	Repo    string // "owner/name"
	Label   triage.LabelID
	Former  string // the name before a change of the name; empty: it did not change
	Deleted bool
}

// Changed updates the memory after a change of a label.
func (l *Labels) Changed(c LabelChange) {
	l.forget(c.Repo, c.Former, c.Label.Name)
	if !c.Deleted {
		l.learn(c.Repo, label{NodeID: c.Label.ID, Name: c.Label.Name})
	}
}

// find returns a label that was reported within labelAge.
func (l *Labels) find(repo, name string) (triage.LabelID, bool) {
	if l == nil {
		return triage.LabelID{}, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	seen, ok := l.repos[strings.ToLower(repo)][text.Fold(name)]
	if age := l.now().Sub(seen.at); !ok || age < 0 || age >= labelAge {
		return triage.LabelID{}, false
	}
	return seen.LabelID, true
}

// learn stores labels that GitHub reported now. If there are too many, the memory starts again: that
// only costs look-ups.
func (l *Labels) learn(repo string, list ...label) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	key, now := strings.ToLower(repo), l.now()
	for _, one := range list {
		if one.NodeID == "" || one.Name == "" {
			continue
		}
		if l.size >= maxLabels {
			l.repos, l.size = map[string]map[string]seenLabel{}, 0
		}
		if l.repos[key] == nil {
			l.repos[key] = map[string]seenLabel{}
		}
		name := text.Fold(one.Name)
		if _, known := l.repos[key][name]; !known {
			l.size++
		}
		l.repos[key][name] = seenLabel{triage.LabelID{ID: one.NodeID, Name: one.Name}, now}
	}
}

func (l *Labels) forget(repo string, names ...string) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	known := l.repos[strings.ToLower(repo)]
	for _, name := range names {
		if _, ok := known[text.Fold(name)]; ok {
			delete(known, text.Fold(name))
			l.size--
		}
	}
}

// takeBackLabels compares the labels of an issue after a write with the remembered ones that the write
// added. It returns the names of labels that the repository does not have any more: a label that the
// write created is deleted again, and one that was renamed is removed from the issue. A label that
// another account created again in the meantime stays. An error only matches triage.ErrUncertain: the
// write was made, so it was neither stopped nor refused, and it must be repeated with the same ids.
func takeBackLabels(ctx context.Context, c *Client, o rest.Op, e effect.AddLabels, has labelList) (missing []string, err error) {
	repo := o.Ref.Owner + "/" + o.Ref.Repo
	for i, id := range e.IDs {
		name := e.Names[i]
		at := slices.IndexFunc(has, func(l label) bool { return strings.EqualFold(l.Name, name) })
		switch former := slices.IndexFunc(has, func(l label) bool { return l.NodeID == id }); {
		case id == "" || at >= 0 && has[at].NodeID == id:
		case at >= 0:
			var created bool
			if created, err = deleteCreated(ctx, c.caller, o, has[at]); created {
				missing = append(missing, name)
			}
		case former >= 0: // GitHub added it under its new name; the policy did not check the new name
			missing = append(missing, name)
			var w write
			if w, err = removeLabel(o.Ref, has[former].Name); err == nil {
				_, err = c.caller.Do(ctx, w.op, w.call)
				err = w.failed(err)
			}
		}
		if err != nil {
			return missing, fmt.Errorf("label %q was deleted or renamed meanwhile, and adding it could not be taken back: %w: %v", rest.Clip(name, 100), triage.ErrUncertain, err) //nolint:errorlint // see above
		}
	}
	c.labels.learn(repo, has...) // not before, because the repetition compares with the remembered ids
	c.labels.forget(repo, missing...)
	return missing, nil
}

// implicitColor is the color of a label that GitHub creates because an issue gets it.
const implicitColor = "ededed"

// deleteCreated deletes a label if the write to the issue of o created it, and reports whether it did. Such a
// label has GitHub's default color, no description, and no other issue has it.
func deleteCreated(ctx context.Context, c *rest.Caller, o rest.Op, l label) (bool, error) {
	if !strings.EqualFold(l.Color, implicitColor) || l.Description != "" {
		return false, nil
	}
	if !rest.Segment(l.Name) {
		return false, nil
	}
	ref := o.Ref
	look := rest.LookUp(fmt.Sprintf("look for issues with the label %q like", rest.Clip(l.Name, 100)), ref)
	var list []changed
	query := url.Values{"labels": {l.Name}, "state": {"all"}, "per_page": {"2"}}
	if _, err := c.Do(ctx, look, rest.Call{Method: http.MethodGet, Path: fmt.Sprintf("repos/%s/%s/issues?%s", ref.Owner, ref.Repo, query.Encode()), Out: &list}); err != nil {
		return false, err
	}
	if slices.ContainsFunc(list, func(i changed) bool { return i.Number != ref.Number }) {
		return false, nil
	}
	del := rest.OnIssue(fmt.Sprintf("delete the label %q that was created for", rest.Clip(l.Name, 100)), ref)
	del.Absent = triage.ErrNotFound
	path := fmt.Sprintf("repos/%s/%s/labels/%s", ref.Owner, ref.Repo, url.PathEscape(l.Name))
	_, err := c.Do(ctx, del, rest.Call{Method: http.MethodDelete, Path: path, Out: &noAnswer{}})
	if errors.Is(err, triage.ErrNotFound) {
		err = nil
	}
	return err == nil, err
}
