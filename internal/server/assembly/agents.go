package assembly

import (
	"github.com/org/foreman-action/harness"
	"github.com/org/foreman-action/internal/config/serverconfig"
	"github.com/org/foreman-action/internal/server/filter"
)

// agents returns the agents of a configuration, and the repositories. Agents without an address
// receive no event; the configuration warns of them.
func agents(s *serverconfig.Config) (list []harness.Agent, repos []string) {
	repos = []string{} // not nil, which would mean all repositories
	for _, r := range s.Repos {
		repos = append(repos, r.Full())
		for _, a := range r.Agents {
			if a.Address() == "" {
				continue
			}
			one := harness.Agent{
				URL: a.Address(), Type: a.Type, Name: a.Name, Repos: []string{r.Full()}, AllowClose: MayClose(s, a),
				Sync: a.Protocol == "sync", Concurrency: a.Concurrency, Timeout: a.Timeout.Duration(),
			}
			if !a.AllEvents {
				one.Events = append([]string{}, a.Events...)
			}
			list = append(list, one)
		}
	}
	return list, repos
}

// Configured returns the agents and the repositories of a configuration, for the check of pauses.
func Configured(s *serverconfig.Config) *filter.Configured {
	list, repos := agents(s)
	var urls []string
	for _, a := range list {
		urls = append(urls, a.URL)
	}
	return filter.NewConfigured(urls, repos)
}

// MayClose reports whether an agent may close issues. The agent's own setting has priority over the
// policy of s.
func MayClose(s *serverconfig.Config, a serverconfig.Agent) bool {
	if a.AllowCloseSet {
		return a.AllowClose
	}
	return s.Runner.Policy.AllowClose
}
