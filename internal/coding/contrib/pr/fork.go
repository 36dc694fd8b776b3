package pr

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/coding/contrib/contract"
	"github.com/org/foreman-action/internal/coding/contrib/controller"
	"github.com/org/foreman-action/internal/coding/contrib/gh"
	"github.com/org/foreman-action/internal/coding/contrib/publish"
	"github.com/org/foreman-action/internal/text"
)

// forkTime is the longest time for finding the fork. An account may have thousands of forks.
const forkTime = time.Minute

// fork sets the repository to push to. If there can be none, it records the reason for the gate. If
// GitHub cannot be asked, it adds a warning, and the fork has the default name.
func (c *contribution) fork(ctx context.Context, r *request) error {
	login, err := c.login(ctx)
	if err != nil {
		return err
	}
	repo := c.issue.Owner + "/" + c.issue.Repo
	name := c.session.Config.ForkName
	if strings.EqualFold(login, c.issue.Owner) {
		r.Fork.Owner = login
		c.review.refused = fmt.Sprintf("%s is the owner of %s: contributions are pushed to a fork, never to the repository itself.", login, repo)
		return nil
	}
	r.Fork = publish.Fork{Owner: login, Name: cmp.Or(name, c.issue.Repo), New: name != ""}
	if c.session.Offline {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, forkTime)
	defer cancel()
	found, refused, err := publish.Find(limited, c.gh, c.issue, login, name)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		r.warnings = append(r.warnings, fmt.Sprintf("The forks of %s could not be read, so %s is only its most likely fork of %s: %v.", login, r.Fork, repo, err))
	case refused != "":
		c.review.refused, r.Fork = refused, publish.Fork{Owner: login}
	default:
		r.Fork = found
	}
	return nil
}

// login returns the owner of the fork.
func (c *contribution) login(ctx context.Context) (string, error) {
	if owner := c.session.Config.ForkOwner; owner != nil {
		return *owner, nil
	}
	if c.session.Offline {
		return "", contract.Fail(contract.CodeAuth, `the owner of the fork is unknown offline: set "forkOwner" in %s`, controller.ConfigPath)
	}
	login, err := c.gh.Login(ctx)
	if err != nil {
		p := gh.Problem(err)
		if gh.Refused(err) {
			p.Next = c.session.SignIn(c.gh.Host)
		}
		return "", p
	}
	if !controller.IsOwner(login) {
		return "", contract.Fail(contract.CodeInternal, "gh api user --jq .login printed %q, which is not a login", text.Quote(login))
	}
	return login, nil
}
