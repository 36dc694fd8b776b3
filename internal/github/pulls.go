package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/org/foreman-action/internal/github/rest"
	"github.com/org/foreman-action/triage"
)

// Pulls reads and writes the pull requests of a repository.
type Pulls struct {
	caller      *rest.Caller
	owner, repo string
}

// A Pull is an open pull request.
type Pull struct {
	Number int
	URL    string
	Body   string
}

// A PullText contains the texts of a pull request, which an update replaces.
type PullText struct{ Title, Body string }

// A NewPull describes a pull request between two branches of one repository.
type NewPull struct {
	PullText
	Head, Base string // names of branches
	Draft      bool
}

// ErrPullsForbidden is part of the error of [Pulls.Open] if a setting of the repository or its
// organisation forbids workflows to open pull requests.
var ErrPullsForbidden = errors.New("a setting of the repository or organisation forbids workflows to open pull requests")

// A pull is a pull request in GitHub's JSON.
type pull struct {
	Number int    `json:"number"`
	URL    string `json:"html_url"`
	Body   string `json:"body"`
	Head   struct {
		Ref  string `json:"ref"`
		Repo *struct {
			FullName string `json:"full_name"`
		} `json:"repo"` // null if the fork was deleted
	} `json:"head"`
}

func (p pull) pull() Pull { return Pull{p.Number, p.URL, p.Body} }

// Find returns the newest open pull request of a branch. It ignores branches of forks. found is
// false when there is none.
func (p Pulls) Find(ctx context.Context, branch string) (one Pull, found bool, err error) {
	o := rest.InRepository("find the pull request of the branch "+rest.Clip(branch, 100)+" in", p.owner, p.repo, rest.NeedPullsRead)
	query := url.Values{"state": {"open"}, "head": {p.owner + ":" + branch}}
	for page, err := range rest.Pages[pull](ctx, p.caller, o, fmt.Sprintf("repos/%s/%s/pulls?%s", p.owner, p.repo, query.Encode())) {
		if err != nil {
			return Pull{}, false, err
		}
		for _, one := range page {
			// GitHub ignores an invalid filter and lists all pull requests, so check the branch
			// again.
			if one.Number > 0 && one.Head.Ref == branch && one.Head.Repo != nil && strings.EqualFold(one.Head.Repo.FullName, p.owner+"/"+p.repo) {
				return one.pull(), true, nil
			}
		}
	}
	return Pull{}, false, nil
}

// Open opens a pull request. As for every write, the outcome of a failure may be unknown:
// [triage.ErrUncertain].
func (p Pulls) Open(ctx context.Context, n NewPull) (Pull, error) {
	o := rest.InRepository("open a pull request in", p.owner, p.repo, rest.NeedPullsWrite)
	in := struct {
		Title string `json:"title"`
		Head  string `json:"head"`
		Base  string `json:"base"`
		Body  string `json:"body"`
		Draft bool   `json:"draft"`
	}{n.Title, n.Head, n.Base, n.Body, n.Draft}
	var out pull
	_, err := p.caller.Do(ctx, o, rest.Call{Method: http.MethodPost, Path: fmt.Sprintf("repos/%s/%s/pulls", p.owner, p.repo), In: in, Out: &out})
	if a, ok := errors.AsType[*rest.AnswerError](err); ok && a.Status == http.StatusForbidden && strings.Contains(a.Message, "not permitted to create") {
		return Pull{}, fmt.Errorf("%w: %w", ErrPullsForbidden, err)
	}
	if err == nil && (out.Number < 1 || out.URL == "") {
		err = o.Unreadable(errors.New("it has no number or no address"))
	}
	return out.pull(), err
}

// Edit replaces the title and the body of a pull request.
func (p Pulls) Edit(ctx context.Context, number int, text PullText) error {
	ref := triage.Ref{Owner: p.owner, Repo: p.repo, Number: number}
	o := rest.OnIssue("update the pull request", ref)
	o.Need = rest.NeedPullsWrite
	in := struct {
		Title string `json:"title"`
		Body  string `json:"body"`
	}{text.Title, text.Body}
	_, err := p.caller.Do(ctx, o, rest.Call{Method: http.MethodPatch, Path: issuePath(ref, ""), In: in})
	return err
}
