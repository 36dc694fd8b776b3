package githubtest

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/org/foreman-action/internal/github/githubtest/internal/state"
)

// Types of the state that tests set and read.
type (
	// An Issue is an issue or a pull request.
	Issue = state.Issue
	// A Comment is a comment on an issue.
	Comment = state.Comment
	// A Review is a review of a pull request.
	Review = state.Review
	// An About is the metadata of a repository, such as its language and license.
	About = state.About
	// A Reaction is a reaction to an issue or a comment.
	Reaction = state.Reaction
	// An Account is an account of a person.
	Account = state.Account
)

// SetAccount adds accounts, or replaces those with the same login. Others do not exist.
func (s *Server) SetAccount(list ...Account) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range list {
		s.accounts[strings.ToLower(a.Login)] = a
	}
}

// A Repo is a repository of the server. Its methods return the Repo, so that calls can be chained,
// and are safe for concurrent use.
type Repo struct {
	mu    *sync.Mutex // the server's mutex; guards the fields below
	clock *state.Clock
	state *state.Repository
}

// AddLabel adds labels to the repository. It does not change existing labels.
func (r *Repo) AddLabel(names ...string) *Repo {
	return r.change(func() {
		for _, n := range names {
			r.state.EnsureLabel(n)
		}
	})
}

// AddIssue adds an issue with its labels, comments and milestone. It replaces an existing issue
// with the same number. The timeline contains a "labeled" event of the author for each label, then
// the comments, and no other events.
func (r *Repo) AddIssue(in Issue) *Repo {
	return r.change(func() { r.state.Insert(in) })
}

// AddComment adds a comment to an issue and returns its id.
func (r *Repo) AddComment(number int, author, body string) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state.NewComment(r.state.Must(number), author, body).ID
}

// EditComment replaces the body of a comment, as a person who may write does on its page. Its id and
// its author stay, and no event shows who edited it. It panics when there is no comment with that id.
func (r *Repo) EditComment(id int64, body string) *Repo {
	return r.change(func() {
		i, k := r.state.Comment(id)
		if i == nil {
			panic(fmt.Sprintf("githubtest: %s/%s has no comment %d", r.state.Owner, r.state.Name, id))
		}
		r.state.EditComment(i, k, body)
	})
}

// DeleteComment lets the repository's owner delete a comment. It panics when there is no comment
// with that id.
func (r *Repo) DeleteComment(id int64) *Repo {
	return r.change(func() {
		i, k := r.state.Comment(id)
		if i == nil {
			panic(fmt.Sprintf("githubtest: %s/%s has no comment %d", r.state.Owner, r.state.Name, id))
		}
		r.state.RemoveComment(i, r.state.Owner, k)
	})
}

// AddFile adds a file to the default branch, or replaces it.
func (r *Repo) AddFile(path, content string) *Repo {
	return r.change(func() { r.state.Files[strings.Trim(path, "/")] = content })
}

// AddFileAt adds a file at a ref, such as "refs/tags/v1" or the 40 digits of a commit. The file is
// not on the default branch.
func (r *Repo) AddFileAt(ref, path, content string) *Repo {
	return r.change(func() {
		if r.state.Refs[ref] == nil {
			r.state.Refs[ref] = map[string]string{}
		}
		r.state.Refs[ref][strings.Trim(path, "/")] = content
	})
}

// AddMilestone adds open milestones.
func (r *Repo) AddMilestone(titles ...string) *Repo {
	return r.change(func() {
		for _, t := range titles {
			r.state.NewMilestone(t)
		}
	})
}

// CloseMilestone closes a milestone.
func (r *Repo) CloseMilestone(title string) *Repo {
	return r.change(func() {
		if m := r.state.Milestone(title); m != nil {
			m.State = "closed"
		}
	})
}

// AddUser adds collaborators with write permission, who can be assigned.
func (r *Repo) AddUser(logins ...string) *Repo {
	return r.change(func() { r.state.Users = append(r.state.Users, logins...) })
}

// Minimize hides a comment for a reason such as "outdated"; an empty reason makes it visible.
func Minimize(r *Repo, id int64, reason string) {
	r.change(func() {
		if i, k := r.state.Comment(id); i != nil {
			i.Comments[k].Minimized = reason
		}
	})
}

// SetPermission sets the permission of an account that the API returns: "admin", "maintain",
// "write", "triage", "read" or "none".
func (r *Repo) SetPermission(login, permission string) *Repo {
	return r.change(func() { r.state.Permissions[strings.ToLower(login)] = permission })
}

