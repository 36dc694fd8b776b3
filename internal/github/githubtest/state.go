package githubtest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// An Issue is an issue as a test sets it up or sees it.
type Issue struct {
	Number      int    // 0 when set up: the next free one
	Title, Body string // an empty title when set up: "Issue <number>"
	State       string // "open" or "closed"; empty when set up: open
	StateReason string // "completed", "not_planned", "duplicate", "reopened" or empty
	DuplicateOf int    // the issue named when it was closed as a duplicate, else 0
	Labels      []string
	Author      string // empty when set up: "octocat"
	Assignees   []string
	Milestone   string // title
	Type        string
	Locked      bool
	LockReason  string
	PullRequest bool
	Files       []string          // that a pull request changes
	Moved       map[string]string // the paths of some of Files before
	CreatedAt   time.Time         // zero when set up: now
	Comments    []Comment
	Reactions   []Reaction
}

// A Comment is a comment on an issue.
type Comment struct {
	ID                   int64
	Author, Body         string
	CreatedAt, UpdatedAt time.Time
	Reactions            []Reaction
}

// A Reaction is a reaction to an issue or a comment.
type Reaction struct {
	Author, Content string
	At              time.Time // zero when set up: when it is asked for
}

// An issue is the server's own record; Issue is the part that tests see.
type issue struct {
	Issue
	id          int64
	updated     time.Time
	closed      time.Time
	closedBy    string
	events      []event
	deleted     bool
	transferred string // API path of the new place, else empty
	indexed     *issue // as the search shows it; nil: as it is
}

func (i *issue) snapshot() Issue {
	c := i.Issue
	c.Labels = slices.Clone(i.Labels)
	c.Assignees = slices.Clone(i.Assignees)
	c.Files, c.Moved = slices.Clone(i.Files), maps.Clone(i.Moved)
	c.Comments = slices.Clone(i.Comments)
	for k := range c.Comments {
		c.Comments[k].Reactions = slices.Clone(c.Comments[k].Reactions)
	}
	c.Reactions = slices.Clone(i.Reactions)
	return c
}

func (i *issue) has(label string) bool { return slices.ContainsFunc(i.Labels, same(label)) }

// A label of a repository.
type label struct {
	id                       int64
	name, color, description string
}

// A milestone of a repository.
type milestone struct {
	id           int64
	number       int
	title, state string
	created      time.Time
}

// A Repo is a repository of the server. Its methods return it, for chains.
type Repo struct {
	s           *Server
	id          int64
	owner, name string
	created     time.Time
	labels      []*label
	issues      map[int]*issue
	milestones  []*milestone
	types       []string
	users       []string // who can be assigned
	permissions map[string]string
	files       map[string]string            // of the default branch
	refs        map[string]map[string]string // of other refs
}

// newRepo makes an empty repository. The caller holds s.mu.
func newRepo(s *Server, owner, name string) *Repo {
	return &Repo{
		s: s, id: s.id(), owner: owner, name: name, created: s.now(),
		issues: map[int]*issue{}, types: []string{"Bug", "Feature", "Task"},
		permissions: map[string]string{}, files: map[string]string{}, refs: map[string]map[string]string{},
	}
}

// AddLabel adds labels to the repository; those already there stay as they are.
func (r *Repo) AddLabel(names ...string) *Repo {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	for _, n := range names {
		r.ensureLabel(n)
	}
	return r
}

// AddIssue adds an issue with its labels, comments and milestone, or replaces the
// one of that number. Its timeline says that its author gave it each of the labels
// when it was created, and then the comments; of the rest it has no events.
func (r *Repo) AddIssue(in Issue) *Repo {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	r.insert(in)
	return r
}

