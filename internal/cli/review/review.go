// Package review checks the rules of a pull request that changes them.
package review

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/backtest"
	"github.com/org/foreman-action/internal/cli/failure"
	"github.com/org/foreman-action/internal/cli/format"
	"github.com/org/foreman-action/internal/cli/remote"
	"github.com/org/foreman-action/internal/cli/replay"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/policy"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules/ruletest"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

// The limits of the replay for a pull request. They leave calls for the repository's other runs.
const (
	reviewIssues  = 300
	reviewPeriod  = 365 * 24 * time.Hour
	reviewReserve = 400 // calls per hour
	reviewTime    = 2 * time.Minute
	maxReview     = 8000
	reviewKey     = "foreman-rules"
)

// Options are the dependencies of a review. Fields are required unless marked optional.
type Options struct {
	Client  *github.Client
	Changed Changed // by the pull request
	Event   triage.Delivery
	Load    config.Spec    // how the rules in force were loaded
	InForce *config.Config // as loaded; nil: no rules are in force
	// Effective is InForce with the settings of the step applied. A review does not change it.
	Effective *config.Config
	Login     string // under which Foreman acts; empty: [runner.DefaultBot]
	DryRun    bool   // write no comment
	Task      runner.TaskIdentity
	Clock     runner.Clock
	Log       *slog.Logger
}

// A Verdict is the result of a review. The zero value: the rules did not change.
type Verdict struct {
	Text     string // Markdown; empty: the rules did not change
	Warnings []string
	Failed   error // the rules have mistakes, or a test fails; nil: neither
}

// Run reviews a pull request that changes rules. It checks the rules for mistakes, runs their
// tests, and replays them over the issues of the last year, compared with the rules in force. It
// writes one comment and keeps it up to date. For other events the verdict is zero. An error means
// that the rules could not be read.
//
// The pull request's author wrote the files: they are only compiled and evaluated on issues.
func Run(ctx context.Context, o Options) (Verdict, error) {
	var v Verdict
	if o.Event.Pull == nil || !slices.Contains([]string{"opened", "reopened", "synchronize"}, o.Event.Action) || o.Event.SkipReason(o.bot()) != "" {
		return v, nil
	}
	changed, err := changedPaths(ctx, o.Changed, o.Event.Ref())
	if err != nil {
		// The triage is already done and most pull requests change no rules, so only warn.
		v.Warnings = append(v.Warnings, fmt.Sprintf("the rules of the pull request were not reviewed: %v", err))
		return v, nil
	}
	if !slices.ContainsFunc(changed, o.isRuleFile) {
		return v, nil // no rule file changed, so do not read the configuration
	}
	source := bounded{client: o.Client, tree: proposedTree(o.Event)}
	proposed, err := proposedRules(ctx, o, &source)
	problems, refused := failure.Problems(err), errors.Is(err, errBound)
	if err != nil && problems == nil && !refused {
		return v, fmt.Errorf("read the rules of the pull request: %w", err)
	}
	switch {
	case refused:
		if !errors.Is(err, errFewCalls) {
			v.Failed = command.Usage(fmt.Errorf("the rules of the pull request were not read: %w", err))
		}
		v.Text = head("They were not read", sanitize.Fence(text.Shorten(err.Error(), maxReview), ""))
	case problems != nil:
		v.Failed = command.Usage(problems)
		v.Text = head("They have mistakes", sanitize.Fence(text.Shorten(problems.Error(), maxReview), ""))
	default:
		v.Text, v.Failed = reviewTests(ctx, proposed)
		v.Text += "\n\n" + replayed(ctx, o, proposed)
	}
	if err := comment(ctx, o, v.Text); err != nil {
		v.Warnings = append(v.Warnings, fmt.Sprintf("the comment could not be written, so the review is only in this summary: %v", err))
	}
	return v, nil
}

func (o Options) bot() string { return cmp.Or(o.Login, runner.DefaultBot) }

// Changed lists the files that a pull request changes, as [runner.Repository] does.
type Changed interface {
	Files(ctx context.Context, ref triage.Ref) ([]triage.ChangedFile, error)
}

// changedPaths are the paths that a pull request changes, with the earlier paths of moved files.
func changedPaths(ctx context.Context, host Changed, ref triage.Ref) ([]string, error) {
	files, err := host.Files(ctx, ref)
	paths := make([]string, 0, len(files))
	for _, f := range files {
		paths = append(paths, f.Path, f.Before)
	}
	return paths, err
}

// isRuleFile reports whether name is a rule file: one in force, or one that would be in force after
// it is added. Other files of a pull request matter only if it also changes a rule file.
func (o Options) isRuleFile(name string) bool {
	if name == config.DefaultPath || o.Load.Else != "" && name == o.Load.Else || o.Load.Path != "" && name == path.Clean(o.Load.Path) {
		return true
	}
	return o.InForce != nil && (slices.Contains(o.InForce.Files, name) || slices.ContainsFunc(o.InForce.Globs, func(glob string) bool {
		ok, err := path.Match(glob, name)
		return ok && err == nil
	}))
}

// proposedRules loads the configuration as the pull request has it. It does not load the extended
// file, because the pull request's author names that file and must not read it with our token.
func proposedRules(ctx context.Context, o Options, files config.Files) (*config.Config, error) {
	spec := o.Load
	spec.Tests, spec.Partial, spec.Optional = true, true, true
	spec.Remote = func(context.Context, config.RemoteFile) ([]byte, error) {
		return nil, failure.AccessError("a review does not read files of other repositories")
	}
	spec.Getenv = config.AnyVariable(nil) // the author must not read our variables
	cfg, err := config.Load(ctx, files, spec)
	if cfg == nil && err == nil {
		cfg = &config.Config{}
	}
	return cfg, err
}

