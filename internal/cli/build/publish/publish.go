// Package publish is the command that makes a pull request of a run.
package publish

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/internal/cli/build/task"
	"github.com/org/foreman-action/internal/cli/delivery"
	cli "github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/cli/remote"
	"github.com/org/foreman-action/internal/coding/build/publish"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/triage"
)

type options struct {
	taskID     string
	repository string
	issue      string
	bundle     string
	json       bool
}

// Command returns the command publish.
func Command(env cli.Env) *cobra.Command {
	var o options
	c := &cobra.Command{
		Use:   "publish --task-id ID [--repository OWNER/REPO] [--issue OWNER/REPO#N] [--bundle FILE]",
		Short: "Push the branch of a run and open a draft pull request",
		Long: "Checks an approved run again, pushes its branch and opens a pull request, or updates the\n" +
			"one that is open. It starts no agent, and runs as often as needed. --issue gets one comment\n" +
			"with the report, however the run ended. GITHUB_TOKEN needs contents: write,\n" +
			"pull-requests: write, and for --issue issues: write.\n\n" +
			"Exit codes: 0 published, 1 objects of Git LFS have to be uploaded first, or a failure of\n" +
			"this machine, 2 usage, 7 the change contains something that must not be published,\n" +
			"9 GitHub or git failed: try again.",
		Example: "  foreman build publish --task-id issue-7 --issue octo/hello#7",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return run(c.Context(), env, o) },
	}
	c.Flags().StringVar(&o.taskID, "task-id", "", "name of the run")
	c.Flags().StringVar(&o.repository, "repository", "", "repository on GitHub, owner/repo (default: GITHUB_REPOSITORY)")
	c.Flags().StringVar(&o.issue, "issue", "", "issue that the pull request closes, owner/repo#N or its address")
	c.Flags().StringVar(&o.bundle, "bundle", "", "file with the commits of the branch, of build run --bundle")
	c.Flags().BoolVar(&o.json, "json", false, "print the result as JSON")
	return c
}

func run(ctx context.Context, env cli.Env, o options) error {
	p, err := parse(env, o)
	if err != nil {
		return err
	}
	result, err := publish.Run(ctx, p)
	if err != nil {
		return task.Classify(err)
	}
	if err := errors.Join(task.Print(env, o.json, result, human(result)), task.Summarize(env, markdown(result))); err != nil {
		return err
	}
	return command.Reported(result.ExitCode())
}

// parse returns the run to publish, and its destination.
func parse(env cli.Env, o options) (publish.Options, error) {
	var p publish.Options
	if o.taskID == "" {
		return p, command.Usagef("name the run by --task-id")
	}
	repository := o.repository
	if repository == "" {
		repository = env.Getenv("GITHUB_REPOSITORY")
	}
	owner, repo, ok := protocol.SplitRepo(repository)
	if !ok {
		return p, command.Usagef("name the repository on GitHub by --repository owner/repo, not %q", repository)
	}
	server := strings.TrimRight(env.Getenv("GITHUB_SERVER_URL"), "/")
	if server == "" {
		server = "https://github.com"
	}
	if u, err := url.Parse(server); err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return p, command.Usagef("GITHUB_SERVER_URL: want http(s)://host")
	}
	dir, err := env.WorkDir()
	if err != nil {
		return p, command.Failed(err)
	}
	access := remote.FromEnv(env)
	var issue *triage.Ref
	if o.issue != "" {
		ref, err := delivery.ParseIssue(o.issue, access.APIURL)
		if err != nil {
			return p, command.Usage(err)
		}
		issue = &ref
	}
	client, err := access.Client()
	if err != nil {
		return p, err
	}
	return publish.Options{
		Dir: dir, Environ: env.Environ(), TaskID: o.taskID, Owner: owner, Repo: repo, Issue: issue, Bundle: env.Path(o.bundle),
		Server: server, Token: access.Token, GitHub: client,
	}, nil
}

// human returns the result for a terminal.
func human(r publish.Result) string {
	line := fmt.Sprintf("%s: %s", r.TaskID, r.Status)
	if r.PRURL != nil {
		line += " as " + *r.PRURL
	}
	lines := []string{line}
	for _, p := range r.Errors {
		lines = append(lines, "  "+p.Message)
	}
	if r.CommentURL != nil {
		lines = append(lines, "  report: "+*r.CommentURL)
	}
	for i := range lines {
		lines[i] = sanitize.Log(lines[i])
	}
	return strings.Join(lines, "\n") + "\n"
}

// markdown returns the result for a job's summary.
func markdown(r publish.Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s: %s\n\n", sanitize.Markdown(r.TaskID), r.Status)
	if r.PRURL != nil {
		b.WriteString(*r.PRURL + "\n")
	}
	for _, p := range r.Errors {
		b.WriteString("- " + sanitize.Cell(p.Message, 0) + "\n")
	}
	return b.String()
}
