package harness

import (
	"context"
	"strings"

	"github.com/org/foreman-action/config/serverconfig"
	"github.com/org/foreman-action/internal/address"
	"github.com/org/foreman-action/internal/server/dispatch"
	"github.com/org/foreman-action/internal/server/executor"
	"github.com/org/foreman-action/internal/server/intake"
)

// routes returns the agents with the events that each of them receives, and the repositories.
func routes(s *serverconfig.Config) (list []intake.Route, repos []string) {
	for _, r := range s.Repos {
		repos = append(repos, r.Full())
		for _, a := range r.Agents {
			route := intake.Route{
				Repo: r.Full(), Type: a.Type, URL: a.Address(), AllowClose: MayClose(s, a),
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

// MayClose reports whether an agent may close issues: as configured for the agent, else as
// the policy of s allows.
func MayClose(s *serverconfig.Config, a serverconfig.Agent) bool {
	if a.AllowCloseSet {
		return a.AllowClose
	}
	return s.Runner.Policy.AllowClose
}

// agents returns the agents by canonical address. If several entries have the same address, the
// first one is used.
func agents(s *serverconfig.Config) map[string]dispatch.Agent {
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

// decisionSettings returns the settings for executing decisions.
type decisionSettings struct {
	s       *serverconfig.Config
	account *account
}

// of returns the settings for the decision of an agent on an issue of a repository. The current
// configuration of the agent decides whether it may close issues. All entries of a repository with
// the same address have the same value for that.
func (d decisionSettings) of(_ context.Context, repo, agent string) (executor.Settings, error) {
	for _, r := range d.s.Repos {
		if !strings.EqualFold(r.Full(), repo) {
			continue
		}
		host, err := d.account.host(r.Full())
		if err != nil {
			return executor.Settings{}, err
		}
		config := *d.s.Runner
		for _, a := range r.Agents {
			if canonical, err := address.Canonical(a.Address()); err == nil && canonical == agent {
				config.Policy.AllowClose = MayClose(d.s, a)
				break
			}
		}
		return executor.Settings{Config: &config, Host: host, Bot: d.account.login, Identity: d.account.id}, nil
	}
	return executor.Settings{}, executor.ErrUnknownRepo
}
