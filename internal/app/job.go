package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/org/foreman-action/agent"
	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/internal/secret"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

// A job is one event on its way from the settings of a command to a report. The
// action and the command line fill it in; from there on there is one path.
type job struct {
	app   App
	event triage.Delivery
	files config.Files
	load  config.Spec

	token    string // GitHub's; empty: there is none
	apiURL   string
	offline  bool // make no call to GitHub, even with a token
	local    bool // run by a person: a file's agent is not asked, nor its memory used
	dryRun   bool
	override overrides

	taskID  string
	scope   string
	nonce   string
	resumed bool
	live    bool   // the event is handled as it happens
	branch  string // the default branch, where the event does not name it; may be empty
	dir     string // below which relative paths of the memory lie
	store   string // the memory where none is configured; empty: off

	// idToken returns an OIDC token for an audience; nil: not inside Actions.
	idToken func(ctx context.Context, audience string) (string, error)
	mask    func(secret string) // hides a secret in the log; nil: there is no log to hide it in
	log     func(format string, args ...any)
	logger  *slog.Logger // warnings of the parts; nil: discarded
	audit   func(runner.Audit) error
}

// overrides are settings that win over the configuration file. The zero value of
// each leaves the file's.
type overrides struct {
	agentURL   string
	agentAuth  string
	agentToken string
	timeout    time.Duration
	onFailure  config.OnFailure
	allowClose bool
	llm        protocol.LLMBackendRef
	model      config.Model
	modelKey   secret.Text
	memory     config.Memory
	bot        string
}

// A result is what a job came to.
type result struct {
	report   runner.Report
	config   *config.Config // nil: there is none
	noConfig bool           // nothing was configured, so nothing was decided
	needs    []string       // lines of the permissions block that the job needs
	warnings []string       // from before the run
	survey   *runner.Survey // of a scheduled run, of which report is the sum; else nil
	review   string         // of rules that a pull request changes, in Markdown; empty: there is none
}

// run takes the job to its end. The result is meaningful also with an error.
func (j job) run(ctx context.Context) (result, error) {
	res := result{needs: []string{"contents: read", "issues: write"}}
	res.report = runner.Report{
		Event: j.event.Key(), Repo: j.event.FullRepo(), Issue: j.event.Number,
		TaskID: j.taskID, DryRun: j.dryRun, Status: runner.StatusFailed,
	}
	host, err := j.host()
	if err != nil {
		return res.failed(err), err
	}
	o := runner.Options{
		Task:   runner.TaskIdentity{ID: j.taskID, Scope: j.scope, Nonce: j.nonce, Resumed: j.resumed},
		DryRun: j.dryRun, Live: j.live, Explain: j.live,
		Clock: runner.Clock{Now: j.app.Now, Sleep: j.app.Sleep}, Audit: j.audit, Log: j.log,
	}
	o.Host = hostOf(host, j.override.bot)
	if j.event.SkipReason(j.bot()) == "" {
		if res.config, err = j.config(ctx, host); err != nil {
			return res.failed(err), err
		}
		res.warnings = warningsOf(res.config)
		if j.local {
			res.warnings = append(res.warnings, distrust(res.config)...)
		}
		o.Config = j.effective(res.config)
		if j.override.allowClose && o.Config.NeverClose {
			res.warn("allow-close has no effect: the file that the configuration extends says allow_close: false")
		}
		res.needs = needsOf(o.Config, j.event.Pull != nil)
		res.noConfig = res.config == nil && o.Config.Agent.URL == ""
		if err := j.equip(&o, &res); err != nil {
			return res.failed(err), err
		}
	}
	r, err := runner.New(o)
	if err != nil {
		return res.failed(err), err
	}
	if j.sweeps() {
		return j.sweep(ctx, r, res)
	}
	res.report, err = r.Run(ctx, j.event)
	res.report.Warnings = append(res.warnings, res.report.Warnings...)
	if err == nil && host != nil {
		err = j.reviewRules(ctx, host, &res)
	}
	return res, err
}

func (r *result) warn(format string, args ...any) {
	r.warnings = append(r.warnings, fmt.Sprintf(format, args...))
}

func warningsOf(c *config.Config) []string {
	var list []string
	if c != nil {
		for _, w := range c.Warnings {
			list = append(list, w.Error())
		}
	}
	return list
}

func (r result) failed(err error) result {
	r.report.Reason = err.Error()
	r.report.Rationale = err.Error()
	if p, ok := errors.AsType[*triage.PermissionError](err); ok {
		r.report.Missing = append(r.report.Missing, p.Need)
	}
	return r
}

func (j job) bot() string {
	if j.override.bot == "" {
		return runner.DefaultBot
	}
	return j.override.bot
}

// host returns the client, or nil when there is no token or no call is wanted.
func (j job) host() (*github.Client, error) {
	if j.token == "" || j.offline {
		return nil, nil
	}
	client, err := github.New(github.Options{
		BaseURL: j.apiURL, Token: j.token, UserAgent: userAgent(),
		Now: j.app.Now, Sleep: j.app.Sleep,
	})
	if err != nil {
		return nil, &usageError{fmt.Errorf("GITHUB_API_URL: %w", err)}
	}
	return client, nil
}

