package score

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/coding/contrib/contract"
	"github.com/org/foreman-action/internal/coding/contrib/controller"
	"github.com/org/foreman-action/internal/coding/contrib/hub"
	"github.com/org/foreman-action/internal/coding/contrib/session"
	"github.com/org/foreman-action/internal/scoring"
	"github.com/org/foreman-action/internal/scoring/evidence"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/triage"
)

// An Appraisal contains the data that was read about an issue, and its score.
type Appraisal struct {
	Ref      triage.Ref
	Issue    triage.Issue
	Repo     hub.Repo
	Files    []evidence.Path // of the default branch
	Evidence []evidence.Evidence
	Result   scoring.Result
	Warnings []string
}

// A Look selects an issue and the data to read about it.
type Look struct {
	Issue      triage.Ref
	Scope      string // scope in a [contract.Throttle]
	Duplicates bool   // search for work on the issue and for existing text
}

// Rules returns the configured score rules, or the built-in ones. The error is a
// [*contract.Problem] that names every mistake.
func Rules(s session.Session) (*scoring.Rules, error) {
	name := s.Config.ScoreRules
	if name == "" {
		return scoring.Builtin()
	}
	if !fs.ValidPath(name) {
		return nil, contract.Fail(contract.CodeConfig, "scoreRules: want the name of a file beside config.json, got %q", text.Quote(name))
	}
	data, err := s.Controller.ReadBeside(name)
	if err != nil {
		return nil, contract.Fail(contract.CodeConfig, "scoreRules: read %s beside the configuration: %w", name, err)
	}
	rules, err := scoring.Parse(name, data)
	if err != nil {
		return nil, &contract.Problem{Code: contract.CodeConfig, Err: fmt.Errorf("scoreRules: %w", err)}
	}
	return rules, nil
}

// Profile returns the profile of a configuration.
func Profile(c controller.Config) scoring.Profile {
	return scoring.Profile{Languages: c.Languages, Topics: c.Topics, Types: c.ContributionTypes}
}

// Appraise reads an issue and scores it. If the search for duplicates fails, Appraise adds a
// warning; the issue and its repository must be readable. The error is one of those of [hub.Hub],
// or a problem if the issue is closed or is a pull request.
func Appraise(ctx context.Context, s session.Session, h *hub.Hub, look Look) (Appraisal, error) {
	scope, ref := look.Scope, look.Issue
	rules, err := Rules(s)
	if err != nil {
		return Appraisal{}, err
	}
	if err := h.Ahead(scope, hub.IssuePath(ref), hub.RepoPath(ref), hub.TreePath(ref)); err != nil {
		return Appraisal{}, err
	}
	a := Appraisal{Ref: ref, Warnings: []string{}}
	const steps = 5
	done := 0
	report := func(what string) {
		s.Report(session.Progress{What: what, Done: done, Total: steps})
		done++
	}
	report("read the issue")
	if a.Issue, err = h.Issue(ctx, scope, ref); err != nil {
		return Appraisal{}, err
	}
	if err := open(ref, a.Issue); err != nil {
		return Appraisal{}, err
	}
	report("read the repository")
	if a.Repo, err = h.Repo(ctx, scope, ref); err != nil {
		return Appraisal{}, err
	}
	report("list the files")
	files, truncated, err := h.Tree(ctx, scope, ref)
	if blocked, ok := errors.AsType[*hub.BlockedError](err); ok && scope == contract.ScopePlan {
		return Appraisal{}, blocked // a plan needs the list of files
	}
	if err := a.lacks("The files of the repository", err); err != nil {
		return Appraisal{}, err
	}
	if truncated {
		a.Warnings = append(a.Warnings, "The repository has more files than GitHub lists; the others were not examined.")
	}
	a.Files = files
	facts := scoring.Facts{
		Issue: a.Issue, NamesFile: len(evidence.NamedPaths(a.Issue.Title+"\n"+a.Issue.Body, files)) > 0,
		Profile: Profile(s.Config), StaleAfterDays: s.Config.StaleAfterDays, Now: s.Now(),
	}
	report("look for duplicates")
	if look.Duplicates {
		facts.Unread, err = a.duplicates(ctx, h, facts.Now)
		if err != nil {
			return Appraisal{}, err
		}
	} else {
		a.Warnings = append(a.Warnings, "No search for duplicates was made.")
	}
	a.Repo.Contributing = slices.ContainsFunc(files, func(p evidence.Path) bool { return guide(p.Name) })
	a.Repo.Tests = slices.ContainsFunc(files, func(p evidence.Path) bool { return tests(p.Name) })
	facts.Repo, facts.Evidence = a.Repo.Repo, a.Evidence
	report("score")
	a.Result, err = rules.Score(facts)
	return a, err
}

