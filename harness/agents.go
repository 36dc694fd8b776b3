package harness

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/org/foreman-action/internal/address"
	"github.com/org/foreman-action/internal/server/dispatch"
	"github.com/org/foreman-action/internal/server/intake"
	"github.com/org/foreman-action/protocol"
)

// An Agent decides on the issues of repositories. An agent with different settings by repository has
// several entries; its Sync, Concurrency and Timeout are those of the first one.
type Agent struct {
	// URL is the agent's base address, by which it also claims its tasks. Notifications are sent
	// there, to the path /task; they need not arrive. Userinfo is sent as Basic authentication.
	// Required.
	URL string
	// Type is the kind of the agent. The text before its first "-" is that of the types of its tasks.
	// Empty: issue-triage, which accepts the tasks of issues.
	Type string
	// Name is the agent's name in track records, at most 50 letters, digits, '.', '_' and '-'. Empty: its
	// Type, and also the host of its URL if another agent of a repository has that name.
	Name string
	// Events are the only events that it accepts, such as "issues.labeled" or the type of tasks
	// "issue.triage". Nil: those of its Type.
	Events []string
	Repos  []string // the only repositories, "owner/name", whose events it receives; nil: all
	// AllowClose is whether its decisions may close issues, in place of AllowClose of the policy.
	AllowClose bool
	// Sync means that it receives the whole task, and answers with the decision. Otherwise it claims
	// its tasks.
	Sync        bool
	Concurrency int           // tasks that it is notified of, or asked about, at a time; 0: 8
	Timeout     time.Duration // for the answer of an agent with Sync; 0: a minute
}

const maxAgentName = 50 // characters

// withAgents returns the options with canonical addresses in Agents, or an error that names the field
// that is wrong.
func (o Options) withAgents() (Options, error) {
	o.Agents = slices.Clone(o.Agents)
	closes := map[string]bool{} // by address and repository
	for i := range o.Agents {
		a := &o.Agents[i]
		if _, err := address.Canonical(a.URL); err != nil {
			return o, fmt.Errorf("harness: Agents[%d].URL: %w", i, err)
		}
		a.Type = cmp.Or(a.Type, "issue-triage")
		switch {
		case len(a.Name) > maxAgentName || a.Name != protocol.ParseAgentVersion(a.Name):
			return o, fmt.Errorf("harness: Agents[%d].Name: want at most %d letters, digits, '.', '_' and '-'", i, maxAgentName)
		case a.Concurrency < 0:
			return o, fmt.Errorf("harness: Agents[%d].Concurrency: want 0 or more", i)
		case a.Timeout < 0:
			return o, fmt.Errorf("harness: Agents[%d].Timeout: want 0 or more", i)
		}
		for _, repo := range a.Repos {
			if _, _, ok := protocol.SplitRepo(repo); !ok {
				return o, fmt.Errorf("harness: Agents[%d].Repos: want owner/name, got %q", i, repo)
			}
		}
		for _, repo := range a.repos() {
			key := a.canonical() + " " + strings.ToLower(repo)
			if other, twice := closes[key]; twice && other != a.AllowClose {
				return o, fmt.Errorf("harness: Agents[%d].AllowClose: an earlier entry for the same agent and repository has %v", i, other)
			}
			closes[key] = a.AllowClose
		}
	}
	return o, nil
}

// canonical returns the agent's canonical address, after its check.
func (a Agent) canonical() string {
	url, _ := address.Canonical(a.URL)
	return url
}

// repos returns the agent's repositories; "": all.
func (a Agent) repos() []string {
	if a.Repos == nil {
		return []string{""}
	}
	return a.Repos
}

// routes returns which events the agents receive.
func (o Options) routes() (list []intake.Route) {
	for _, a := range o.Agents {
		route := intake.Route{Type: a.Type, URL: a.URL, Events: a.Events, AllowClose: a.AllowClose, Protocol: intake.ProtocolQueue}
		if a.Sync {
			route.Protocol = intake.ProtocolSync
		}
		for _, route.Repo = range a.repos() {
			list = append(list, route)
		}
	}
	return list
}

// known returns the agents by canonical address.
func (o Options) known() map[string]dispatch.Agent {
	all := map[string]dispatch.Agent{}
	for _, a := range slices.Backward(o.Agents) { // the first one with an address is used
		all[a.canonical()] = dispatch.Agent{URL: a.URL, Sync: a.Sync, Cap: a.Concurrency, Timeout: a.Timeout}
	}
	return all
}

// agent returns the agent with a canonical address as it is configured for a repository.
func (o Options) agent(repo, canonical string) (Agent, bool) {
	i := slices.IndexFunc(o.Agents, func(a Agent) bool {
		return a.canonical() == canonical && (a.Repos == nil || contains(a.Repos, repo))
	})
	if i < 0 {
		return Agent{}, false
	}
	return o.Agents[i], true
}

// recordName returns the name of an agent of a repository in track records. Two agents never have the same
// one unless Name says so.
func (o Options) recordName(a Agent, repo string) string {
	if a.Name != "" {
		return a.Name
	}
	shared := slices.ContainsFunc(o.Agents, func(other Agent) bool {
		return other.canonical() != a.canonical() && cmp.Or(other.Name, other.Type) == a.Type && (other.Repos == nil || contains(other.Repos, repo))
	})
	u, err := url.Parse(a.canonical())
	if !shared || err != nil {
		return a.Type
	}
	return u.Host + "." + a.Type // the host first: a long name is cut at its end
}

// mayClose reports whether any agent of a repository may close issues.
func (o Options) mayClose(repo string) bool {
	return slices.ContainsFunc(o.Agents, func(a Agent) bool {
		return a.AllowClose && (a.Repos == nil || contains(a.Repos, repo))
	})
}

// has reports whether decisions on a repository are carried out.
func (o Options) has(repo string) bool {
	return o.Repos == nil || contains(o.Repos, repo) || slices.ContainsFunc(o.Agents, func(a Agent) bool { return contains(a.Repos, repo) })
}

func contains(repos []string, repo string) bool {
	return slices.ContainsFunc(repos, func(r string) bool { return strings.EqualFold(r, repo) })
}

// cursors are Cursors in memory.
type cursors struct{ stored sync.Map }

// Cursor implements Cursors.
func (c *cursors) Cursor(_ context.Context, name string) ([]byte, error) {
	data, _ := c.stored.Load(name)
	stored, _ := data.([]byte) // nil: nothing is stored
	return stored, nil
}

// SaveCursor implements Cursors.
func (c *cursors) SaveCursor(_ context.Context, name string, data []byte) error {
	c.stored.Store(name, data)
	return nil
}
