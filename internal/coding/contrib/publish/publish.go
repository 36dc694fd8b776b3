package publish

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/coding/contrib/contract"
	"github.com/org/foreman-action/internal/coding/contrib/gh"
	"github.com/org/foreman-action/internal/coding/contrib/session"
	"github.com/org/foreman-action/internal/coding/contrib/snapshot"
	"github.com/org/foreman-action/internal/coding/contrib/state"
	"github.com/org/foreman-action/internal/coding/git"
	"github.com/org/foreman-action/internal/secret"
	"github.com/org/foreman-action/internal/text"
)

// A Job is a request with the location of its change.
type Job struct {
	Request
	Clone   snapshot.Clone
	BaseSHA string // of the commit that the workspace was made from
	Digest  string // of the reviewed patch; no other is published
	Body    string // the content of BodyFile
	Made    string // the commit that an earlier attempt recorded; empty: none
	// Record stores the commit that is pushed next.
	Record func(commit string) error
	// CheckBase asks the server whether BaseSHA is on the base branch. It uses the token.
	CheckBase func(ctx context.Context, token string) error
}

// A Result is the outcome of a run.
type Result struct {
	URL    string // of the pull request
	Steps  []contract.Step
	Failed string // the command that failed; empty: none
	Log    string // the output of the programs, without secrets
	// Next is the step that a person must take before another attempt; empty: none is known.
	Next contract.Next
}

// A publisher runs the planned commands.
type publisher struct {
	session    session.Session
	job        Job
	login      string // of gh's account
	gh         gh.CLI
	snapshot   *snapshot.Snapshot
	repository *repository
	secrets    []string
	log        strings.Builder
	result     Result
}

// Run runs the commands of a request. It skips commands that an earlier attempt has completed.
// After an error, the result contains the steps up to the failed one.
func Run(ctx context.Context, s session.Session, job Job) (Result, error) {
	p, err := prepare(ctx, s, job)
	if err != nil {
		return Result{}, err
	}
	defer p.close()
	err = p.run(ctx)
	p.result.Log = p.log.String()
	return p.result, err
}

// prepare makes the repository that is committed to and pushed from.
func prepare(ctx context.Context, s session.Session, job Job) (*publisher, error) {
	p := &publisher{session: s, job: job, gh: gh.CLI{Dir: s.Controller.Root, Environ: s.Environ, Host: session.HostOf(job.Server)}}
	if _, err := exec.LookPath("gh"); err != nil {
		return nil, gh.Problem(gh.ErrMissing)
	}
	by, err := p.author(ctx)
	if err != nil {
		return nil, err
	}
	token, err := p.token(ctx)
	if err != nil {
		return nil, err
	}
	if err := job.CheckBase(ctx, token); err != nil {
		return nil, err
	}
	remote := git.Remote{Server: job.Server, Token: token, Environ: s.Environ, Rewrites: true}
	p.secrets = remote.Secrets()
	if p.snapshot, err = snapshot.Take(ctx, job.Clone, job.BaseSHA); err != nil {
		return nil, err
	}
	if err = p.judged(ctx, job.Digest); err == nil {
		if p.repository, err = newRepository(ctx, p.snapshot, job.Request, by, remote); err != nil {
			err = fmt.Errorf("make the repository to publish from: %w", err)
		}
	}
	if err != nil {
		p.snapshot.Close()
		return nil, err
	}
	return p, nil
}

// judged returns an error if the snapshot differs from the patch that passed the review gate.
func (p *publisher) judged(ctx context.Context, digest string) error {
	patch, _, err := p.snapshot.Patch(ctx)
	if err == nil && p.snapshot.Digest(patch) != digest {
		err = errors.New("the workspace changed since the review gate judged it; run the dry run again")
	}
	return err
}

func (p *publisher) close() {
	p.repository.close()
	p.snapshot.Close()
}

// An author is the author of the commit.
type author struct{ name, email string }

// vars returns the variables that name the author for git.
func (a author) vars() []string {
	return []string{"GIT_AUTHOR_NAME=" + a.name, "GIT_AUTHOR_EMAIL=" + a.email, "GIT_COMMITTER_NAME=" + a.name, "GIT_COMMITTER_EMAIL=" + a.email}
}

