// Package demo is the command that plays a whole contribution, without a token, without the
// network and without a model.
package demo

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/coding/contrib/checkout"
	"github.com/org/foreman-action/internal/coding/contrib/contract"
	"github.com/org/foreman-action/internal/coding/contrib/controller"
	"github.com/org/foreman-action/internal/coding/contrib/diff"
	"github.com/org/foreman-action/internal/coding/contrib/discover"
	"github.com/org/foreman-action/internal/coding/contrib/initialize"
	"github.com/org/foreman-action/internal/coding/contrib/plan"
	"github.com/org/foreman-action/internal/coding/contrib/pr"
	"github.com/org/foreman-action/internal/coding/contrib/score"
	"github.com/org/foreman-action/internal/coding/contrib/session"
	"github.com/org/foreman-action/internal/coding/contrib/status"
	"github.com/org/foreman-action/internal/coding/contrib/validate"
	"github.com/org/foreman-action/internal/coding/git"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/triage"
)

// repository is the demo's repository, before and after the change. Its Go files end in .txt
// here, so that they are not part of this module.
//
//go:embed all:repository all:change
var repository embed.FS

// answers are the answers of GitHub, by the path of the request.
//
//go:embed answers.json
var answers []byte

// issue is the issue that the demo works on.
var issue = triage.Ref{Owner: "octo-org", Repo: "greeter", Number: 7}

// moment is when the answers were recorded. The demo's clock shows it.
var moment = time.Date(2026, 6, 4, 12, 0, 0, 0, time.UTC)

const note = "This validation is recorded: nothing ran. contribflow demo --docker runs it in Docker."

const approval = "A person now reads the change and approves it; only then \"contribflow pr --draft --yes\" publishes it."

// Options are the flags of the command.
type Options struct {
	Dir    string // to make it in; empty: a temporary folder
	Docker bool   // run the validation
	Image  string // for the validation; empty: the ecosystem's default image
}

// A Show formats the document of the command with a name for people.
type Show func(name string, document contract.Document) string