// hostOf returns a client, which may be nil, as the host that a Runner works with.
func hostOf(client *github.Client, login string) runner.Host {
	var h runner.Host
	if client != nil {
		h = runner.HostOf(client)
	}
	h.Login = login
	return h
}

func userAgent() string { return "foreman-action/" + version() }

// config loads the configuration from the workspace, else from the default branch.
func (j job) config(ctx context.Context, host *github.Client) (*config.Config, error) {
	places := layered{j.files}
	switch {
	case j.offline:
	case host == nil:
		places = append(places, tokenless{})
	default:
		places = append(places, branch{host, github.Tree{Owner: j.event.Repo.Owner, Repo: j.event.Repo.Name}})
	}
	j.load.Remote = j.remote
	c, err := config.Load(ctx, places, j.load)
	if errors.Is(err, config.ErrNotFound) || errors.Is(err, path.ErrBadPattern) {
		return nil, &usageError{err}
	}
	return c, err
}

// distrust takes out of a configuration what would send the issue, or write files,
// somewhere that the person at the terminal did not name: the file may be of a
// repository that they only look at.
func distrust(c *config.Config) []string {
	if c == nil {
		return nil
	}
	var warnings []string
	if c.Agent.URL != "" {
		warnings = append(warnings, "the configuration names an agent, which is not asked from here; --agent URL asks one")
	}
	if c.Memory.Store != "" && c.Memory.Store != "off" {
		warnings = append(warnings, "the memory that the configuration names is not used from here")
	}
	c.Agent.URL, c.Agent.Auth, c.Memory = "", "", config.Memory{}
	return warnings
}

// effective is the configuration with the overrides on top.
func (j job) effective(c *config.Config) *config.Config {
	var out config.Config
	if c != nil {
		out = *c
	}
	o := j.override
	set(&out.Agent.URL, o.agentURL)
	set(&out.Agent.Auth, o.agentAuth)
	set(&out.Agent.Timeout, o.timeout)
	if o.onFailure.Set {
		out.Agent.OnFailure = o.onFailure
	}
	out.Policy.AllowClose = (out.Policy.AllowClose || o.allowClose) && !out.NeverClose
	set(&out.LLM.Provider, o.llm.Provider)
	set(&out.LLM.Model, o.llm.Model)
	set(&out.Model.BaseURL, o.model.BaseURL)
	set(&out.Model.Timeout, o.model.Timeout)
	set(&out.Model.MaxTokens, o.model.MaxTokens)
	set(&out.Memory.Store, o.memory.Store)
	set(&out.Memory.Path, o.memory.Path)
	set(&out.Memory.Summary, o.memory.Summary)
	return &out
}

// set replaces *to by a value that is not zero.
func set[T comparable](to *T, value T) {
	var zero T
	if value != zero {
		*to = value
	}
}

// equip adds the agent and the memory that the configuration asks for.
func (j job) equip(o *runner.Options, res *result) error {
	if o.Config.Agent.URL != "" {
		remote, err := j.agent(o.Config.Agent)
		if err != nil {
			return &usageError{err}
		}
		o.Agent.Agent, o.Agent.Name = remote, remote.Address()
		if o.Config.Agent.Auth == "oidc" {
			res.needs = append(res.needs, "id-token: write")
		}
	}
	j.remember(o, res)
	return nil
}

// agent returns the client of the HTTP agent.
func (j job) agent(c config.Agent) (*agent.Remote, error) {
	o := agent.RemoteOptions{URL: c.URL, Timeout: c.Timeout, UserAgent: userAgent()}
	switch c.Auth {
	case "token":
		if j.override.agentToken == "" {
			return nil, errors.New("agent auth is token, but there is no agent token (input agent-token, or FOREMAN_AGENT_TOKEN)")
		}
		o.Authorize = func(context.Context) (string, error) { return "Bearer " + j.override.agentToken, nil }
	case "oidc":
		if j.idToken == nil {
			return nil, errors.New("agent auth is oidc, which works inside GitHub Actions only")
		}
		audience := audienceOf(c.URL)
		o.Authorize = func(ctx context.Context) (string, error) {
			token, err := j.idToken(ctx, audience)
			if err != nil {
				return "", err
			}
			return "Bearer " + token, nil
		}
	}
	return agent.NewRemote(o)
}

// audienceOf returns the agent's base address: without userinfo, query and "/task".
func audienceOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return raw
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	p := strings.TrimRight(u.Path, "/")
	if path.Base(p) == "task" {
		p = path.Dir(p)
	}
	u.Path = strings.TrimRight(p, "/")
	return u.String()
}

// runTaskID is the task of a workflow run and an issue, the same for every attempt;
// outside a run every task is one of its own.
func runTaskID(repo, runID string, issue int) (string, error) {
	if runID == "" {
		return protocol.NewTaskID(rand.Reader)
	}
	return protocol.DeriveTaskID("github-actions", repo, runID, fmt.Sprint(issue)), nil
}

// classify turns an error of a job into one that knows its exit code.
func classify(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, triage.ErrNeedsHost) {
		return usagef("%w: set the input token, or GITHUB_TOKEN", err)
	}
	if _, ok := errors.AsType[*usageError](err); ok {
		return err
	}
	if problemsOf(err) != nil {
		return &usageError{err}
	}
	return command.Failed(err)
}