// author returns the author that the environment or the user's git configuration names.
func (p *publisher) author(ctx context.Context) (author, error) {
	user := git.Repo{Dir: p.session.Controller.Root, Environ: p.session.Environ, UserConfig: true}
	values := map[string]string{}
	for _, key := range []string{"name", "email"} {
		values[key] = p.session.Getenv("GIT_AUTHOR_" + strings.ToUpper(key))
		if values[key] == "" {
			out, err := user.Run(ctx, "config", "--get", "user."+key)
			if err == nil {
				values[key] = strings.TrimSpace(string(out))
			}
		}
		if values[key] == "" {
			return author{}, contract.Fail(contract.CodeConfig, "git has no identity for the commit: set it with git config --global user.%s", key).
				With(contract.Instruct(contract.ActionFixError, "Set user.name and user.email with git config --global, then run: "+state.CommandCreate))
		}
	}
	return author{values["name"], values["email"]}, nil
}

// token returns the token for git.
func (p *publisher) token(ctx context.Context) (string, error) {
	if token, _ := p.session.Token(p.gh.Host); token != "" {
		return token, nil
	}
	token, err := p.gh.Token(ctx)
	if err != nil {
		return "", gh.Problem(err)
	}
	return token, nil
}

// run runs the commands in their order.
func (p *publisher) run(ctx context.Context) error {
	commands := p.job.Commands()
	for i, c := range commands {
		p.session.Report(session.Progress{What: c.String(), Done: i, Total: len(commands)})
		found, err := p.done(ctx, c.step)
		step := contract.Step{Command: c.String(), Status: contract.Skipped, Reason: found.reason}
		if err == nil && found.reason == "" {
			step.Status = contract.Passed
			found.url, err = p.execute(ctx, c)
		}
		if err != nil && c.step == stepAuth && !errors.Is(err, gh.ErrMissing) {
			// It fails if any account of gh has an expired token. The next command shows whether the
			// account in use works.
			step.Reason, err = "gh reports a problem, perhaps with an account that is not in use: "+p.redact(err.Error()), nil
		}
		if err != nil {
			p.result.Next = p.remedy(err)
			err = errors.New(p.redact(err.Error()))
			step.Status, step.Reason, p.result.Failed = contract.Failed, err.Error(), step.Command
		}
		fmt.Fprintf(&p.log, "%s  %s  %s\n", step.Status, step.Command, step.Reason)
		p.result.Steps = append(p.result.Steps, step)
		if err != nil {
			return err
		}
		if found.url != "" {
			p.result.URL = found.url
		}
	}
	return nil
}

// remedy returns what a person must do after an error; empty if nothing is known.
func (p *publisher) remedy(err error) contract.Next {
	if next, ok := gh.SignOn(err); ok {
		return next
	}
	switch {
	case gh.Refused(err):
		return p.session.SignIn(p.gh.Host)
	case strings.Contains(err.Error(), "Draft pull requests are not supported"): // in private repositories of some plans
		r := p.job
		return contract.Next{Action: contract.ActionInspectFailure, Kind: contract.KindURL,
			Command: fmt.Sprintf("%s/%s/%s/compare/%s...%s:%s?expand=1", r.Server, r.Issue.Owner, r.Issue.Repo, r.Base, r.Fork.Owner, r.Branch)}
	case strings.Contains(err.Error(), "(fetch first)"), strings.Contains(err.Error(), "(non-fast-forward)"):
		r := p.job
		return contract.Instruct(contract.ActionInspectFailure, fmt.Sprintf("The branch %s of %s has commits that contribflow did not push for this contribution. Look at them, and delete the branch there. Then run: %s", r.Branch, r.Fork, state.CommandDryRun))
	case strings.Contains(err.Error(), "GH007"):
		return contract.Instruct(contract.ActionFixError, "Set user.email of git to your noreply address, which https://github.com/settings/emails shows. Then run: "+state.CommandDryRun)
	case strings.Contains(err.Error(), "to create or update workflow"): // a push to an outdated fork may contain such a file, too
		if _, name := p.session.Token(p.gh.Host); name != "" {
			return contract.Instruct(contract.ActionAuthenticate, "Give the token in "+name+" the permission to change workflows. Then run: "+state.CommandDryRun)
		}
		return contract.Run(contract.ActionAuthenticate, "gh auth refresh --scopes workflow")
	}
	return contract.Next{}
}

