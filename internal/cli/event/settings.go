package event

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/org/foreman-action/agent"
	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/cli/files"
	"github.com/org/foreman-action/internal/cli/remote"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/internal/secret"
	"github.com/org/foreman-action/protocol"
)

// Overrides are settings that take precedence over the configuration file. A zero field keeps the
// file's value.
type Overrides struct {
	AgentURL   string
	AgentAuth  string // none, token or oidc
	AgentToken string
	Timeout    time.Duration // of the agent
	OnFailure  config.OnFailure
	AllowClose bool
	LLM        protocol.LLMBackendRef
	Model      config.Model
	ModelKey   secret.Text
	Memory     config.Memory
	Bot        string // the login under which Foreman acts
}

// Apply returns the configuration with the overrides applied. A nil c counts as empty.
func (o Overrides) Apply(c *config.Config) *config.Config {
	var out config.Config
	if c != nil {
		out = *c
	}
	set(&out.Agent.URL, o.AgentURL)
	out.Agent.Inherited = out.Agent.Inherited && o.AgentURL == ""
	set(&out.Agent.Auth, o.AgentAuth)
	set(&out.Agent.Timeout, o.Timeout)
	if o.OnFailure.Set {
		out.Agent.OnFailure = o.OnFailure
	}
	out.Policy.AllowClose = (out.Policy.AllowClose || o.AllowClose) && !out.NeverClose
	set(&out.LLM.Provider, o.LLM.Provider)
	set(&out.LLM.Model, o.LLM.Model)
	set(&out.Model.BaseURL, o.Model.BaseURL)
	set(&out.Model.Timeout, o.Model.Timeout)
	set(&out.Model.MaxTokens, o.Model.MaxTokens)
	set(&out.Memory.Store, o.Memory.Store)
	set(&out.Memory.Path, o.Memory.Path)
	set(&out.Memory.Summary, o.Memory.Summary)
	return &out
}

// set assigns value to *to unless value is zero.
func set[T comparable](to *T, value T) {
	var zero T
	if value != zero {
		*to = value
	}
}

// load loads the configuration from the workspace, else from the default branch.
func load(ctx context.Context, s Settings, client *github.Client) (*config.Config, error) {
	places := places(s, client)
	spec := s.Load
	spec.Remote = s.Access.File
	spec.IssueForms = s.Files // reading them from the default branch would cost calls
	if spec.Path == config.DefaultPath {
		spec.Path = config.Default(ctx, s.Files) // either file of the workspace counts before the default branch
	}
	c, err := config.Load(ctx, places, spec)
	if errors.Is(err, config.ErrNotFound) || errors.Is(err, path.ErrBadPattern) {
		return nil, command.Usage(err)
	}
	return c, err
}

// places returns the workspace and the default branch, in which the configuration is looked up.
func places(s Settings, client *github.Client) files.Layered {
	places := files.Layered{s.Files}
	switch {
	case s.Offline:
		return places
	case client == nil:
		return append(places, remote.Tokenless{})
	}
	return append(places, remote.Branch{Client: client, Tree: github.Tree{Owner: s.Event.Repo.Owner, Repo: s.Event.Repo.Name}})
}

// effective returns the configuration for the run, with its warnings. A nil loaded counts as empty.
// In a local run, it also removes the services from loaded.
func effective(loaded *config.Config, s Settings) (*config.Config, []string) {
	var warnings []string
	if loaded != nil {
		for _, w := range loaded.Warnings {
			warnings = append(warnings, w.Error())
		}
		if s.Local {
			warnings = append(warnings, loaded.WithoutServices()...)
		}
	}
	c := s.Overrides.Apply(loaded)
	if s.Overrides.AllowClose && c.NeverClose {
		warnings = append(warnings, "allow-close has no effect: the file that the configuration extends has allow_close: false")
	}
	return c, warnings
}

// askedAgent returns the client of the HTTP agent that a configuration names. If only an extended
// file names the agent, the agent gets no credentials of this repository, because others write that
// file.
func askedAgent(c config.Agent, token string, idToken func(context.Context, string) (string, error), userAgent string) (*agent.Remote, error) {
	o := agent.RemoteOptions{URL: c.URL, Timeout: c.Timeout, UserAgent: userAgent}
	if c.Inherited {
		c.Auth = "none"
	}
	switch c.Auth {
	case "token":
		if token == "" {
			return nil, command.Usagef("agent auth is token, but there is no agent token (input agent-token, or FOREMAN_AGENT_TOKEN)")
		}
		o.Authorize = func(context.Context) (string, error) { return "Bearer " + token, nil }
	case "oidc":
		if idToken == nil {
			return nil, command.Usagef("agent auth is oidc, which works inside GitHub Actions only")
		}
		audience := audienceOf(c.URL)
		o.Authorize = func(ctx context.Context) (string, error) {
			token, err := idToken(ctx, audience)
			if err != nil {
				return "", err
			}
			return "Bearer " + token, nil
		}
	}
	r, err := agent.NewRemote(o)
	if err != nil {
		return nil, command.Usage(err)
	}
	return r, nil
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

// TaskID returns the ID of the task for a workflow run and an issue, the same for every attempt.
// Outside a run, every call returns a new ID.
func TaskID(repo, runID string, issue int) (string, error) {
	if runID == "" {
		return protocol.NewTaskID(rand.Reader)
	}
	return protocol.DeriveTaskID("github-actions", repo, runID, fmt.Sprint(issue)), nil
}
