// Package publish opens a pull request with the result of a run of Builder and Inspector. It
// starts no agent and runs no program of the repository. It is the only part of the pipeline that
// has a token.
//
// The run may come from another machine, on which agents worked. So the package checks the report,
// the branch and the bundle again. It calls git in a new repository, which reads the objects of
// the checkout but not its configuration, hooks and refs. The base commit must be on the base branch
// on GitHub. Its configuration names the protected paths, and so do those that this branch and the
// default branch have now.
package publish

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/org/foreman-action/internal/coding/build"
	"github.com/org/foreman-action/internal/coding/build/config"
	"github.com/org/foreman-action/internal/coding/build/machine"
	"github.com/org/foreman-action/internal/coding/build/workspace"
	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/internal/handoff"
	"github.com/org/foreman-action/triage"
)

// Options are the inputs of publishing.
type Options struct {
	Dir     string   // folder in the checkout that contains the run
	Environ []string // of the program; git gets the search path and the proxies
	TaskID  string
	Owner   string // of the repository on GitHub
	Repo    string
	Issue   *triage.Ref // gets a comment with the report; nil: none
	Bundle  string      // file with the commits of the branch; empty: the checkout has them
	Server  string      // server of the repository, such as https://github.com
	Token   string
	GitHub  *github.Client // with the same token
}

// A Status is the outcome of a publication.
type Status string

// The statuses.
const (
	Published Status = "published" // the pull request exists
	Reported  Status = "reported"  // the run was not approved; the issue has its report
	Refused   Status = "refused"   // the change contains forbidden parts
	// Incomplete means that the server lacks objects of Git LFS, which people have to upload.
	Incomplete Status = "incomplete"
	Failed     Status = "failed" // trying again may help
)

// A Result is the result of publishing.
type Result struct {
	Version int     `json:"version"` // 1
	TaskID  string  `json:"task_id"`
	Status  Status  `json:"status"`
	PRURL   *string `json:"pr_url"` // nil: there is no pull request
	// CompareURL is where people can open the pull request; nil: the branch is not on
	// GitHub.
	CompareURL *string           `json:"compare_url"`
	CommentURL *string           `json:"comment_url"` // nil: there is none
	Branch     string            `json:"branch"`
	HeadSHA    string            `json:"head_sha"`
	Errors     []handoff.Problem `json:"errors"`
}

// The exit codes. Besides, 1 is a failure of this machine and 2 is wrong usage.
const (
	exitPublished  = 0
	exitIncomplete = 1
	exitRefused    = 7
	exitFailed     = 9
)

// ExitCode returns the exit code of a program that published.
func (r Result) ExitCode() int {
	switch r.Status {
	case Incomplete:
		return exitIncomplete
	case Refused:
		return exitRefused
	case Failed:
		return exitFailed
	case Published, Reported:
	}
	return exitPublished
}

// A problem is a reason why a run cannot be published.
type problem struct {
	status Status
	list   []handoff.Problem
}

func (p *problem) Error() string { return p.list[0].Message }

func failed(code string, err error) error {
	return &problem{Failed, []handoff.Problem{{Path: "<publish>", Code: code, Message: err.Error()}}}
}

// Run publishes a run. It returns an error if the run cannot be read; the error is a
// [build.UsageError] if the caller can correct the cause. The result contains every other failure.
func Run(ctx context.Context, o Options) (Result, error) {
	if err := build.CheckTaskID(o.TaskID); err != nil {
		return Result{}, err
	}
	if o.Token == "" {
		return Result{}, &build.UsageError{Err: errors.New("publish: set GITHUB_TOKEN, with the permissions contents: write, pull-requests: write and issues: write")}
	}
	checkout, err := workspace.Open(ctx, o.Dir, o.Environ)
	if err != nil {
		return Result{}, &build.UsageError{Err: err}
	}
	ended, err := build.OpenEnded(checkout.Root, o.TaskID)
	if err != nil {
		return Result{}, err
	}
	defer ended.Close()
	p := &publication{Options: o, checkout: checkout, ended: ended, report: ended.Report}
	p.result = Result{Version: 1, TaskID: o.TaskID, Status: Published, Branch: p.report.Branch, HeadSHA: p.report.HeadSHA, Errors: []handoff.Problem{}}
	if p.report.Status != machine.Approved {
		if o.Issue == nil {
			return Result{}, &build.UsageError{Err: fmt.Errorf("the run %s was not approved: it ended as %s; only its report can be published, with --issue", o.TaskID, p.report.Status)}
		}
		p.result.Status = Reported
	} else if err := p.record(p.publish(ctx)); err != nil {
		return Result{}, err
	}
	if o.Issue != nil {
		if err := p.record(p.comment(ctx)); err != nil {
			return Result{}, err
		}
	}
	return p.result, nil
}

// A publication is a run that is being published.
type publication struct {
	Options
	checkout *workspace.Checkout
	ended    *build.Ended
	report   build.Report
	result   Result
}

