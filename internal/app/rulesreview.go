package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/backtest"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/internal/strictyaml"
	"github.com/org/foreman-action/policy"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules/ruletest"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

// The bounds of the replay for a pull request: what the repository's other runs need is
// left to them.
const (
	reviewIssues  = 300
	reviewPeriod  = 365 * 24 * time.Hour
	reviewReserve = 400 // calls per hour
	reviewTime    = 2 * time.Minute
	maxReview     = 8000
	reviewKey     = "foreman-rules"
)

// reviewRules looks at the rules of a pull request that changes them: their mistakes,
// their tests, and what they would have done to the issues of the last year, against the
// rules in force. It says so in the summary, and in one comment that is kept up to date.
// The error says that they have mistakes, or that a test fails.
//
// The files are the author's: they are compiled and asked about issues, and nothing else.
func (j job) reviewRules(ctx context.Context, host *github.Client, res *result) error {
	if j.event.Pull == nil || !slices.Contains([]string{"opened", "reopened", "synchronize"}, j.event.Action) || j.event.SkipReason(j.bot()) != "" {
		return nil
	}
	changed, err := changedPaths(ctx, host, j.event.Ref())
	if err != nil {
		// What was triaged is triaged, and most pull requests change no rules.
		res.report.Warnings = append(res.report.Warnings, fmt.Sprintf("whether the pull request changes the rules is not known: %v", err))
		return nil
	}
	if !slices.ContainsFunc(changed, isYAML) {
		return nil
	}
	proposed, err := j.proposedRules(ctx, host)
	problems := problemsOf(err)
	switch {
	case problems != nil:
	case err != nil:
		return fmt.Errorf("read the rules of the pull request: %w", err)
	}
	if !slices.ContainsFunc(changed, ruleFiles(res.config, proposed, problems)) {
		return nil
	}
	var failed error
	switch {
	case problems != nil:
		failed = &usageError{problems}
		res.review = reviewHead("They have mistakes", sanitize.Fence(clip(problems.Error(), maxReview), ""))
	default:
		res.review, failed = reviewTests(ctx, proposed)
		res.review += "\n\n" + j.replayed(ctx, host, res.config, proposed)
	}
	if err := j.comment(ctx, host, *res); err != nil {
		res.report.Warnings = append(res.report.Warnings, fmt.Sprintf("what the rules of the pull request do stands in this summary only: %v", err))
	}
	if failed != nil {
		res.report.Status, res.report.Reason = runner.StatusFailed, failed.Error()
		if res.report.Executed > 0 {
			res.report.Status = runner.StatusPartial
		}
	}
	return failed
}

// changedPaths are the paths that a pull request changes, those of moved files before too.
func changedPaths(ctx context.Context, host *github.Client, ref triage.Ref) ([]string, error) {
	files, err := host.Files(ctx, ref)
	paths := make([]string, 0, len(files))
	for _, f := range files {
		paths = append(paths, f.Path, f.Before)
	}
	return paths, err
}

func isYAML(name string) bool {
	return strings.HasSuffix(name, ".yml") || strings.HasSuffix(name, ".yaml")
}

// proposedRules loads the configuration as the pull request has it. What it extends is
// left out: its author names the file, and our token must not read it for them.
func (j job) proposedRules(ctx context.Context, host *github.Client) (*config.Config, error) {
	tree := github.Tree{Owner: j.event.Repo.Owner, Repo: j.event.Repo.Name, Ref: fmt.Sprintf("refs/pull/%d/head", j.event.Number)}
	spec := j.load
	spec.Tests, spec.Partial, spec.Optional, spec.Remote, spec.Getenv = true, true, true, nil, func(name string) string {
		return "https://" + strings.ToLower(name) + ".example.com" // a value that suits everything, and is nobody's
	}
	cfg, err := config.Load(ctx, branch{host, tree}, spec)
	if cfg == nil && err == nil {
		cfg = &config.Config{}
	}
	return cfg, err
}

