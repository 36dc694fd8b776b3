// Package backtest is the command that replays rules over a repository's history.
package backtest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/backtest"
	"github.com/org/foreman-action/internal/cli/failure"
	"github.com/org/foreman-action/internal/cli/files"
	"github.com/org/foreman-action/internal/cli/format"
	"github.com/org/foreman-action/internal/cli/group"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/cli/remote"
	"github.com/org/foreman-action/internal/cli/replay"
	"github.com/org/foreman-action/internal/cli/rulefiles"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/duration"
	"github.com/org/foreman-action/internal/evidence"
	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner"
)

const help = `Replays the rules over the issues of a repository, and compares their decisions with
people's: how often each rule fires, how often people agree, and where they do not.
Nothing is written on GitHub.

Every issue is replayed as of its opening, as far as its timeline shows that; its body
is that of today. Events other than issues.opened, and rules that use actor.permission,
are not replayed. The report lists them, and defines agreement.

With --old the rules are compared with those of a file, or else of a branch, a tag or
a commit of the repository on GitHub: which rules fire newly, and which no longer.

--write-evidence writes what people did with the labels of each rule: only labels that
a person other than the issue's author added or removed count, and no label of Foreman.

OWNER/REPO defaults to the repository of the workflow. Answers are cached in a folder
(--cache) that only you can read, and read again only after a change. The command stops
before the token's calls are used up; the next run continues.

Environment: GITHUB_TOKEN (to read), GITHUB_API_URL, GITHUB_REPOSITORY.

Exit codes: 0 done, 1 a failure or a stop before the end, 2 a mistake in arguments
or files.`

// Options are all that the command depends on.
type Options struct {
	Env        process.Env
	Args       []string // OWNER/REPO, which may be left out, and files
	Since      string   // how far to go back, such as 1y or 2026-01-31
	Old        string   // a file, or a ref of the repository, to compare with; empty: no comparison
	Format     string   // of the report: text, json, html or markdown
	Output     string   // file for the report; see [process.OutputFile]
	Evidence   string   // file for the evidence; empty: none
	Cache      string   // folder of the cache; empty: none
	CacheNamed bool     // the user named the cache, so an unusable one is an error
	Bot        string   // login under which Foreman acts
	Limit      int      // most issues; 0: all
	Links      int      // maximum number of listed issues of each kind for a rule
	Reserve    int      // calls per hour to leave to others
}

// Command returns the command with its flags.
func Command(env process.Env) *cobra.Command {
	o := Options{Env: env}
	c := &cobra.Command{
		Use:   "backtest [OWNER/REPO] [FILE…]",
		Short: "Replay rules over a repository's history, and compare them with people",
		Long:  help,
		Example: "  foreman rules backtest octo-org/hello --since 90d\n" +
			"  foreman rules backtest octo-org/hello --old main --format html -o rules.html",
		RunE: func(c *cobra.Command, args []string) error {
			o.Args, o.CacheNamed = args, c.Flags().Changed("cache")
			return Run(c.Context(), o)
		},
	}
	fl := c.Flags()
	fl.StringVar(&o.Since, "since", "1y", "beginning of the replayed time: a `TIME` such as 1y, 6mo, 4w, 90d or 2026-01-31")
	fl.IntVar(&o.Limit, "limit", 0, "maximum number of issues, the newest first; 0: all")
	fl.StringVar(&o.Old, "old", "", "`FILE`, or a ref of the repository, whose rules to compare with")
	fl.StringVar(&o.Format, "format", "text", "`FORMAT` of the report: text, json, html or markdown")
	group.Values(c, "format", "text", "json", "html", "markdown")
	group.JSONFlag(c, "print the report as JSON, like --format json")
	fl.StringVarP(&o.Output, "output", "o", "", "`FILE` for the report (default: standard output)")
	fl.StringVar(&o.Evidence, "write-evidence", "", "`FILE` for the results by rule, action and label, as a start of the rules' track records")
	fl.IntVar(&o.Links, "links", 10, "maximum number of listed issues of each kind for a rule")
	fl.StringVar(&o.Cache, "cache", cacheDir(env.Getenv), "`DIR` of the cache; empty: no cache")
	fl.IntVar(&o.Reserve, "reserve", 100, "calls per hour to leave to others who use the token")
	fl.StringVar(&o.Bot, "bot-login", runner.DefaultBot, "`LOGIN` under which Foreman acts")
	return c
}

// cacheDir is the user's cache folder.
func cacheDir(getenv func(string) string) string {
	for _, name := range []string{"XDG_CACHE_HOME", "LOCALAPPDATA"} {
		if dir := getenv(name); filepath.IsAbs(dir) {
			return filepath.Join(dir, "foreman")
		}
	}
	if home := getenv("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".cache", "foreman")
	}
	return ""
}

// formats are the ways to write a report.
func formats() map[string]func(backtest.Report) string {
	return map[string]func(backtest.Report) string{
		"text": backtest.Text, "markdown": backtest.Markdown, "html": backtest.HTML,
		"json": func(r backtest.Report) string { return format.JSON(r, "  ") + "\n" },
	}
}