func (p *publisher) redact(s string) string {
	const most = 2000
	return text.Shorten(secret.RedactForms(secret.Redact(s, p.secrets...)), most)
}

// A finding describes whether an earlier attempt has completed a step.
type finding struct {
	reason string // why the step can be skipped; empty if it must be carried out
	url    string // of the pull request
}

// done checks whether a step is completed. It asks git or GitHub and does not rely on the record.
func (p *publisher) done(ctx context.Context, s step) (finding, error) {
	switch s {
	case stepFork:
		there, err := p.fork(ctx)
		if err != nil {
			return finding{}, err
		}
		if there {
			return finding{reason: "The fork exists."}, nil
		}
		return finding{}, p.mayFork(ctx)
	case stepCommit:
		tree, err := p.repository.line(ctx, "rev-parse", "--verify", "HEAD^{tree}")
		if err != nil {
			return finding{}, err
		}
		if tree == p.snapshot.Tree {
			return finding{reason: "The change is committed."}, nil
		}
	case stepPush:
		public, err := p.repository.public(ctx)
		if err != nil {
			return finding{}, err
		}
		head, err := p.repository.line(ctx, "rev-parse", "HEAD")
		if err != nil {
			return finding{}, err
		}
		if public == head {
			return finding{reason: "The branch is pushed."}, nil
		}
	case stepCreate:
		url, err := p.find(ctx)
		if err != nil || url == "" {
			return finding{}, err
		}
		return finding{reason: "The pull request exists.", url: url}, nil
	case stepAuth, stepLogin, stepSwitch, stepAdd, stepRemote: // they can be repeated
	}
	return finding{}, nil
}

// fork reports whether the fork exists. If a repository of this name is not a fork of the target,
// fork returns an error, so that nothing is pushed there.
func (p *publisher) fork(ctx context.Context) (bool, error) {
	f := p.job.Fork
	found, taken, err := get(ctx, p.gh, p.job.Issue, f)
	switch {
	case err != nil:
		return false, err
	case taken:
		forks, err := list(ctx, p.gh, p.job.Issue, f.Owner) // also the forks of other forks
		if err != nil || slices.ContainsFunc(forks, func(name string) bool { return strings.EqualFold(name, f.Name) }) {
			return err == nil, err
		}
		return false, fmt.Errorf("%s is not a fork of %s/%s: run the dry run again", f, p.job.Issue.Owner, p.job.Issue.Repo)
	case found.Name == "":
		return false, nil
	case !strings.EqualFold(found.Name, f.Name):
		return false, fmt.Errorf("the fork %s is now %s: run the dry run again", f, found)
	}
	return true, nil
}

// mayFork returns an error if "gh repo fork" would not create the planned fork.
func (p *publisher) mayFork(ctx context.Context) error {
	f := p.job.Fork
	if !f.New && !strings.EqualFold(f.Name, p.job.Issue.Repo) {
		return fmt.Errorf("the fork %s does not exist any more: run the dry run again", f)
	}
	if !strings.EqualFold(p.login, f.Owner) {
		return fmt.Errorf("gh is signed in as %s, which cannot create a fork for %s: create this fork first", text.Quote(p.login), f.Owner)
	}
	others, err := list(ctx, p.gh, p.job.Issue, f.Owner)
	if err != nil && f.New { // gh would give an existing fork the new name
		return err
	}
	if len(others) > 0 {
		return fmt.Errorf("the fork is %s/%s, and the dry run planned %s: run the dry run again", f.Owner, others[0], f)
	}
	return nil
}

// find returns the URL of the branch's open pull request; empty if there is none.
func (p *publisher) find(ctx context.Context) (string, error) {
	out, err := p.gh.Run(ctx, "api", fmt.Sprintf("repos/%s/%s/pulls?state=open&head=%s:%s", p.job.Issue.Owner, p.job.Issue.Repo, p.job.Fork.Owner, p.job.Branch),
		"--jq", ".[0].html_url // \"\"")
	return strings.TrimSpace(out), err
}

