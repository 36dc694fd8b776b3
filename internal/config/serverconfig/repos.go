package serverconfig

import (
	"cmp"
	"reflect"
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/address"
	"github.com/org/foreman-action/internal/config/schema"
	"github.com/org/foreman-action/internal/yamlfile"
)

// A Repo is a repository that is served.
type Repo struct {
	Owner  string  `yaml:"owner,required"`
	Name   string  `yaml:"name,required"`
	Agents []Agent `yaml:"agents"`
}

// Full returns "owner/name".
func (r Repo) Full() string { return r.Owner + "/" + r.Name }

func repoKeys() schema.Table {
	return schema.Table{
		{Path: "repos", Doc: "Repositories that are served."},
		{Path: "repos.owner", Doc: "User or organisation."},
		{Path: "repos.name", Doc: "Name without the owner."},
		{Path: "repos.agents", Doc: "Agents of the repository; the first one that takes the event gets the task."},
	}
}

var repoName = regexp.MustCompile(`^[A-Za-z0-9._-]{1,100}$`)

func checkRepos(f file, repos []Repo) {
	seen := map[string]bool{}
	all := fleet{f: f, ports: map[int]Agent{}, protocols: map[string]string{}}
	for i, r := range repos {
		at := item(f.node("repos"), i)
		if !repoName.MatchString(r.Owner) || !repoName.MatchString(r.Name) {
			f.Problemf(at, "repos: owner and name are those of a repository on GitHub")
			for _, a := range r.Agents {
				f.resolve(a.Config)
			}
			continue
		}
		full := strings.ToLower(r.Full())
		if seen[full] {
			f.Problemf(at, "repos: %s is listed twice; list all its agents in one entry", r.Full())
		}
		seen[full] = true
		closes := map[string]bool{}
		for k := range r.Agents {
			a, at := &r.Agents[k], item(yamlfile.Child(at, "agents"), k)
			a.check(f, at)
			all.add(*a, at, closes)
		}
	}
}

// A fleet contains the agents of a file, to find conflicts between them.
type fleet struct {
	f         file
	ports     map[int]Agent     // managed agents by port
	protocols map[string]string // protocols of other agents, by address
}

// add checks an agent against the earlier ones. closes maps the addresses of agents of the same
// repository to whether they may close issues.
func (all fleet) add(a Agent, at *yaml.Node, closes map[string]bool) {
	canonical, err := address.Canonical(a.Address())
	reached := err == nil && a.Address() != ""
	if reached {
		all.allowClose(a, at, closes, canonical)
	}
	switch {
	case a.Managed():
		if other, taken := all.ports[a.Port]; taken && !sameContainer(other, a) {
			all.f.Problemf(at, "config.port: %d is already used by another container; agents share a container only if image, type and container are the same", a.Port)
		}
		all.ports[a.Port] = a
	case reached:
		if other, known := all.protocols[canonical]; known && other != a.Protocol {
			all.f.Problemf(at, "protocol: the agent at this address has protocol: %s elsewhere in the file", other)
		}
		all.protocols[canonical] = a.Protocol
	}
}

// allowClose reports an agent with two entries of which only one allows closing issues. A decision
// names only its agent, so the server could not tell which entry applies.
func (all fleet) allowClose(a Agent, at *yaml.Node, closes map[string]bool, canonical string) {
	may := a.AllowClose
	if policy := all.f.node("policy", "allow_close"); !a.AllowCloseSet && policy != nil {
		may = policy.Value == "true"
	}
	if other, twice := closes[canonical]; twice && other != may {
		all.f.Problemf(cmp.Or(yamlfile.Child(at, "allow_close"), at), "allow_close: the agent at this address has %v elsewhere in this repository", other)
		return
	}
	closes[canonical] = may
}

// sameContainer reports whether two agents can run in one container.
func sameContainer(a, b Agent) bool {
	return a.Image == b.Image && a.Type == b.Type && reflect.DeepEqual(a.Container, b.Container)
}
