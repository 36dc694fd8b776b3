package hosttest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/org/foreman-action/internal/wait"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

// A Host is a host in memory with one repository, which behaves as GitHub does: names match without
// regard to case, and adding a label that the repository lacks creates it. It is safe for concurrent
// use. Nothing is ever truncated because of a rate limit.
type Host struct{ content *content }

// content is the repository of a Host.
type content struct {
	mu     sync.Mutex // guards the fields below; methods are called with it, unless their comments state otherwise
	now    func() time.Time
	repo   Repo // without its issues
	lastID int64
	issues map[int]*record
}

// A record is the state of one issue. Its embedded fields are those of the test, changed since.
type record struct {
	Issue

	comments  []comment
	reactions []reaction
	events    []triage.TimelineEvent
	closed    time.Time // zero: open
}

// A comment is a comment with its reactions.
type comment struct {
	triage.Comment

	changed   time.Time
	reactions []reaction
}

// A reaction is a reaction with its content.
type reaction struct {
	triage.Reaction

	content string
}

// New returns a host with a copy of a repository. It panics if an issue has no number, or the number
// of another one, because that is a mistake in the test.
func New(r Repo) *Host {
	h := &content{now: wait.Clock(r.Now), repo: r.clone(), lastID: 1000, issues: map[int]*record{}}
	for _, in := range r.Issues {
		if in.Number <= 0 || h.issues[in.Number] != nil {
			panic(fmt.Sprintf("hosttest: issue %d: want a number that no other issue has", in.Number))
		}
		h.add(in.clone())
	}
	return &Host{h}
}

// Host returns the host as an account sees and changes it: a Runner's own account, or a person who
// acts beside the Runner. An empty login means [runner.DefaultBot].
func (h *Host) Host(login string) runner.Host {
	host := runner.HostOf(view{h.content, cmp.Or(login, runner.DefaultBot)})
	host.Login = login
	return host
}

// add adds an issue of the test.
func (h *content) add(in Issue) {
	if in.State == "" {
		in.State = "open"
	}
	if in.CreatedAt.IsZero() {
		in.CreatedAt = h.time()
	}
	if in.UpdatedAt.IsZero() {
		in.UpdatedAt = in.CreatedAt
	}
	if in.NodeID == "" {
		in.NodeID = fmt.Sprint("I_", in.Number)
	}
	if in.URL == "" {
		in.URL = fmt.Sprintf("https://github.com/%s/%s/issues/%d", h.repo.Owner, h.repo.Name, in.Number)
	}
	if in.PullRequest = in.Pull != nil; in.PullRequest {
		in.Draft, in.Merged = in.Pull.Draft, in.Pull.Merged
	}
	i := &record{Issue: in, closed: in.ClosedAt}
	for k, name := range in.Labels {
		i.Labels[k] = h.label(name)
	}
	if in.Milestone != "" && !slices.Contains(h.repo.Milestones, in.Milestone) {
		h.repo.Milestones = append(h.repo.Milestones, in.Milestone)
	}
	for _, c := range in.Thread {
		h.comment(i, c.Author, c.Body)
	}
	for _, r := range in.Reactions {
		i.reactions = append(i.reactions, reaction{triage.Reaction{Actor: r.Login, ActorType: "User", At: in.CreatedAt}, r.Content})
	}
	h.issues[in.Number] = i
}

// time returns the time in whole seconds, as GitHub does.
func (h *content) time() time.Time { return h.now().UTC().Truncate(time.Second) }

// id returns a new id.
func (h *content) id() int64 {
	h.lastID++
	return h.lastID
}

// label returns a label in the repository's spelling. It adds a label that the repository lacks.
func (h *content) label(name string) string {
	if k := index(h.repo.Labels, name); k >= 0 {
		return h.repo.Labels[k]
	}
	h.repo.Labels = append(h.repo.Labels, name)
	return name
}