// Run replays the rules, and prints the report or writes it to a file. If the replay stopped early,
// the error is a [command.ReportedError].
func Run(ctx context.Context, o Options) error {
	write := formats()[o.Format]
	if write == nil {
		names := slices.Sorted(maps.Keys(formats()))
		return command.Usagef("--format: want %s, got %q%s", strings.Join(names, " or "), o.Format, yamlfile.DidYouMean(o.Format, names))
	}
	r, names, err := replayOf(o)
	if err != nil {
		return err
	}
	if r.Backtest.Config, err = rulefiles.LoadValid(ctx, o.Env, names); err != nil {
		return err
	}
	if o.Old != "" {
		if r.Backtest.Old, err = oldRules(ctx, o.Env, r, o.Old, names); err != nil {
			return err
		}
		r.Backtest.OldName = o.Old
	}
	shown := progress{env: o.Env}
	r.Backtest.Progress = shown.show
	result, calls, err := replay.Run(ctx, r)
	shown.end()
	if err != nil {
		return command.Failed(err)
	}
	o.Env.Log("%s, %d of them free because the data had not changed; %s from the cache",
		format.Count(calls.Made, "call"), calls.Unchanged, format.Count(calls.Kept, "answer"))
	if calls.Cache != nil {
		o.Env.Log("warning: the cache is unusable, and answers are not stored: %v", calls.Cache)
	}
	if result.Stopped != nil {
		o.Env.Log("%s", result.Stopped)
	} else if err := writeEvidence(o, result); err != nil {
		return err
	}
	if err := files.Deliver(o.Env, "report", process.OutputFile(o.Output), write(result)); err != nil {
		return err
	}
	if result.Stopped != nil {
		return command.Reported(command.ExitFailed)
	}
	return nil
}

// replayOf converts the options, and returns the files that contain the rules.
func replayOf(o Options) (replay.Options, []string, error) {
	repo, args := o.Env.Getenv("GITHUB_REPOSITORY"), o.Args
	if len(args) > 0 && isRepo(o.Env, args[0]) {
		repo, args = args[0], args[1:]
	}
	now := o.Env.Now().UTC()
	owner, name, ok := protocol.SplitRepo(repo)
	since, sinceOK := duration.Since(o.Since, now)
	access := remote.FromEnv(o.Env)
	switch {
	case !ok:
		return replay.Options{}, nil, command.Usagef("name the repository: OWNER/REPO")
	case !sinceOK:
		return replay.Options{}, nil, command.Usagef("--since: want a time such as 1y, 6mo, 4w, 90d or 2026-01-31, got %q", o.Since)
	case o.Limit < 0, o.Links < 1, o.Reserve < 0:
		return replay.Options{}, nil, command.Usagef("--limit and --reserve want 0 or more, --links 1 or more")
	case o.Evidence != "" && process.OutputFile(o.Evidence) == process.OutputFile(o.Output):
		return replay.Options{}, nil, command.Usagef("--write-evidence and --output name the same file")
	case access.Token == "":
		return replay.Options{}, nil, command.Usagef("read the history of %s: %w", repo, failure.ErrNoToken)
	}
	client, err := access.Client()
	return replay.Options{
		Client: client, Tree: github.Tree{Owner: owner, Repo: name}, Cache: o.Env.Path(o.Cache), CacheNamed: o.CacheNamed, Reserve: o.Reserve,
		Backtest: backtest.Options{Repo: repo, Since: since, Limit: o.Limit, Links: o.Links, Bot: o.Bot, Now: now},
	}, args, err
}

// isRepo reports whether arg names a repository: no such file exists, and arg does not end in .yml
// or .yaml.
func isRepo(env process.Env, arg string) bool {
	_, _, ok := protocol.SplitRepo(arg)
	ext := filepath.Ext(arg)
	return ok && ext != ".yml" && ext != ".yaml" && !isFile(env, arg)
}

func isFile(env process.Env, name string) bool {
	info, err := os.Stat(env.Path(name))
	return err == nil && info.Mode().IsRegular()
}

// oldRules loads the rules to compare with: from a file, or else from the same files at a ref of
// the repository. If the ref does not have the files, there are no old rules.
func oldRules(ctx context.Context, env process.Env, r replay.Options, old string, names []string) (*config.Config, error) {
	if isFile(env, old) {
		return rulefiles.LoadValid(ctx, env, []string{old})
	}
	spec := config.Spec{Rules: names, Getenv: config.AnyVariable(env.Getenv), Remote: remote.FromEnv(env).File}
	if len(names) == 0 {
		spec.Path, spec.Else = config.DefaultPath, config.OtherPath
	}
	for _, name := range names {
		if filepath.IsAbs(name) {
			return nil, command.Usagef("--old: %s is a ref of the repository; name the files by their paths in the repository, not %s", old, name)
		}
	}
	tree := r.Tree
	tree.Ref = old
	cfg, err := config.Load(ctx, remote.Branch{Client: r.Client, Tree: tree}, spec)
	switch {
	case errors.Is(err, github.ErrNoRef):
		return nil, command.Usagef("--old: %s is neither a file nor a ref of the repository: %w", old, err)
	case errors.Is(err, config.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return &config.Config{}, nil
	case failure.Problems(err) != nil:
		return nil, command.Usagef("the rules at %s have mistakes:\n%w", old, err)
	case err != nil:
		return nil, command.Failed(fmt.Errorf("read the rules at %s: %w", old, err))
	}
	return cfg, nil
}

// writeEvidence writes the evidence of a replay that reached its end.
func writeEvidence(o Options, r backtest.Report) error {
	if o.Evidence == "" {
		return nil
	}
	data, err := evidence.Encode(r.Evidence)
	if err != nil {
		return command.Failed(err)
	}
	return files.Deliver(o.Env, "evidence", process.OutputFile(o.Evidence), string(data))
}