// Command returns the command.
func Command(env process.Env, show Show) *cobra.Command {
	var o Options
	c := &cobra.Command{
		Use:   "demo",
		Short: "Watch a whole contribution on recorded data",
		Long: `Carries out a sample contribution to a small Go repository in a temporary folder, from discovery
to the dry run of a draft pull request, and shows what each command prints; --json has all of
their documents in one. GitHub's answers are recorded
and the edit is scripted; git and all else are real. It needs git, and neither a token nor the
network.

The validation is recorded too, unless --docker runs it: Docker then needs the image of the
ecosystem, or the one that --image names.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return command.Usagef("contribflow demo takes no arguments, got %q", args[0])
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error {
			asJSON, err := c.Flags().GetBool("json")
			if err != nil {
				return command.Failed(err)
			}
			d := &demo{env: env, options: o, show: show, asJSON: asJSON}
			return d.run(c.Context())
		},
	}
	c.Flags().StringVar(&o.Dir, "dir", "", "`folder` for the demo; it must be empty (default: a temporary one, which is kept)")
	c.Flags().BoolVar(&o.Docker, "docker", false, "run the validation in Docker")
	c.Flags().StringVar(&o.Image, "image", "", "Docker `image` with Go for the validation")
	return c
}

func (d *demo) run(ctx context.Context) error {
	if _, err := exec.LookPath("git"); err != nil {
		return command.Failed(fmt.Errorf("the demo needs git: install it"))
	}
	dir, err := folder(d.env, d.options.Dir)
	if err != nil {
		return err
	}
	d.dir = dir
	if err := d.upstream(ctx); err != nil {
		return command.Failed(fmt.Errorf("make the repository of the demo: %w", err))
	}
	address, stop, err := d.serve(ctx)
	if err != nil {
		return command.Failed(fmt.Errorf("serve the recorded answers: %w", err))
	}
	defer stop()
	d.session = d.open(address)
	if err := d.play(ctx); err != nil {
		return command.Failed(err)
	}
	return nil
}

// folder returns the folder of the demo.
func folder(env process.Env, named string) (string, error) {
	if named == "" {
		dir, err := os.MkdirTemp("", "contribflow-demo-")
		if err != nil {
			return "", command.Failed(err)
		}
		return dir, nil
	}
	dir := env.Path(named)
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return "", command.Failed(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", command.Failed(err)
	}
	if len(entries) > 0 {
		return "", command.Usagef("--dir %s: the folder is not empty", named)
	}
	return dir, nil
}

// A demo is one run of the demo.
type demo struct {
	env     process.Env
	dir     string
	options Options
	show    Show
	asJSON  bool
	session session.Session
}

// write puts the files of an embedded folder into a folder.
func write(from, to string) error {
	return fs.WalkDir(repository, from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := repository.ReadFile(path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, filepath.FromSlash(strings.TrimSuffix(strings.TrimPrefix(path, from+"/"), ".txt")))
		if err := os.MkdirAll(filepath.Dir(target), 0o750); err != nil {
			return err
		}
		return os.WriteFile(target, data, 0o600)
	})
}

// github returns the folder that replaces GitHub's repositories.
func (d *demo) github() string { return filepath.Join(d.dir, "github") }

// upstream makes the repository that receives the contribution.
func (d *demo) upstream(ctx context.Context) error {
	files := filepath.Join(d.dir, "upstream")
	if err := write("repository", files); err != nil {
		return err
	}
	bare := filepath.Join(d.github(), issue.Owner, issue.Repo+".git")
	if err := os.MkdirAll(bare, 0o750); err != nil {
		return err
	}
	at := moment.Format(time.RFC3339)
	r := git.Repo{Dir: files, Environ: d.env.Environ(), Vars: []string{
		"GIT_DIR=" + bare, "GIT_WORK_TREE=" + files, "GIT_AUTHOR_NAME=Mona", "GIT_AUTHOR_EMAIL=mona@example.org", "GIT_AUTHOR_DATE=" + at,
		"GIT_COMMITTER_NAME=Mona", "GIT_COMMITTER_EMAIL=mona@example.org", "GIT_COMMITTER_DATE=" + at,
	}}
	for _, args := range [][]string{
		{"init", "--quiet", "--initial-branch=main"},
		{"add", "--all"},
		{"commit", "--quiet", "--message=Greet people by name"},
	} {
		if _, err := r.Run(ctx, args...); err != nil {
			return err
		}
	}
	return nil
}

// serve starts a server with the recorded answers of GitHub.
func (d *demo) serve(ctx context.Context) (address string, stop func(), err error) {
	var recorded map[string]json.RawMessage
	if err := json.Unmarshal(answers, &recorded); err != nil {
		return "", nil, err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	const headers = 10 * time.Second
	server := &http.Server{ReadHeaderTimeout: headers, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		answer, ok := recorded[r.URL.Path]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			answer = json.RawMessage(`{"message": "Not Found"}`)
		}
		_, _ = w.Write(answer)
	})}
	go func() { _ = server.Serve(listener) }()
	return "http://" + listener.Addr().String(), func() { _ = server.Close() }, nil
}

// open returns the session of the demo's commands. From the environment it passes on only the
// search path and Docker's variables.
func (d *demo) open(address string) session.Session {
	environ := []string{
		"GITHUB_API_URL=" + address, "GH_ENTERPRISE_TOKEN=demo",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=url.file://" + filepath.ToSlash(d.github()) + "/.insteadOf", "GIT_CONFIG_VALUE_0=https://github.com/",
	}
	for _, v := range d.env.Environ() {
		name, _, _ := strings.Cut(v, "=")
		switch {
		case strings.HasPrefix(name, "DOCKER_"), strings.EqualFold(name, "PATH"), name == "HOME", name == "TMPDIR", name == "TMP", name == "TEMP", strings.EqualFold(name, "SYSTEMROOT"):
			environ = append(environ, v)
		}
	}
	return session.Session{
		Controller: controller.Controller{Root: filepath.Join(d.dir, "contributor"), KeyFile: controller.KeyFile(d.env.Getenv)}, Dir: d.dir, Environ: environ, Config: controller.Default(),
		Now: func() time.Time { return moment }, Sleep: d.env.Sleep, Report: func(session.Progress) {}, UserAgent: "contribflow/" + d.env.Version,
	}
}

// play runs the commands in their order, and shows their output or collects their documents.
func (d *demo) play(ctx context.Context) error {
	if err := os.MkdirAll(d.session.Controller.Root, 0o750); err != nil {
		return err
	}
	owner := "mona"
	steps := []struct {
		command string
		before  string // for people, before the command
		run     func() (contract.Document, error)
	}{
		{"contribflow init --lang Go --json", "", func() (contract.Document, error) {
			return initialize.Run(d.session, initialize.Options{Languages: []string{"Go"}})
		}},
		{"contribflow discover --json", "", func() (contract.Document, error) {
			d.session.Config.Languages, d.session.Config.ForkOwner = []string{"Go"}, &owner
			if d.options.Image != "" {
				d.session.Config.Sandbox.Images = map[string]string{"go": d.options.Image}
			}
			const limit = 10
			return discover.Run(ctx, d.session, discover.Options{Limit: limit})
		}},
		{"contribflow score " + issue.String() + " --json", "", func() (contract.Document, error) {
			return score.Run(ctx, d.session, score.Options{Issue: issue})
		}},
		{"contribflow plan " + issue.String() + " --json", "", func() (contract.Document, error) {
			return plan.Run(ctx, d.session, plan.Options{Issue: issue})
		}},
		{"contribflow checkout " + issue.String() + " --json", "", func() (contract.Document, error) {
			return checkout.Run(ctx, d.session, checkout.Options{})
		}},
		{"contribflow diff --json", "(The demo edits the workspace here, as you or an agent would.)\n\n", func() (contract.Document, error) {
			if err := d.edit(); err != nil {
				return nil, err
			}
			return diff.Run(ctx, d.session)
		}},
		{"contribflow validate --run --sandbox docker --json", "", func() (contract.Document, error) { return d.validate(ctx) }},
		{"contribflow pr --draft --json", "", func() (contract.Document, error) { return pr.Run(ctx, d.session, pr.Options{}) }},
		{"contribflow next --json", "", func() (contract.Document, error) {
			facts, err := status.Facts(ctx, d.session, true)
			if err != nil {
				return nil, err
			}
			return status.Recommend(facts), nil
		}},
	}
	all := contract.Demo{Directory: d.dir, WorkspacePath: d.session.Controller.Abs(d.files().Workspace), Reason: approval}
	if !d.options.Docker {
		all.Reason = note + " " + all.Reason
	}
	for _, s := range steps {
		document, err := s.run()
		if err != nil {
			return fmt.Errorf("%s: %w", s.command, err)
		}
		all.Steps, all.Next = append(all.Steps, contract.DemoStep{Command: s.command, Document: document}), document.Step()
		if d.asJSON {
			continue
		}
		name := strings.Fields(s.command)[1]
		if err := d.env.Print(s.before + "$ " + strings.TrimSuffix(s.command, " --json") + "\n" + d.show(name, document) + "\n"); err != nil {
			return err
		}
	}
	if d.asJSON {
		data, err := contract.Encode(all)
		if err != nil {
			return err
		}
		return d.env.Print(string(data))
	}
	return d.env.Print(all.Reason + "\nEverything is in " + d.dir + "; the workspace is " + all.WorkspacePath + ".\nThe same as JSON documents: contribflow demo --json\n")
}

// files are the files of the demo's issue.
func (d *demo) files() controller.Files {
	return controller.Paths(fmt.Sprintf("%s-%s-%d", issue.Owner, issue.Repo, issue.Number))
}

// edit makes the change of the contribution, as a person or an agent would.
func (d *demo) edit() error { return write("change", d.session.Controller.Abs(d.files().Workspace)) }

// validate runs the validation in Docker, or else prints the recorded one with the commands that
// are detected now.
func (d *demo) validate(ctx context.Context) (contract.Document, error) {
	if d.options.Docker {
		return validate.Run(ctx, d.session, validate.Options{Run: true, Sandbox: validate.Docker})
	}
	v, err := validate.Run(ctx, d.session, validate.Options{})
	if err != nil {
		return v, err
	}
	passed := func(list []contract.CommandRun) {
		zero := 0
		for i := range list {
			list[i].Status, list[i].ExitCode, list[i].Reason = contract.Passed, &zero, note
			list[i].Sandbox, list[i].SandboxImage = validate.Docker, "golang:1.26-bookworm"
		}
	}
	passed(v.SetupCommands)
	passed(v.Commands)
	v.Status, v.BlocksPR, v.RequiresHumanApproval, v.Reason = contract.Passed, false, false, note
	v.Next = contract.Run(contract.ActionDraftPR, "contribflow pr --draft --json")
	return v, d.session.Controller.WriteSealed(d.files().Validation, v)
}