// may reports whether an account can be assigned and asked for a review.
func (h *content) may(login string) bool {
	return slices.Contains([]string{"admin", "maintain", "write"}, h.permission(login))
}

func (h *content) permission(login string) string {
	for name, permission := range h.repo.Permissions {
		if strings.EqualFold(name, login) {
			return permission
		}
	}
	return "none"
}

// happened adds an event to the timeline of an issue.
func (h *content) happened(i *record, e triage.TimelineEvent) {
	if e.ID == 0 {
		e.ID = h.id()
	}
	e.At, e.Intends = h.time(), h.repo.Intents && intends(e.Kind)
	i.UpdatedAt = e.At
	i.events = append(i.events, e)
}

// comment adds a comment to an issue.
func (h *content) comment(i *record, author, body string) triage.Comment {
	id := h.id()
	c := triage.Comment{
		ID: id, NodeID: fmt.Sprint("IC_", id), Author: author, Body: body, CreatedAt: h.time(),
		URL: fmt.Sprintf("%s#issuecomment-%d", i.URL, id),
	}
	i.comments = append(i.comments, comment{Comment: c, changed: c.CreatedAt})
	h.happened(i, triage.TimelineEvent{ID: id, Kind: "commented", Actor: author, Body: body, URL: c.URL})
	return c
}

// index returns the index of a name in a list without regard to case; -1: the list lacks it.
func index(list []string, name string) int {
	return slices.IndexFunc(list, func(s string) bool { return strings.EqualFold(s, name) })
}

// find returns an issue.
func (h *content) find(ctx context.Context, ref triage.Ref) (*record, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	i := h.issues[ref.Number]
	if i == nil || !h.has(ref) {
		return nil, fmt.Errorf("%s: %w", ref, triage.ErrGone)
	}
	return i, nil
}

// has reports whether a reference names this repository.
func (h *content) has(ref triage.Ref) bool {
	return strings.EqualFold(ref.Owner, h.repo.Owner) && strings.EqualFold(ref.Repo, h.repo.Name)
}

// snapshot returns the issue with its JSON in GitHub's form.
func (i *record) snapshot() (triage.Snapshot, error) {
	type object map[string]any
	orNull := func(s, key string) any {
		if s == "" {
			return nil
		}
		return object{key: s}
	}
	labels, assignees := []object{}, []object{}
	for _, name := range i.Labels {
		labels = append(labels, object{"name": name, "node_id": "LA_" + strings.ToLower(name)})
	}
	for _, login := range i.Assignees {
		assignees = append(assignees, object{"login": login})
	}
	out := object{
		"node_id": i.NodeID, "number": i.Number, "title": i.Title, "body": i.Body, "state": i.State, "user": orNull(i.Author, "login"),
		"author_association": i.Association, "labels": labels, "assignees": assignees, "milestone": orNull(i.Milestone, "title"),
		"type": orNull(i.Type, "name"), "comments": len(i.comments), "locked": i.Locked, "created_at": i.CreatedAt,
		"updated_at": i.UpdatedAt, "html_url": i.URL, "draft": i.Draft,
	}
	if i.NullBody {
		out["body"] = nil
	}
	if i.Author != "" {
		out["user"] = object{"login": i.Author, "type": i.AuthorType, "id": i.AuthorID}
	}
	if i.StateReason != "" {
		out["state_reason"] = i.StateReason
	}
	if !i.closed.IsZero() {
		out["closed_at"] = i.closed
	}
	if p := i.Pull; p != nil {
		pull := object{"url": i.URL}
		if p.Merged {
			pull["merged_at"] = i.UpdatedAt
		}
		out["pull_request"] = pull
	}
	counts := map[string]int{"total_count": len(i.reactions)}
	for _, r := range i.reactions {
		counts[r.content]++
	}
	out["reactions"] = counts
	raw, err := json.Marshal(out)
	if err != nil {
		return triage.Snapshot{}, err
	}
	return triage.ParseIssue(raw)
}
