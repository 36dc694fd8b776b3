package hosttest

import (
	"errors"
	"fmt"
	"slices"

	"github.com/org/foreman-action/triage"
)

func repositoryPromises() []promise {
	return []promise{
		{"labels in the repository's spelling", repository, small, labelSpelling},
		{"pages of labels", repository, many, labelPages},
		{"permissions", repository, small, permissions},
		{"what an account opened", repository, many, opened},
		{"accounts", repository, small, accounts},
		{"pull requests", repository, small, pulls},
		{"long lists of a pull request", repository, longPull, longLists},
	}
}

func labelSpelling(c *check) {
	for asked, want := range map[string]string{"bug": "bug", "BUG": "bug", "kind/feature": "Kind/Feature", "WHAT? 100%": "what? 100%"} {
		got, err := c.Repository.Label(c.Context(), at(7), asked)
		if c.ok("Label "+asked, err) && got != want {
			c.errorf("Label %q: got %q, want %q", asked, got, want)
		}
	}
	for _, absent := range []string{"absent", "bu", "bug/x", "."} {
		_, err := c.Repository.Label(c.Context(), at(7), absent)
		c.wantError("Label "+absent, err, triage.ErrNotFound, triage.ErrGone)
	}
}

func labelPages(c *check) {
	var all []string
	for n, last := 1, 1; n <= last; n++ {
		names, end, err := c.Repository.LabelPage(c.Context(), at(7), n)
		if !c.ok("LabelPage", err) {
			return
		}
		if end < n || end > 100 {
			c.errorf("LabelPage %d: got the last page %d", n, end)
			return
		}
		all, last = append(all, names...), end
	}
	slices.Sort(all)
	if want := many().Labels; !slices.Equal(all, want) {
		c.errorf("LabelPage: all pages have %d labels, want each of the %d once", len(all), len(want))
	}
}

func permissions(c *check) {
	for login, want := range map[string]string{"alice": "admin", "ALICE": "admin", "bob": "write", "carol": "read", "mallory": "none"} {
		got, err := c.Repository.Permission(c.Context(), at(7), login)
		if c.ok("Permission of "+login, err) && got != want {
			c.errorf("Permission of %s: got %q, want %q", login, got, want)
		}
	}
}

// numbers returns the numbers of issues.
func numbers(list []triage.Issue) []int {
	var out []int
	for _, i := range list {
		out = append(out, i.Number)
	}
	return out
}

// down returns the numbers from n to m, which are those of issues in the order of their creation.
func down(n, m int) []int {
	var out []int
	for ; n >= m; n-- {
		out = append(out, n)
	}
	return out
}

func opened(c *check) {
	list, err := c.Repository.Opened(c.Context(), at(7), "alice")
	if want := append([]int{131}, down(120, 22)...); c.ok("Opened", err) && !slices.Equal(numbers(list), want) {
		c.errorf("Opened by alice: got %v, want the first 100, oldest first: %v", numbers(list), want)
	}
	list, err = c.Repository.Opened(c.Context(), at(7), "bob")
	if want := append([]int{132}, down(130, 121)...); !c.ok("Opened", err) || !slices.Equal(numbers(list), want) {
		c.errorf("Opened by bob: got %v, want %v", numbers(list), want)
		return
	}
	if i := list[0]; i.State != "closed" || !i.Merged || !i.PullRequest {
		c.errorf("Opened: got %+v, want a pull request that was merged", i)
	}
	if i := list[len(list)-1]; i.State != "open" || i.Merged || i.PullRequest {
		c.errorf("Opened: got %+v, want an open issue", i)
	}
	list, err = c.Repository.Opened(c.Context(), at(7), "absent-account")
	if c.ok("Opened", err) && len(list) > 0 {
		c.errorf("Opened by an absent account: got %v", numbers(list))
	}
}

func accounts(c *check) {
	got, err := c.Repository.Account(c.Context(), at(7), "alice")
	if want := small().Accounts["alice"]; c.ok("Account", err) && (got.Type != want.Type || got.ID == 0 || !got.CreatedAt.Equal(want.CreatedAt)) {
		c.errorf("Account: got %+v, want %+v", got, want)
	}
	_, err = c.Repository.Account(c.Context(), at(7), "absent-account")
	c.wantError("Account that is absent", err, triage.ErrNotFound, triage.ErrGone)
}

func pulls(c *check) {
	p, err := c.Repository.Pull(c.Context(), at(8))
	if c.ok("Pull", err) && (p.Head != "fix" || p.Base != "main" || p.Draft || p.Merged) {
		c.errorf("Pull: got %+v", p)
	}
	if s := p.Shared.Issue; err == nil && s.Number != 0 && (s.Number != 8 || s.Title != "A fix" || !s.PullRequest) {
		c.errorf("Pull: got the shared fields %+v, want those of the pull request, or none", s)
	}
	_, err = c.Repository.Pull(c.Context(), at(7))
	c.wantError("Pull of an issue", err, triage.ErrNotFound, triage.ErrGone)
	if _, err = c.Repository.Pull(c.Context(), at(99)); !errors.Is(err, triage.ErrGone) {
		c.wantError("Pull of an absent number", err, triage.ErrNotFound)
	}
	want := small().Issues[1].Pull
	files, err := c.Repository.Files(c.Context(), at(8))
	if c.ok("Files", err) && !slices.Equal(files, want.Files) {
		c.errorf("Files: got %+v, want %+v", files, want.Files)
	}
	messages, err := c.Repository.Messages(c.Context(), at(8))
	if c.ok("Messages", err) && !slices.Equal(messages, want.Messages) {
		c.errorf("Messages: got %q, want %q", messages, want.Messages)
	}
	reviews, err := c.Repository.Reviews(c.Context(), at(8))
	if c.ok("Reviews", err) && !slices.Equal(reviews, want.Reviewed) {
		c.errorf("Reviews: got %+v, want %+v", reviews, want.Reviewed)
	}
}