// record adds a [problem] to the result, whose status is that of the first one. It returns any other
// error.
func (p *publication) record(err error) error {
	found, ok := errors.AsType[*problem](err)
	if !ok {
		return err
	}
	if len(p.result.Errors) == 0 {
		p.result.Status = found.status
	}
	p.result.Errors = append(p.result.Errors, found.list...)
	return nil
}

// publish checks the change, pushes it and opens the pull request.
func (p *publication) publish(ctx context.Context) error {
	s, err := newScratch(ctx, p.Options)
	if err != nil {
		return err
	}
	defer s.close()
	source, err := s.file(ctx, p.report.BaseSHA, config.Name)
	if err != nil {
		return failed("base", fmt.Errorf("read the configuration of the base commit: %w; check out with fetch-depth: 0", err))
	}
	c, err := config.Parse(source)
	if err != nil {
		return failed("configuration", fmt.Errorf("read the configuration of the base commit: %w", err))
	}
	there, err := s.fetch(ctx, p.checkout.Root, p.report, p.Bundle)
	if err != nil {
		return err
	}
	if err := p.check(ctx, s, c, there.trunk); err != nil {
		return err
	}
	pulls := p.GitHub.Pulls(p.Owner, p.Repo)
	pull, open, err := pulls.Find(ctx, p.report.Branch)
	if err != nil {
		return failed("github", err)
	}
	if err := s.push(ctx, p.report, there.change, publishedHead(pull.Body)); err != nil {
		return err
	}
	compare := p.compareURL()
	p.result.CompareURL = &compare
	if pull, err = p.pullRequest(ctx, pull, open, c.Publish.Draft); err != nil {
		return failed("pull_request", fmt.Errorf("%w; the branch %s is on GitHub, and people can open the pull request at %s", err, p.report.Branch, compare))
	}
	p.result.PRURL = &pull.URL
	return p.ended.SetPullRequest(pull.URL)
}

// check returns an error for a change that contains forbidden parts, or that lacks objects. c is the
// configuration of the base commit, and trunk the default branch if it is another than the base branch.
func (p *publication) check(ctx context.Context, s *scratch, c config.Config, trunk string) error {
	policies := []policy{{"the base commit", c.Publish}}
	for _, b := range []struct{ name, ref string }{{p.report.BaseBranch, refBase}, {trunk, refTrunk}} {
		if b.name == "" {
			continue
		}
		now, err := s.policy(ctx, b.name, b.ref)
		if err != nil {
			return failed("configuration", err)
		}
		policies = append(policies, now)
	}
	change, err := readChange(ctx, s.git, p.report)
	var found []handoff.Problem
	if err == nil {
		found, err = change.inspect(ctx, s.git, policies, build.HandoffFiles(c))
	}
	if err != nil {
		return failed("git", fmt.Errorf("check the change: %w", err))
	}
	if len(found) > 0 {
		return &problem{Refused, found}
	}
	missing, err := s.missing(ctx, p.report.BaseSHA, change)
	if err == nil && len(missing) > 0 {
		err = s.incomplete(ctx, p.checkout.Root, p.Owner+"/"+p.Repo, missing)
	}
	return err
}

// pullRequest opens the pull request, or updates the one that is open.
func (p *publication) pullRequest(ctx context.Context, pull github.Pull, open bool, draft bool) (github.Pull, error) {
	pulls, text := p.GitHub.Pulls(p.Owner, p.Repo), pullText(p.report, p.Owner+"/"+p.Repo, p.Issue)
	if !open {
		made, err := pulls.Open(ctx, github.NewPull{PullText: text, Head: p.report.Branch, Base: p.report.BaseBranch, Draft: draft})
		if err == nil {
			return made, nil
		}
		// The pull request may exist nevertheless, because GitHub's answer was lost or another run
		// opened it.
		var findErr error
		if pull, open, findErr = pulls.Find(ctx, p.report.Branch); findErr != nil || !open {
			return made, advice(err)
		}
	}
	return pull, pulls.Edit(ctx, pull.Number, text)
}

// advice adds the remedy to the error of a pull request that could not be opened.
func advice(err error) error {
	switch permission, denied := errors.AsType[*triage.PermissionError](err); {
	case errors.Is(err, github.ErrPullsForbidden):
		return fmt.Errorf("%w: enable \"Allow GitHub Actions to create and approve pull requests\" in the settings of the repository or the organisation, or use another token", err)
	case denied:
		return fmt.Errorf("%w: the job that publishes needs the permission %q", err, permission.Need)
	case errors.Is(err, triage.ErrUncertain):
		return fmt.Errorf("%w: the pull request may exist already; publish again, which never opens a second one", err)
	case strings.Contains(strings.ToLower(err.Error()), "draft"):
		return fmt.Errorf("%w: if the repository does not support drafts, set publish: {draft: false} in %s", err, config.Name)
	}
	return err
}

// compareURL returns the page on which people can open the pull request.
func (p *publication) compareURL() string {
	return p.Server + path.Join("/", p.Owner, p.Repo, "compare", escape(p.report.BaseBranch)+"..."+escape(p.report.Branch)) + "?expand=1"
}