func proposedTree(d triage.Delivery) github.Tree {
	return github.Tree{Owner: d.Repo.Owner, Repo: d.Repo.Name, Ref: fmt.Sprintf("refs/pull/%d/head", d.Number)}
}

var (
	// errBound means that a limit ended the reading of a pull request's files.
	errBound = errors.New("a limit for reading a pull request's files was reached")
	// errFewCalls is an errBound that the pull request's author did not cause.
	errFewCalls = fmt.Errorf("%w: too few calls to GitHub are left for now", errBound)
)

// Limits of the files that are read from a pull request. Its author decides how many files include
// others, and each file costs the repository a call.
const (
	maxFiles = 20
	maxBytes = 1 << 20 // of all files together
)

// bounded reads the files of a pull request, within the bounds and as long as calls are left.
type bounded struct {
	client *github.Client
	tree   github.Tree
	names  []string // of the files that were read
	globs  int
	bytes  int
}

// Read returns the content of a file.
func (b *bounded) Read(ctx context.Context, name string) ([]byte, error) {
	if err := b.mayAsk(len(b.names), "files"); err != nil {
		return nil, err
	}
	b.names = append(b.names, name)
	data, err := remote.Branch{Client: b.client, Tree: b.tree}.Read(ctx, name)
	if b.bytes += len(data); b.bytes > maxBytes {
		return nil, fmt.Errorf("%w: its rule files have more than %d bytes", errBound, maxBytes)
	}
	return data, err
}

// Glob returns the files that match a pattern.
func (b *bounded) Glob(ctx context.Context, pattern string) ([]string, error) {
	if err := b.mayAsk(b.globs, "patterns of files"); err != nil {
		return nil, err
	}
	b.globs++
	return remote.Branch{Client: b.client, Tree: b.tree}.Glob(ctx, pattern)
}

// mayAsk returns an error if another call is not permitted.
func (b *bounded) mayAsk(made int, what string) error {
	if made >= maxFiles {
		return fmt.Errorf("%w: its rules are in more than %d %s", errBound, maxFiles, what)
	}
	if left, known := b.client.Budget(); known && left <= reviewReserve {
		return errFewCalls
	}
	return nil
}

func head(what, details string) string {
	return "### The rules of this pull request\n\n" + what + ".\n\n" + details
}

// reviewTests runs the tests beside the rules.
func reviewTests(ctx context.Context, c *config.Config) (body string, failed error) {
	ctx, cancel := context.WithTimeout(ctx, reviewTime)
	defer cancel()
	results := make([]ruletest.Result, 0, len(c.Tests))
	for _, t := range c.Tests {
		if ctx.Err() != nil {
			what := fmt.Sprintf("their tests take too long: %d of %d were run", len(results), len(c.Tests))
			return head("**"+what+"**", ""), command.Failed(errors.New("the rules of the pull request: " + what))
		}
		results = append(results, ruletest.Run(ctx, c.Rules, t, c.Policy))
	}
	n := format.Failures(results)
	switch {
	case len(results) == 0:
		return head("They have no tests", ""), nil
	case n == 0:
		return head("All of "+format.Count(len(results), "test")+" pass", ""), nil
	}
	var b strings.Builder
	for _, r := range results {
		if !r.Passed() && b.Len() < maxReview {
			format.WriteFailure(&b, r, format.Painter{})
		}
	}
	what := fmt.Sprintf("%d of %s fail", n, format.Count(len(results), "test"))
	return head("**"+what+"**", sanitize.Fence(text.Shorten(b.String(), maxReview), "text")), command.Failed(errors.New("the rules of the pull request: " + what))
}

// replayed is the result of the replay in Markdown, or the reason why there is none.
func replayed(ctx context.Context, o Options, proposed *config.Config) string {
	ctx, cancel := context.WithTimeout(ctx, reviewTime) // untrusted rules may be slow
	defer cancel()
	now := o.Clock.Now().UTC()
	result, _, err := replay.Run(ctx, replay.Options{
		Client: o.Client, Tree: github.Tree{Owner: o.Event.Repo.Owner, Repo: o.Event.Repo.Name}, Reserve: reviewReserve,
		Backtest: backtest.Options{
			Repo: o.Event.FullRepo(), Config: proposed, Old: o.InForce, OldName: "the rules in force",
			Since: now.Add(-reviewPeriod), Limit: reviewIssues, Bot: o.bot(), Now: now,
		},
	})
	if err != nil {
		return "The replay failed: " + sanitize.Value(text.Shorten(err.Error(), maxReview))
	}
	return backtest.Markdown(result)
}

// comment creates or updates the one comment about the rules, if the policy in force permits it.
func comment(ctx context.Context, o Options, body string) error {
	if o.DryRun || o.Effective.Mode == config.ModeShadow {
		return nil
	}
	if len(body) > policy.MaxCommentLength {
		// The note comes first, because the end of the shortened text could be inside code or a folded
		// part.
		body = "The summary of the run contains the whole text.\n\n" + text.Shorten(body, policy.MaxCommentLength/2)
	}
	task := o.Task
	task.ID = protocol.DeriveTaskID(task.ID, reviewKey)
	r, err := runner.New(runner.Options{
		Config: o.Effective, Host: remote.HostOf(o.Client, o.Login), Clock: o.Clock, Log: o.Log,
	})
	if err != nil {
		return err
	}
	result, err := r.Comment(ctx, task, o.Event, reviewKey, body)
	if err == nil && result.State != triage.Done {
		return errors.New(result.Reason)
	}
	return err
}