// longPull returns a repository whose pull request 8 has more of everything than a host returns.
func longPull() Repo {
	p := &Pull{PullRequest: triage.PullRequest{Head: "fix", Base: "main"}}
	for k := range 3100 {
		p.Files = append(p.Files, triage.ChangedFile{Path: fmt.Sprintf("%04d.go", k)})
	}
	for k := range 300 {
		p.Messages = append(p.Messages, fmt.Sprint("commit ", k))
	}
	for range 1100 {
		p.Reviewed = append(p.Reviewed, triage.Review{Author: "bob", Association: "MEMBER", State: "COMMENTED"})
	}
	return Repo{Owner: owner, Name: name, Issues: []Issue{{Issue: triage.Issue{Number: 8, Author: "carol"}, Pull: p}}}
}

func longLists(c *check) {
	want := longPull().Issues[0].Pull
	files, err := c.Repository.Files(c.Context(), at(8))
	if c.ok("Files", err) && !slices.Equal(files, want.Files[:3000]) {
		c.errorf("Files of 3,100: got %d, want the first 3,000", len(files))
	}
	messages, err := c.Repository.Messages(c.Context(), at(8))
	if c.ok("Messages", err) && !slices.Equal(messages, want.Messages[:250]) {
		c.errorf("Messages of 300 commits: got %d, want the first 250", len(messages))
	}
	_, err = c.Repository.Reviews(c.Context(), at(8))
	c.wantError("Reviews of 1,100", err, triage.ErrTruncated)
}

func searchPromises() []promise {
	return []promise{
		{"searches find issues or pull requests", search, many, find},
		{"open issues and pull requests", search, many, open},
		{"reactions of a content", search, small, reactions},
		{"too many reactions", search, manyReactions, reactionsTruncated},
	}
}

func find(c *check) {
	plain := slices.DeleteFunc(down(130, 1), func(n int) bool { return n%10 == 0 })
	tests := []struct {
		query string
		most  int
		want  []int
		total int
	}{
		{"is:open lamp", 1000, plain, len(plain)},
		{"is:open lamp", 10, plain[:10], len(plain)},
		{"is:pr is:open", 100, []int{130, 120, 110, 100, 90, 80, 70, 60, 50, 40, 30, 20, 10}, 13},
		{"is:pr is:merged", 100, []int{132}, 1},
		{"is:closed author:alice", 100, []int{131}, 1},
		{"is:open absent-word", 100, nil, 0},
	}
	for _, tt := range tests {
		f, err := c.Search.Find(c.Context(), at(7), tt.query, tt.most)
		if c.ok("Find "+tt.query, err) && f.Whole && (!slices.Equal(numbers(f.Issues), tt.want) || f.Total != tt.total) {
			c.errorf("Find %q, at most %d: got %v of %d, want %v of %d", tt.query, tt.most, numbers(f.Issues), f.Total, tt.want, tt.total)
		}
	}
	f, err := c.Search.Find(c.Context(), triage.Ref{Owner: owner, Repo: "absent", Number: 1}, "is:open", 10)
	if err == nil && len(f.Issues) > 0 {
		c.errorf("Find in another repository: got %v", numbers(f.Issues))
	}
}

func open(c *check) {
	list, err := c.Search.Open(c.Context(), at(7), 10)
	if want := down(130, 1); c.ok("Open", err) && !slices.Equal(numbers(list), want) {
		c.errorf("Open: got %v, want all open issues and pull requests, oldest first: %v", numbers(list), want)
	}
	list, err = c.Search.Open(c.Context(), at(7), 1)
	if err == nil && len(list) != 130 {
		c.errorf("Open by one call: got %d of 130, without an error", len(list))
	}
	if err != nil {
		c.wantError("Open by one call", err, triage.ErrTruncated)
	}
}

func reactions(c *check) {
	for content, want := range map[string]string{"-1": "alice bob", "+1": "carol", "heart": ""} {
		list, err := c.Search.Reactions(c.Context(), at(7), 0, content)
		if !c.ok("Reactions", err) {
			return
		}
		logins := make([]string, 0, len(list))
		for _, r := range list {
			logins = append(logins, r.Actor)
			if r.At.IsZero() {
				c.errorf("Reactions: got %+v, want its time", r)
			}
		}
		slices.Sort(logins)
		if got := fmt.Sprint(logins); got != "["+want+"]" {
			c.errorf("Reactions %s: got those of %s, want %s", content, got, want)
		}
	}
	_, err := c.Search.Reactions(c.Context(), at(7), 987654321, "-1")
	c.wantError("Reactions to an absent comment", err, triage.ErrNotFound, triage.ErrGone)
}

// manyReactions returns a repository with 401 reactions to issue 7.
func manyReactions() Repo {
	r := small()
	for k := range 399 {
		r.Issues[0].Reactions = append(r.Issues[0].Reactions, Reaction{fmt.Sprint("user-", k), "-1"})
	}
	return r
}

func reactionsTruncated(c *check) {
	_, err := c.Search.Reactions(c.Context(), at(7), 0, "-1")
	c.wantError("Reactions of 401 accounts", err, triage.ErrTruncated)
}
