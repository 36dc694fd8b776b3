// Package task reads the repository and the task of a run, with the source of its text, for the
// commands of build.
package task

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/internal/cli/delivery"
	"github.com/org/foreman-action/internal/cli/files"
	cli "github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/cli/remote"
	"github.com/org/foreman-action/internal/coding/build"
	"github.com/org/foreman-action/internal/coding/build/process"
	"github.com/org/foreman-action/internal/coding/build/workspace"
	"github.com/org/foreman-action/internal/command"
)

// Flags are the flags of the commands.
type Flags struct {
	TaskID     string
	Prompt     string
	PromptFile string
	Issue      string
	Event      string
	Base       string
	Worktrees  string
	Bundle     string
}

// Register adds the flags of every command that works on one run.
func (f *Flags) Register(c *cobra.Command) {
	c.Flags().StringVar(&f.TaskID, "task-id", "", "name of the run and of its branch, foreman/ID")
	c.Flags().StringVar(&f.Worktrees, "worktrees", "", "folder for the run's repository and clones (default: in the user's state folder)")
}

// RegisterBundle adds the flag of commands whose work another machine may publish.
func (f *Flags) RegisterBundle(c *cobra.Command) {
	c.Flags().StringVar(&f.Bundle, "bundle", "", "file for the commits of the branch at the end, which build publish reads")
}

// RegisterText adds the flags of commands that begin a run.
func (f *Flags) RegisterText(c *cobra.Command) {
	c.Flags().StringVar(&f.Prompt, "prompt", "", "the task")
	c.Flags().StringVar(&f.PromptFile, "prompt-file", "", "file with the task; - is standard input")
	c.Flags().StringVar(&f.Issue, "issue", "", "issue that describes it, owner/repo#N or its address")
	c.Flags().StringVar(&f.Event, "event", "", "file with the payload of an event; the issue is read from it as it was at that time")
	c.Flags().StringVar(&f.Base, "base", "", "branch or commit on which the run starts (default: origin's default branch, else HEAD)")
}

// Options returns the options of a run, without its text.
func (f *Flags) Options(ctx context.Context, env cli.Env) (build.Options, error) {
	dir, err := env.WorkDir()
	if err != nil {
		return build.Options{}, command.Failed(err)
	}
	if f.TaskID == "" {
		return build.Options{}, command.Usagef("name the run by --task-id")
	}
	program, err := os.Executable()
	if err != nil {
		return build.Options{}, command.Failed(err)
	}
	o := build.Options{
		Dir: dir, Environ: env.Environ(), TaskID: f.TaskID, Base: f.Base, State: env.Path(f.Worktrees), Bundle: env.Path(f.Bundle),
		Runner: process.Runner{Supervisor: []string{program, "build", "supervise"}, Now: env.Now}, Now: env.Now,
		Mark: func() string { return "=====" + rand.Text() },
	}
	err = folders(ctx, env, &o)
	return o, err
}

// folders sets the folder of the runs of a checkout, unless it is given, and the one of an earlier version.
// They are outside the checkout, because other tools search the folders of a checkout.
func folders(ctx context.Context, env cli.Env, o *build.Options) error {
	checkout, err := workspace.Open(ctx, o.Dir, o.Environ)
	if err != nil {
		return command.Usage(err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	sum := sha256.Sum256([]byte(checkout.Root))
	name := filepath.Base(checkout.Root) + "-" + hex.EncodeToString(sum[:4])
	o.Former = filepath.Join(cache, "foreman", "worktrees", name)
	if o.State != "" {
		return nil
	}
	state, err := env.StateDir()
	if err != nil {
		return command.Failed(fmt.Errorf("find a folder for the run: %w; name one by --worktrees", err))
	}
	o.State = filepath.Join(state, "build", name)
	return nil
}

// maxText is the maximum size of a task's text, in bytes.
const maxText = 1 << 20

// Text returns the task, and its source. If an event's payload is supplied, it uses the issue in
// that payload, so that later edits have no effect.
func (f *Flags) Text(ctx context.Context, env cli.Env) (prompt, source string, err error) {
	given := 0
	for _, value := range []string{f.Prompt, f.PromptFile, f.Issue} {
		if value != "" {
			given++
		}
	}
	if given != 1 {
		return "", "", command.Usagef("give exactly one of --prompt, --prompt-file and --issue")
	}
	switch {
	case f.Prompt != "":
		prompt, source = f.Prompt, "--prompt"
	case f.PromptFile == "-":
		var data []byte
		data, err = files.ReadAll(env.Stdin, "standard input", maxText)
		prompt, source = string(data), "standard input"
	case f.PromptFile != "":
		var file *os.File
		if file, err = os.Open(env.Path(f.PromptFile)); err == nil {
			defer file.Close()
			var data []byte
			data, err = files.ReadAll(file, f.PromptFile, maxText)
			prompt = string(data)
		}
		source = "the file " + f.PromptFile
	default:
		prompt, source, err = f.issue(ctx, env)
	}
	if err == nil && strings.TrimSpace(prompt) == "" {
		err = command.Usagef("the task from %s is empty", source)
	}
	return prompt, source, err
}

// issue returns the text of an issue.
func (f *Flags) issue(ctx context.Context, env cli.Env) (prompt, source string, err error) {
	access := remote.FromEnv(env)
	ref, err := delivery.ParseIssue(f.Issue, access.APIURL)
	if err != nil {
		return "", "", command.Usage(err)
	}
	if f.Event != "" {
		file, err := os.Open(env.Path(f.Event))
		if err != nil {
			return "", "", command.Usage(err)
		}
		defer file.Close()
		return snapshot(file, f.Event, ref.Number, ref.String())
	}
	client, err := access.Client()
	if err != nil {
		return "", "", err
	}
	if client == nil {
		return "", "", command.Usagef("fetch %s: set GITHUB_TOKEN, or give the event's payload by --event", ref)
	}
	issue, err := client.Issue(ctx, ref)
	if err != nil {
		return "", "", command.Failed(fmt.Errorf("fetch %s: %w", ref, err))
	}
	return issueText(issue.Title, issue.Body), "the issue " + ref.String() + ", fetched now", nil
}

// snapshot returns the text of the issue in an event's payload.
func snapshot(in io.Reader, name string, number int, ref string) (prompt, source string, err error) {
	data, err := files.ReadAll(in, name, files.MaxEvent)
	if err != nil {
		return "", "", err
	}
	var payload struct {
		Issue struct {
			Number int     `json:"number"`
			Title  string  `json:"title"`
			Body   *string `json:"body"`
		} `json:"issue"`
	}
	if err := json.Unmarshal(data, &payload); err != nil {
		return "", "", command.Usagef("read the payload %s: %w", name, err)
	}
	if payload.Issue.Number != number {
		return "", "", command.Usagef("the payload %s is about issue %d, not about %s", name, payload.Issue.Number, ref)
	}
	body := ""
	if payload.Issue.Body != nil {
		body = *payload.Issue.Body
	}
	return issueText(payload.Issue.Title, body), "the issue " + ref + ", as it was at the event", nil
}

func issueText(title, body string) string {
	return strings.TrimSpace("# " + title + "\n\n" + body)
}
