package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/backtest"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/internal/strictyaml"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

const backtestHelp = `Replays the rules over the issues of a repository, and compares what they would have
done with what people did: how often each rule fires, how often people agree, and where
they do not. Nothing is written on GitHub.

Every issue is taken as it was when it was opened, as far as its timeline tells; its
body is that of today. Events other than issues.opened are not replayed, nor are rules
that ask for actor.permission. The report says so. What counts as agreement stands in
the report too.

With --old the rules are compared with those of a file, or else of a branch, a tag or
a commit of the repository on GitHub: what fires newly, and what no longer.

OWNER/REPO is the repository of the workflow when it is left out. What was read is kept
in a folder (--cache), for you alone, and asked for again only where it changed. The
command stops in time before the token's calls are used up; run again, it goes on.

Environment: GITHUB_TOKEN (to read), GITHUB_API_URL, GITHUB_REPOSITORY.

Exit codes: 0 done, 1 something failed or it stopped in time, 2 a mistake in arguments
or files.`

// backtestFlags are the flags of the command backtest.
type backtestFlags struct {
	since, old, format, out, cache, bot string
	limit, links, reserve               int
	cacheNamed                          bool // by the user, who wants to know when it cannot be
}

func (a App) rulesBacktestCommand(code *int) *cobra.Command {
	var f backtestFlags
	c := &cobra.Command{
		Use:   "backtest [OWNER/REPO] [FILE…]",
		Short: "Replay rules over a repository's history, and compare them with people",
		Long:  backtestHelp,
		Example: "  foreman rules backtest octo-org/hello --since 90d\n" +
			"  foreman rules backtest octo-org/hello --old main --format html -o rules.html",
		RunE: func(c *cobra.Command, args []string) error {
			f.cacheNamed = c.Flags().Changed("cache")
			complete, err := a.backtest(c.Context(), f, args)
			if err == nil && !complete {
				*code = command.ExitFailed
			}
			return err
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.since, "since", "1y", "how far to go back: a `TIME` such as 1y, 6mo, 4w, 90d or 2026-01-31")
	fl.IntVar(&f.limit, "limit", 0, "most issues, the newest; 0: all")
	fl.StringVar(&f.old, "old", "", "`FILE`, or a ref of the repository, whose rules to compare with")
	fl.StringVar(&f.format, "format", "text", "`FORMAT` of the report: text, json, html or markdown")
	fl.StringVarP(&f.out, "output", "o", "", "`FILE` for the report (default: standard output)")
	fl.IntVar(&f.links, "links", 10, "most issues to name of each kind for a rule")
	fl.StringVar(&f.cache, "cache", a.cacheDir(), "`DIR` to keep in what was read; empty: keep nothing")
	fl.IntVar(&f.reserve, "reserve", 100, "calls per hour to leave to others who use the token")
	fl.StringVar(&f.bot, "bot-login", runner.DefaultBot, "`LOGIN` under which Foreman acts")
	return c
}

// below returns the path of a file or folder that the user names; nothing stays so.
func (a App) below(name string) string {
	dir, err := a.workDir()
	if name == "" || err != nil {
		return name
	}
	return anywhere{dir}.path(name)
}

// cacheDir is the user's folder for what can be had again.
func (a App) cacheDir() string {
	for _, name := range []string{"XDG_CACHE_HOME", "LOCALAPPDATA"} {
		if dir := a.Getenv(name); filepath.IsAbs(dir) {
			return filepath.Join(dir, "foreman")
		}
	}
	if home := a.Getenv("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".cache", "foreman")
	}
	return ""
}

// backtestFormats are the ways to write a report.
func backtestFormats() map[string]func(backtest.Report) string {
	return map[string]func(backtest.Report) string{
		"text": backtest.Text, "markdown": backtest.Markdown, "html": backtest.HTML,
		"json": func(r backtest.Report) string { return encode(r, "  ") + "\n" },
	}
}

// backtest runs the command. complete is false when it stopped in time.
func (a App) backtest(ctx context.Context, f backtestFlags, args []string) (complete bool, err error) {
	formats := backtestFormats()
	write := formats[f.format]
	if write == nil {
		names := slices.Sorted(maps.Keys(formats))
		return false, usagef("--format: want %s, got %q%s", strings.Join(names, " or "), f.format, strictyaml.DidYouMean(f.format, names))
	}
	r, names, err := a.replayOf(f, args)
	if err != nil {
		return false, err
	}
	if r.options.Config, err = a.cleanFiles(ctx, names); err != nil {
		return false, err
	}
	if f.old != "" {
		if r.options.Old, err = a.oldRules(ctx, r, f.old, names); err != nil {
			return false, err
		}
		r.options.OldName = f.old
	}
	progress := newProgress(a)
	r.options.Progress = progress.show
	report, calls, err := r.run(ctx)
	progress.end()
	if err != nil {
		return false, command.Failed(err)
	}
	a.logToStderr("%s, %d of them free because nothing had changed; %s kept from before",
		count(calls.Made, "call"), calls.Unchanged, count(calls.Kept, "answer"))
	if calls.Cache != nil {
		a.logToStderr("warning: the cache does not work, so nothing is kept: %v", calls.Cache)
	}
	if report.Stopped != nil {
		a.logToStderr("%s", report.Stopped)
	}
	return report.Stopped == nil, a.deliver(f.out, write(report))
}

// replayOf turns the flags into a replay, and returns the files whose rules it is about.
func (a App) replayOf(f backtestFlags, args []string) (replay, []string, error) {
	repo := a.Getenv("GITHUB_REPOSITORY")
	if len(args) > 0 && a.isRepo(args[0]) {
		repo, args = args[0], args[1:]
	}
	owner, name, ok := protocol.SplitRepo(repo)
	since, sinceOK := backtestSince(f.since, a.Now().UTC())
	token := a.Getenv("GITHUB_TOKEN")
	switch {
	case !ok:
		return replay{}, nil, usagef("name the repository: OWNER/REPO")
	case !sinceOK:
		return replay{}, nil, usagef("--since: want a time such as 1y, 6mo, 4w, 90d or 2026-01-31, got %q", f.since)
	case f.limit < 0, f.links < 1, f.reserve < 0:
		return replay{}, nil, usagef("--limit and --reserve want 0 or more, --links 1 or more")
	case token == "":
		return replay{}, nil, usagef("read the history of %s: %w: set GITHUB_TOKEN", repo, triage.ErrNeedsHost)
	}
	client, err := job{app: a, token: token, apiURL: a.Getenv("GITHUB_API_URL")}.host()
	return replay{
		client: client, tree: github.Tree{Owner: owner, Repo: name}, cache: a.below(f.cache), cacheNamed: f.cacheNamed, reserve: f.reserve,
		options: backtest.Options{Repo: repo, Since: since, Limit: f.limit, Links: f.links, Bot: f.bot, Now: a.Now().UTC()},
	}, args, err
}

// isRepo tells a repository from a file: it is no file, and does not end as one.
func (a App) isRepo(arg string) bool {
	_, _, ok := protocol.SplitRepo(arg)
	ext := filepath.Ext(arg)
	return ok && ext != ".yml" && ext != ".yaml" && !a.isFile(arg)
}

func (a App) isFile(name string) bool {
	info, err := os.Stat(a.below(name))
	return err == nil && info.Mode().IsRegular()
}

// backtestSince reads a day, or a time before now.
func backtestSince(s string, now time.Time) (time.Time, bool) {
	if day, err := time.Parse(time.DateOnly, s); err == nil {
		return day, !day.After(now)
	}
	digits := strings.TrimRight(s, "ymowdh")
	n, err := strconv.Atoi(digits)
	if err != nil || n < 1 || n > 10_000 {
		return time.Time{}, false
	}
	switch strings.TrimPrefix(s, digits) {
	case "y":
		return now.AddDate(-n, 0, 0), true
	case "mo":
		return now.AddDate(0, -n, 0), true
	case "w":
		return now.AddDate(0, 0, -7*n), true
	case "d":
		return now.AddDate(0, 0, -n), true
	case "h":
		return now.Add(-time.Duration(n) * time.Hour), true
	}
	return time.Time{}, false
}

// cleanFiles loads files that must have no mistakes.
func (a App) cleanFiles(ctx context.Context, names []string) (*config.Config, error) {
	cfg, problems, err := a.loadFiles(ctx, names)
	if err != nil {
		return nil, err
	}
	if errs := problems.Errors(); len(errs) > 0 {
		return nil, &usageError{errs}
	}
	return cfg, nil
}

// oldRules loads the rules to compare with: a file, or else the same files at a ref of
// the repository. Where there are none yet, there were no rules.
func (a App) oldRules(ctx context.Context, r replay, old string, names []string) (*config.Config, error) {
	if a.isFile(old) {
		return a.cleanFiles(ctx, []string{old})
	}
	spec := config.Spec{
		Rules: names, Getenv: a.anyEnv, Remote: job{app: a, token: a.Getenv("GITHUB_TOKEN"), apiURL: a.Getenv("GITHUB_API_URL")}.remote,
	}
	if len(names) == 0 {
		spec.Path = config.DefaultPath
	}
	for _, name := range names {
		if filepath.IsAbs(name) {
			return nil, usagef("--old: %s is a ref of the repository, so the files must be named as they stand there: %s", old, name)
		}
	}
	tree := r.tree
	tree.Ref = old
	cfg, err := config.Load(ctx, branch{r.client, tree}, spec)
	switch {
	case errors.Is(err, github.ErrNoRef):
		return nil, usagef("--old: %s is neither a file nor a ref of the repository: %w", old, err)
	case errors.Is(err, config.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return &config.Config{}, nil
	case problemsOf(err) != nil:
		return nil, usagef("the rules at %s have mistakes:\n%w", old, err)
	case err != nil:
		return nil, command.Failed(fmt.Errorf("read the rules at %s: %w", old, err))
	}
	return cfg, nil
}

// deliver writes a report to standard output or to a file, whole or not at all.
func (a App) deliver(name, text string) error {
	if name == "" {
		_, err := fmt.Fprint(a.Stdout, text)
		return printed(err)
	}
	path := a.below(name)
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = os.WriteFile(path, []byte(text), 0o600) // a device or a pipe stays one
	} else {
		err = replaceFile(path, []byte(text), 0o644)
	}
	if err != nil {
		return command.Failed(fmt.Errorf("write the report to %s: %w", name, err))
	}
	return nil
}