func (r *Repo) insert(in Issue) *issue {
	if in.Number == 0 {
		for in.Number = 1; r.issues[in.Number] != nil; in.Number++ {
			continue
		}
	}
	if in.CreatedAt.IsZero() {
		in.CreatedAt = r.s.now()
	}
	in.Title = cmp.Or(in.Title, fmt.Sprintf("Issue %d", in.Number))
	in.State = cmp.Or(in.State, "open")
	in.Author = cmp.Or(in.Author, "octocat")
	i := &issue{Issue: in, id: r.s.id(), updated: in.CreatedAt}
	i.Issue = i.snapshot() // the caller's slices stay the caller's
	if i.State == "closed" {
		i.closed = in.CreatedAt
	}
	for _, n := range i.Labels {
		l := r.ensureLabel(n)
		i.events = append(i.events, event{id: r.s.openID(), at: in.CreatedAt, kind: "labeled", actor: i.Author, label: l.name})
	}
	if i.Milestone != "" && r.milestone(i.Milestone) == nil {
		r.newMilestone(i.Milestone)
	}
	comments := i.Comments
	i.Comments = nil
	for _, c := range comments {
		r.newComment(i, c.Author, c.Body)
	}
	r.issues[i.Number] = i
	return i
}

// AddComment adds a comment to an issue and returns its id.
func (r *Repo) AddComment(number int, author, body string) int64 {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	return r.newComment(r.must(number), author, body).ID
}

// DeleteComment lets the repository's owner delete a comment; it panics when there is
// none of that id.
func (r *Repo) DeleteComment(id int64) *Repo {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	i, k := r.comment(id)
	if i == nil {
		panic(fmt.Sprintf("githubtest: %s/%s has no comment %d", r.owner, r.name, id))
	}
	r.removeComment(i, r.owner, k)
	return r
}

// AddFile adds a file to the default branch, or replaces it.
func (r *Repo) AddFile(path, content string) *Repo {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	r.files[strings.Trim(path, "/")] = content
	return r
}

// AddFileAt adds a file that is there at a ref, such as "refs/tags/v1" or the 40 digits
// of a commit, and not on the default branch.
func (r *Repo) AddFileAt(ref, path, content string) *Repo {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	if r.refs[ref] == nil {
		r.refs[ref] = map[string]string{}
	}
	r.refs[ref][strings.Trim(path, "/")] = content
	return r
}

// AddMilestone adds open milestones.
func (r *Repo) AddMilestone(titles ...string) *Repo {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	for _, t := range titles {
		r.newMilestone(t)
	}
	return r
}

// CloseMilestone closes a milestone.
func (r *Repo) CloseMilestone(title string) *Repo {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	if m := r.milestone(title); m != nil {
		m.state = "closed"
	}
	return r
}

// AddUser adds collaborators with write permission: they can be assigned.
func (r *Repo) AddUser(logins ...string) *Repo {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	r.users = append(r.users, logins...)
	return r
}

// SetPermission sets what the collaborator look-up says: "admin", "maintain", "write",
// "triage", "read" or "none".
func (r *Repo) SetPermission(login, permission string) *Repo {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	r.permissions[strings.ToLower(login)] = permission
	return r
}

// DeleteIssue deletes an issue: from now on 410.
func (r *Repo) DeleteIssue(number int) *Repo {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	r.must(number).deleted = true
	return r
}

// TransferIssue transfers an issue to "owner/name", under the given number: from now
// on 301.
func (r *Repo) TransferIssue(number int, fullName string, to int) *Repo {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	r.must(number).transferred = fmt.Sprintf("/repos/%s/issues/%d", fullName, to)
	return r
}

// must returns an issue that a test names; a wrong number is a fault of the test.
func (r *Repo) must(number int) *issue {
	i := r.issues[number]
	if i == nil {
		panic(fmt.Sprintf("githubtest: %s/%s has no issue %d", r.owner, r.name, number))
	}
	return i
}

// same returns a test for a name that is equal but for case.
func same(name string) func(string) bool {
	return func(s string) bool { return strings.EqualFold(s, name) }
}