// DeleteIssue deletes an issue. Later calls about it get 410.
func (r *Repo) DeleteIssue(number int) *Repo {
	return r.as(number, func(i *state.Record) { i.Deleted = true })
}

// TransferIssue transfers an issue to "owner/name", under the given number. Later calls about it
// get 301.
func (r *Repo) TransferIssue(number int, fullName string, to int) *Repo {
	return r.as(number, func(i *state.Record) { i.Transferred = fmt.Sprintf("/repos/%s/issues/%d", fullName, to) })
}

// LabelAs lets another user add a label to an issue.
func (r *Repo) LabelAs(actor string, number int, name string) *Repo {
	return r.as(number, func(i *state.Record) { r.state.AddLabel(i, actor, name) })
}

// UnlabelAs lets another user remove a label from an issue.
func (r *Repo) UnlabelAs(actor string, number int, name string) *Repo {
	return r.as(number, func(i *state.Record) { r.state.RemoveLabel(i, actor, name) })
}

// AssignAs lets another user assign people to an issue. Only users of [Repo.AddUser] can be
// assigned; others are dropped silently.
func (r *Repo) AssignAs(actor string, number int, logins ...string) *Repo {
	return r.as(number, func(i *state.Record) { r.state.Assign(i, actor, logins) })
}

// UnassignAs lets another user remove assignees from an issue.
func (r *Repo) UnassignAs(actor string, number int, logins ...string) *Repo {
	return r.as(number, func(i *state.Record) { r.state.Unassign(i, actor, logins) })
}

// SetMilestoneAs lets another user set a milestone. A missing milestone is created; an empty title
// removes the issue's milestone.
func (r *Repo) SetMilestoneAs(actor string, number int, title string) *Repo {
	return r.as(number, func(i *state.Record) {
		if title != "" && r.state.Milestone(title) == nil {
			r.state.NewMilestone(title)
		}
		r.state.SetMilestone(i, actor, title)
	})
}

// UnlockAs lets another user unlock an issue.
func (r *Repo) UnlockAs(actor string, number int) *Repo {
	return r.as(number, func(i *state.Record) { r.state.Unlock(i, actor) })
}

// CloseAs lets another user close an issue.
func (r *Repo) CloseAs(actor string, number int, reason string) *Repo {
	return r.as(number, func(i *state.Record) { r.state.SetState(i, actor, "closed", reason) })
}

// RenameAs lets another user change an issue's title.
func (r *Repo) RenameAs(actor string, number int, title string) *Repo {
	return r.as(number, func(i *state.Record) { r.state.Rename(i, actor, title) })
}

// EditAs changes an issue's body. The timeline does not show such an edit.
func (r *Repo) EditAs(_ string, number int, body string) *Repo {
	return r.as(number, func(i *state.Record) { r.state.EditBody(i, body) })
}

// ChangeFiles sets the changed files of a pull request.
func (r *Repo) ChangeFiles(number int, files ...string) *Repo {
	return r.as(number, func(i *state.Record) { i.Files = slices.Clone(files) })
}

// LockAs lets another user lock an issue.
func (r *Repo) LockAs(actor string, number int, reason string) *Repo {
	return r.as(number, func(i *state.Record) { r.state.Lock(i, actor, reason) })
}

// ReopenAs lets another user open an issue again.
func (r *Repo) ReopenAs(actor string, number int) *Repo {
	return r.as(number, func(i *state.Record) { r.state.SetState(i, actor, "open", "") })
}

// ReactAs lets another user react to an issue or, if comment is not 0, to the issue's comment with
// that id.
func (r *Repo) ReactAs(actor string, number int, comment int64, content string) *Repo {
	return r.as(number, func(i *state.Record) {
		list := &i.Reactions
		if comment != 0 {
			k := slices.IndexFunc(i.Comments, func(c Comment) bool { return c.ID == comment })
			list = &i.Comments[k].Reactions
		}
		Reaction{Author: actor, Content: content, At: r.clock.Now()}.Add(list)
	})
}

// LagSearch makes the search show an issue in its present state even after later changes, because
// GitHub's index lags behind.
func (r *Repo) LagSearch(number int) *Repo {
	return r.as(number, func(i *state.Record) { i.Indexed = i.Copy() })
}

func (r *Repo) as(number int, change func(*state.Record)) *Repo {
	return r.change(func() { change(r.state.Must(number)) })
}

// change calls f under the server's mutex.
func (r *Repo) change(f func()) *Repo {
	r.mu.Lock()
	defer r.mu.Unlock()
	f()
	return r
}