// ruleFiles tells the files that hold the rules, before the pull request or after it.
func ruleFiles(old, proposed *config.Config, problems strictyaml.Problems) func(string) bool {
	names := map[string]bool{config.DefaultPath: true}
	for _, c := range []*config.Config{old, proposed} {
		if c != nil {
			for _, name := range c.Files {
				names[name] = true
			}
		}
	}
	for _, p := range problems {
		names[p.File] = true
	}
	return func(name string) bool { return names[name] }
}

func reviewHead(what, details string) string {
	return "### The rules of this pull request\n\n" + what + ".\n\n" + details
}

// reviewTests runs the tests beside the rules.
func reviewTests(ctx context.Context, c *config.Config) (text string, failed error) {
	ctx, cancel := context.WithTimeout(ctx, reviewTime)
	defer cancel()
	results := make([]ruletest.Result, 0, len(c.Tests))
	for _, t := range c.Tests {
		if ctx.Err() != nil {
			what := fmt.Sprintf("their tests take too long: %d of %d were run", len(results), len(c.Tests))
			return reviewHead("**"+what+"**", ""), command.Failed(errors.New("the rules of the pull request: " + what))
		}
		results = append(results, runner.Test(c, t))
	}
	n := failures(results)
	switch {
	case len(results) == 0:
		return reviewHead("They have no tests", ""), nil
	case n == 0:
		return reviewHead("All of "+count(len(results), "test")+" pass", ""), nil
	}
	var b strings.Builder
	for _, r := range results {
		if !r.Passed() && b.Len() < maxReview {
			writeFailure(&b, r, painter{})
		}
	}
	what := fmt.Sprintf("%d of %s fail", n, count(len(results), "test"))
	return reviewHead("**"+what+"**", sanitize.Fence(clip(b.String(), maxReview), "text")), command.Failed(errors.New("the rules of the pull request: " + what))
}

// replayed is what the rules would have done, in Markdown, or why nobody knows.
func (j job) replayed(ctx context.Context, host *github.Client, old, proposed *config.Config) string {
	ctx, cancel := context.WithTimeout(ctx, reviewTime) // rules of a stranger may be slow
	defer cancel()
	now := j.app.Now().UTC()
	report, _, err := replay{
		client: host, tree: github.Tree{Owner: j.event.Repo.Owner, Repo: j.event.Repo.Name}, reserve: reviewReserve,
		options: backtest.Options{
			Repo: j.event.FullRepo(), Config: proposed, Old: old, OldName: "the rules in force",
			Since: now.Add(-reviewPeriod), Limit: reviewIssues, Bot: j.bot(), Now: now,
		},
	}.run(ctx)
	if err != nil {
		return "What they would have done is not known: " + sanitize.Value(clip(err.Error(), maxReview))
	}
	return backtest.Markdown(report)
}

// comment keeps the one comment about the rules up to date, as far as the policy in force
// permits it.
func (j job) comment(ctx context.Context, host *github.Client, res result) error {
	cfg := j.effective(res.config)
	if j.dryRun || cfg.Mode == config.ModeShadow {
		return nil
	}
	body := res.review
	if len(body) > policy.MaxCommentLength {
		body = clip(body, policy.MaxCommentLength/2) + "\n\nThe rest stands in the summary of the run."
	}
	r, err := runner.New(runner.Options{
		Config: cfg, Host: hostOf(host, j.override.bot), Clock: runner.Clock{Now: j.app.Now, Sleep: j.app.Sleep}, Log: j.log,
		Task: runner.TaskIdentity{ID: protocol.DeriveTaskID(j.taskID, reviewKey), Scope: j.scope, Nonce: j.nonce, Resumed: j.resumed},
	})
	if err != nil {
		return err
	}
	result, err := r.Comment(ctx, j.event, reviewKey, body)
	if err == nil && result.State != triage.Done {
		return errors.New(result.Reason)
	}
	return err
}
