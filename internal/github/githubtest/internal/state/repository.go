package state

import (
	"cmp"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Label is a label of a repository.
type Label struct {
	ID                       int64
	Name, Color, Description string
}

// An Account is an account of a person.
type Account struct {
	Login     string
	ID        int64 // 0: that of the authors with this login
	CreatedAt time.Time
}

// A Milestone is a milestone of a repository.
type Milestone struct {
	ID           int64
	Number       int
	Title, State string
	Created      time.Time
}

// An About is the metadata of a repository, such as its language and license.
type About struct {
	Language string // empty: none
	Topics   []string
	Stars    int
	PushedAt time.Time // zero: the time at which the repository was created
	Archived bool      // writes get 403
	NoIssues bool      // the issues are disabled: calls about one get 410
	Blocked  []string  // logins that the owner blocked: their writes get 403
	Teams    []string  // slugs of the teams that can review pull requests
	License  string    // key of the license, such as "mit"; empty: none
	// PullPolicy is "all" or "collaborators_only": who can open pull requests. Empty: not reported.
	PullPolicy string
}

// A Repository is a repository of the server.
type Repository struct {
	clock       *Clock
	ID          int64
	Owner, Name string
	Created     time.Time
	Labels      []*Label
	Issues      map[int]*Record
	Milestones  []*Milestone
	Types       []string
	Users       []string // collaborators, who can be assigned
	Permissions map[string]string
	Files       map[string]string            // of the default branch
	Refs        map[string]map[string]string // of other refs
	About       About
	Automation  Automation
}

// NewRepository makes an empty repository.
func NewRepository(c *Clock, owner, name string) *Repository {
	return &Repository{
		clock: c, ID: c.ID(), Owner: owner, Name: name, Created: c.Now(),
		Issues: map[int]*Record{}, Types: []string{"Bug", "Feature", "Task"},
		Permissions: map[string]string{}, Files: map[string]string{}, Refs: map[string]map[string]string{},
	}
}

// Insert adds an issue with its labels, comments and milestone. It replaces an existing issue with
// the same number.
func (r *Repository) Insert(in Issue) *Record {
	if in.Number == 0 {
		for in.Number = 1; r.Issues[in.Number] != nil; in.Number++ {
			continue
		}
	}
	if in.CreatedAt.IsZero() {
		in.CreatedAt = r.clock.Now()
	}
	in.Title = cmp.Or(in.Title, fmt.Sprintf("Issue %d", in.Number))
	in.State = cmp.Or(in.State, "open")
	in.Author = cmp.Or(in.Author, "octocat")
	if in.PullRequest {
		in.Head, in.Base = cmp.Or(in.Head, "patch-1"), cmp.Or(in.Base, "main")
	}
	i := &Record{Issue: in, ID: r.clock.ID(), Updated: in.CreatedAt}
	i.Issue = i.Snapshot() // a copy, so that changes do not affect the caller's slices
	if i.State == "closed" {
		i.Closed = in.CreatedAt
	}
	for _, n := range i.Labels {
		l := r.EnsureLabel(n)
		i.Events = append(i.Events, Event{ID: r.clock.openID(), At: in.CreatedAt, Kind: "labeled", Actor: i.Author, Label: l.Name})
	}
	if i.Milestone != "" && r.Milestone(i.Milestone) == nil {
		r.NewMilestone(i.Milestone)
	}
	comments := i.Comments
	i.Comments = nil
	for _, c := range comments {
		r.NewComment(i, c.Author, c.Body)
	}
	r.Issues[i.Number] = i
	return i
}

// Must returns the issue with a number. It panics if there is none, because that is a mistake in
// the test.
func (r *Repository) Must(number int) *Record {
	i := r.Issues[number]
	if i == nil {
		panic(fmt.Sprintf("githubtest: %s/%s has no issue %d", r.Owner, r.Name, number))
	}
	return i
}

// Open counts the open issues.
func (r *Repository) Open() int {
	n := 0
	for _, i := range r.Issues {
		if i.State == "open" && i.Visible() {
			n++
		}
	}
	return n
}

// Label returns the label with a name, ignoring case; nil when there is none.
func (r *Repository) Label(name string) *Label {
	k := slices.IndexFunc(r.Labels, func(l *Label) bool { return strings.EqualFold(l.Name, name) })
	if k < 0 {
		return nil
	}
	return r.Labels[k]
}

// EnsureLabel returns a label. Like GitHub, it creates a missing label silently.
func (r *Repository) EnsureLabel(name string) *Label {
	if l := r.Label(name); l != nil {
		return l
	}
	l := &Label{ID: r.clock.ID(), Name: name, Color: "ededed"}
	r.Labels = append(r.Labels, l)
	return l
}

// DeleteLabel removes a label from the repository and from its issues. The timelines get no events.
func (r *Repository) DeleteLabel(name string) {
	r.Labels = slices.DeleteFunc(r.Labels, func(l *Label) bool { return Same(name)(l.Name) })
	for _, i := range r.Issues {
		i.Labels = slices.DeleteFunc(i.Labels, Same(name))
	}
}

// RenameLabel renames a label, in the repository and on its issues. The timelines keep the old name.
func (r *Repository) RenameLabel(from, to string) {
	l := r.Label(from)
	if l == nil {
		panic(fmt.Sprintf("githubtest: %s/%s has no label %q", r.Owner, r.Name, from))
	}
	l.Name = to
	for _, i := range r.Issues {
		for k, name := range i.Labels {
			if Same(from)(name) {
				i.Labels[k] = to
			}
		}
	}
}

// Milestone returns a milestone by its title; nil when there is none.
func (r *Repository) Milestone(title string) *Milestone {
	k := slices.IndexFunc(r.Milestones, func(m *Milestone) bool { return m.Title == title })
	if k < 0 {
		return nil
	}
	return r.Milestones[k]
}

// NewMilestone adds an open milestone.
func (r *Repository) NewMilestone(title string) {
	r.Milestones = append(r.Milestones, &Milestone{
		ID: r.clock.ID(), Number: len(r.Milestones) + 1, Title: title, State: "open", Created: r.clock.Now(),
	})
}

// ByID returns an issue by its id; nil when there is none.
func (r *Repository) ByID(id int64) *Record {
	for _, i := range r.Issues {
		if i.ID == id {
			return i
		}
	}
	return nil
}

// MilestoneAt returns a milestone by its number; nil when there is none.
func (r *Repository) MilestoneAt(n int) *Milestone {
	if n < 1 || n > len(r.Milestones) {
		return nil
	}
	return r.Milestones[n-1]
}

// Comment returns the issue that contains a comment, and the comment's index; nil when there is no
// such comment.
func (r *Repository) Comment(id int64) (*Record, int) {
	for _, i := range r.Issues {
		k := slices.IndexFunc(i.Comments, func(c Comment) bool { return c.ID == id })
		if k >= 0 && i.Visible() {
			return i, k
		}
	}
	return nil, 0
}

// Commit returns the hash of the commit that a name refers to; empty: none.
func (r *Repository) Commit(name string) string {
	for _, ref := range []string{name, "refs/tags/" + name, "refs/heads/" + name} {
		if _, ok := r.Refs[ref]; ok && !digits(ref) {
			return BlobSHA(fmt.Sprintf("%s/%s %s", r.Owner, r.Name, ref))
		}
	}
	var found []string
	for ref := range r.Refs {
		if digits(ref) && len(name) >= 4 && strings.HasPrefix(ref, name) {
			found = append(found, ref)
		}
	}
	if len(found) != 1 { // no commit, or the name is ambiguous
		return ""
	}
	return found[0]
}

// digits reports whether a ref is a full commit hash.
func digits(ref string) bool {
	return len(ref) == 40 && strings.Trim(ref, "0123456789abcdef") == ""
}

// BlobSHA returns the SHA-1 that git gives a file with that content.
func BlobSHA(content string) string {
	sum := sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(content), content))
	return hex.EncodeToString(sum[:])
}