// open returns a problem if the issue is closed, or if its repository accepts no contributions.
func open(ref triage.Ref, i triage.Issue) error {
	next := contract.Run(contract.ActionDiscover, "contribflow discover --json")
	switch {
	case i.PullRequest:
		return contract.Fail(contract.CodeIssueIsPull, "%s is a pull request, not an issue", ref).With(next)
	case i.State == "closed":
		return contract.Fail(contract.CodeIssueClosed, "%s is closed", ref).With(next)
	}
	return nil
}

// lacks turns the error of a read into a warning. It returns an error that has to end the command.
func (a *Appraisal) lacks(what string, err error) error {
	if err == nil {
		return nil
	}
	var reason string
	if blocked, ok := errors.AsType[*hub.BlockedError](err); ok {
		reason = blocked.Throttle.Message
	} else if problem, ok := errors.AsType[*contract.Problem](err); ok && problem.Code == contract.CodeUnreachable {
		reason = "GitHub could not be reached."
	} else if errors.Is(err, triage.ErrNotFound) {
		reason = "GitHub does not show them."
	} else {
		return err
	}
	const limit = 300
	warning := fmt.Sprintf("%s could not be read: %s", what, text.Plain(reason, limit))
	if !slices.Contains(a.Warnings, warning) {
		a.Warnings = append(a.Warnings, warning)
	}
	return nil
}

// duplicates searches for evidence that somebody works on the issue or that it is already solved.
// unread means that the open pull requests could not be read.
func (a *Appraisal) duplicates(ctx context.Context, h *hub.Hub, now time.Time) (unread bool, err error) {
	const scope = contract.ScopeDuplicate
	f := evidence.Facts{Ref: a.Ref, Issue: a.Issue, Now: now}
	pulls, total, err := h.Pulls(ctx, scope, a.Ref)
	unread = err != nil && !errors.Is(err, triage.ErrNotFound)
	if err := a.lacks("Open pull requests", err); err != nil {
		return false, err
	}
	f.Pulls, a.Repo.OpenPulls = pulls, total
	if a.Issue.Comments > 0 && len(a.Issue.Assignees) == 0 {
		const fresh = 14 * 24 * time.Hour
		f.Comments, err = h.Comments(ctx, scope, a.Ref, now.Add(-fresh))
		if err := a.lacks("The comments of the issue", err); err != nil {
			return false, err
		}
	}
	for _, name := range evidence.Compared(a.Issue, a.Files) {
		data, err := h.File(ctx, scope, a.Ref, name)
		if err := a.lacks("Files that may have the content already", err); err != nil {
			return false, err
		}
		f.Files = append(f.Files, evidence.File{Path: name, URL: a.BlobURL(name), Content: string(data)})
	}
	a.Evidence = evidence.Find(f)
	return unread, nil
}

// BlobURL returns the address of a file of the default branch.
func (a *Appraisal) BlobURL(name string) string {
	return fmt.Sprintf("%s/blob/%s/%s", a.Repo.URL, (&url.URL{Path: a.Repo.DefaultBranch}).EscapedPath(), (&url.URL{Path: name}).EscapedPath())
}

// guide reports whether a file is a guide for contributors.
func guide(name string) bool {
	dir, file := path.Split(strings.ToLower(name))
	return slices.Contains([]string{"", ".github/", "docs/"}, dir) && strings.HasPrefix(file, "contributing")
}

// tests reports whether a file belongs to tests or to continuous integration.
func tests(name string) bool {
	if strings.HasPrefix(name, ".github/workflows/") || name == ".gitlab-ci.yml" || name == ".travis.yml" || strings.HasPrefix(name, ".circleci/") {
		return true
	}
	dir, file := path.Split(name)
	for d := range strings.SplitSeq(dir, "/") {
		if slices.Contains([]string{"test", "tests", "__tests__", "spec", "e2e"}, d) {
			return true
		}
	}
	base := strings.TrimSuffix(file, path.Ext(file))
	return strings.HasSuffix(base, "_test") || strings.HasSuffix(base, ".test") || strings.HasSuffix(base, ".spec") || strings.HasPrefix(file, "test_")
}
