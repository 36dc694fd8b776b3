package main

import (
	"context"
	"net/url"
	"strings"

	"github.com/org/foreman-action/internal/address"
	"github.com/org/foreman-action/internal/server/dispatch"
	"github.com/org/foreman-action/internal/server/executor"
	"github.com/org/foreman-action/internal/server/intake"
	"github.com/org/foreman-action/internal/server/settings"
	"github.com/org/foreman-action/runner"
)

// hideUser takes name and password out of an address.
func hideUser(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.User == nil {
		return raw
	}
	u.User = nil
	return u.String()
}

// routes says who is asked about what.
func routes(s *settings.Settings) (list []intake.Route, repos []string) {
	for _, r := range s.Repos {
		repos = append(repos, r.Full())
		for _, a := range r.Agents {
			route := intake.Route{
				Repo: r.Full(), Type: a.Type, URL: a.Address(), AllowClose: mayClose(s, a),
				Protocol: intake.Protocol(a.Protocol),
			}
			if !a.AllEvents {
				route.Events = append([]string{}, a.Events...)
			}
			list = append(list, route)
		}
	}
	return list, repos
}

// mayClose reports whether an agent may close issues: what is said of it counts, and where
// nothing is, the policy.
func mayClose(s *settings.Settings, a settings.Agent) bool {
	if a.CloseSaid {
		return a.AllowClose
	}
	return s.Runner.Policy.AllowClose
}

// agents returns the agents by canonical address. Of several entries with one address the
// first counts.
func agents(s *settings.Settings) map[string]dispatch.Agent {
	all := map[string]dispatch.Agent{}
	for _, r := range s.Repos {
		for _, a := range r.Agents {
			canonical, err := address.Canonical(a.Address())
			if _, twice := all[canonical]; err != nil || twice {
				continue
			}
			all[canonical] = dispatch.Agent{URL: a.Address(), Sync: a.Protocol == "sync", Cap: a.Concurrency, Timeout: a.Timeout.Duration()}
		}
	}
	return all
}

// A desk gives each decision what it is carried out with.
type desk struct {
	s    *settings.Settings
	host func(repo string) (runner.Host, error)
	bot  string
	id   string // of the account that writes
}

// settings returns what the decision of an agent on an issue of a repository is carried
// out with. Whether it may close issues is the agent's affair as it is configured now; all
// entries of a repository with one address agree in that.
func (d desk) settings(_ context.Context, repo, agent string) (executor.Settings, error) {
	for _, r := range d.s.Repos {
		if !strings.EqualFold(r.Full(), repo) {
			continue
		}
		host, err := d.host(r.Full())
		if err != nil {
			return executor.Settings{}, err
		}
		config := *d.s.Runner
		for _, a := range r.Agents {
			if canonical, err := address.Canonical(a.Address()); err == nil && canonical == agent {
				config.Policy.AllowClose = mayClose(d.s, a)
				break
			}
		}
		return executor.Settings{Config: &config, Host: host, Bot: d.bot, Identity: d.id}, nil
	}
	return executor.Settings{}, executor.ErrUnknownRepo
}