// execute runs one command. If the command opens a pull request, execute returns its URL.
func (p *publisher) execute(ctx context.Context, c Command) (url string, err error) {
	var out string
	if err := p.before(ctx, c.step); err != nil {
		return "", err
	}
	switch {
	case c.step == stepCreate:
		out, err = p.create(ctx, c.argv[1:])
	case c.argv[0] == "gh":
		out, err = p.gh.Run(ctx, c.argv[1:]...)
	default:
		var data []byte
		repo := p.repository.git
		if c.step == stepPush {
			repo = p.repository.network()
		}
		data, err = repo.Run(ctx, c.argv[1:]...)
		out = string(data)
	}
	const kept = 2000
	if shown := strings.TrimSpace(text.Shorten(p.redact(out), kept)); shown != "" && c.step != stepAuth {
		fmt.Fprintf(&p.log, "%s\n", shown)
	}
	if err != nil {
		return "", err
	}
	switch c.step {
	case stepLogin:
		p.login = strings.TrimSpace(out)
		if p.session.Config.ForkOwner == nil && !strings.EqualFold(p.login, p.job.Fork.Owner) {
			return "", fmt.Errorf("gh is signed in as %s; the dry run was made for %s", text.Quote(p.login), p.job.Fork.Owner)
		}
	case stepFork:
		return "", p.awaitFork(ctx)
	case stepAdd:
		tree, err := p.repository.line(ctx, "write-tree")
		if err == nil && tree != p.snapshot.Tree {
			err = errors.New("the files changed since the review gate judged them")
		}
		return "", err
	case stepCreate:
		return p.opened(out)
	case stepAuth, stepSwitch, stepCommit, stepRemote, stepPush:
	}
	return "", nil
}

// before prepares a command.
func (p *publisher) before(ctx context.Context, s step) error {
	switch s {
	case stepSwitch:
		if p.job.Made != "" {
			return p.repository.resume(ctx, p.job.Made)
		}
	case stepPush: // the next attempt recognizes the commit, even if this one is killed
		head, err := p.repository.line(ctx, "rev-parse", "HEAD")
		if err != nil {
			return err
		}
		return p.job.Record(head)
	case stepCreate: // the file may have changed since the dry run
		return p.session.Controller.WriteFile(p.job.BodyFile, []byte(p.job.Body))
	case stepAuth, stepLogin, stepFork, stepAdd, stepCommit, stepRemote:
	}
	return nil
}

// create opens the pull request. For some seconds after a push, GitHub may not know the branch yet.
func (p *publisher) create(ctx context.Context, argv []string) (out string, err error) {
	const pause, tries = 3 * time.Second, 4
	for try := range tries {
		if try > 0 {
			if err := p.session.Sleep(ctx, pause); err != nil {
				return "", err
			}
		}
		out, err = p.gh.Run(ctx, argv...)
		failed, ok := errors.AsType[*gh.Error](err)
		if !ok || !strings.Contains(failed.Stderr, "Head sha can't be blank") && !strings.Contains(failed.Stderr, "Head ref must be a branch") {
			break
		}
	}
	return out, err
}

// awaitFork waits until the fork exists on GitHub.
func (p *publisher) awaitFork(ctx context.Context) error {
	const pause, tries = 3 * time.Second, 10
	for try := range tries {
		if try > 0 {
			if err := p.session.Sleep(ctx, pause); err != nil {
				return err
			}
		}
		there, err := p.fork(ctx)
		if there || err != nil {
			return err
		}
	}
	return fmt.Errorf("GitHub has not created the fork %s yet; run the dry run again in a minute", p.job.Fork)
}

// opened returns the URL of the pull request from gh's output.
func (p *publisher) opened(out string) (string, error) {
	for line := range strings.Lines(out) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, p.job.Server+"/") && strings.Contains(line, "/pull/") {
			return line, nil
		}
	}
	return "", fmt.Errorf("gh pr create printed no pull request URL: %q", text.Quote(out))
}
