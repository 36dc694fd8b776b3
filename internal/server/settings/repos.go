package settings

import (
	"cmp"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/address"
	"github.com/org/foreman-action/internal/yamlfile"
)

var repoName = regexp.MustCompile(`^[A-Za-z0-9._-]{1,100}$`)

func (c checker) repos(repos []Repo) {
	at := yamlfile.Child(c.root, "repos")
	ports, spoken := map[int]Agent{}, map[string]string{}
	seen := map[string]bool{}
	for i := range repos {
		closes := map[string]bool{}
		r, node := &repos[i], item(at, i)
		if !repoName.MatchString(r.Owner) || !repoName.MatchString(r.Name) {
			c.problem(node, "repos: owner and name are those of a repository on GitHub")
			continue
		}
		full := strings.ToLower(r.Full())
		if seen[full] {
			c.problem(node, "repos: %s is there twice; list its agents under one", r.Full())
		}
		seen[full] = true
		for k := range r.Agents {
			a, where := &r.Agents[k], item(yamlfile.Child(node, "agents"), k)
			c.agent(a, where)
			c.allowClose(*a, where, closes)
			if !a.Managed() {
				c.protocol(*a, where, spoken)
				continue
			}
			if other, taken := ports[a.Port]; taken && !sameContainer(other, *a) {
				c.problem(where, "config.port: %d is that of another container already; agents share one only with the same image, type and container", a.Port)
			}
			ports[a.Port] = *a
		}
	}
}

// protocol reports an address under which two protocols are to be spoken.
func (c checker) protocol(a Agent, at *yaml.Node, spoken map[string]string) {
	canonical, err := address.Canonical(a.URL)
	if a.URL == "" || err != nil {
		return // reported
	}
	if other, known := spoken[canonical]; known && other != a.Protocol {
		c.problem(at, "protocol: the agent of this address speaks %s elsewhere in the file", other)
	}
	spoken[canonical] = a.Protocol
}

// allowClose reports an agent that may close issues of a repository by one entry and not
// by another one: a decision says who made it, and not by which entry. known has whether
// the agents of the repository may close issues, by address.
func (c checker) allowClose(a Agent, at *yaml.Node, known map[string]bool) {
	at = cmp.Or(yamlfile.Child(at, "allow_close"), at)
	canonical, err := address.Canonical(a.Address())
	if a.Address() == "" || err != nil {
		return // reported, or nobody is asked
	}
	may := a.AllowClose
	if policy := yamlfile.Child(c.root, "policy", "allow_close"); !a.CloseSaid && policy != nil {
		may = policy.Value == "true"
	}
	if other, twice := known[canonical]; twice && other != may {
		c.problem(at, "allow_close: the agent of this address has %v elsewhere in this repository", other)
		return
	}
	known[canonical] = may
}

// sameContainer reports whether two agents can be one container.
func sameContainer(a, b Agent) bool {
	return a.Image == b.Image && a.Type == b.Type && reflect.DeepEqual(a.Container, b.Container)
}

// The keys of config that are read; others are the agent's own business.
type agentConfig struct {
	URL    string    `yaml:"url"`
	Image  string    `yaml:"image"`
	Port   int       `yaml:"port"`
	Events *[]string `yaml:"event_types,oneormore"`
}

func (c checker) agent(a *Agent, at *yaml.Node) {
	a.CloseSaid = yamlfile.Child(at, "allow_close") != nil
	if a.Type == "" {
		c.problem(at, "repos.agents: type: want a name such as issue-triage")
	}
	if want := []string{"queue", "sync"}; a.Protocol == "" {
		a.Protocol = "queue"
	} else if !slices.Contains(want, a.Protocol) {
		c.problem(yamlfile.Child(at, "protocol"), "protocol: want queue or sync%s", yamlfile.DidYouMean(a.Protocol, want))
	}
	if a.Concurrency < 0 || a.Concurrency > 1000 {
		c.problem(yamlfile.Child(at, "concurrency"), "concurrency: want 1 to 1000")
	}
	if a.Concurrency == 0 {
		a.Concurrency = 8
	}
	c.timeout(a, yamlfile.Child(at, "timeout_seconds"))
	c.container(&a.Container, yamlfile.Child(at, "container"))
	c.config(a, yamlfile.Child(at, "config"))
	switch {
	case a.Image != "" && a.Port == 0 && a.URL == "":
		c.f.Warnf(at, "the agent %s has an image and no port: no container is started for it, and no event reaches it", a.Type)
	case a.URL == "" && !a.Managed():
		c.f.Warnf(at, "the agent %s has neither config.url nor config.image: no event reaches it", a.Type)
	case a.Managed() && a.URL != "":
		c.f.Warnf(at, "the agent %s has config.image, so config.url does not count", a.Type)
	case a.Managed() && a.Protocol == "sync":
		c.problem(at, "an agent that the server starts speaks the protocol queue")
	}
}

// maxAnswer is how many seconds an agent may take for a decision.
const maxAnswer = 3600

func (c checker) timeout(a *Agent, at *yaml.Node) {
	switch {
	case at == nil:
		a.Timeout = 60
	case a.Timeout < 1 || a.Timeout > maxAnswer:
		c.problem(at, "timeout_seconds: want 1 to %d", maxAnswer)
	case a.Protocol != "sync":
		c.f.Warnf(at, "timeout_seconds: it counts for agents of the protocol sync alone")
	}
}

// config reads the keys of an agent's free-form part that mean something here.
func (c checker) config(a *Agent, at *yaml.Node) {
	a.AllEvents = true
	if a.Config == nil {
		return
	}
	if a.Config.Kind != yaml.MappingNode {
		c.problem(at, "config: want a mapping, got %s", yamlfile.Kind(at))
		return
	}
	var known agentConfig
	read := *a.Config
	read.Content = nil
	for k, v := range pairs(a.Config) {
		if slices.Contains([]string{"url", "image", "port", "event_types"}, k.Value) {
			read.Content = append(read.Content, k, c.numeral(k.Value, v, yamlfile.Child(at, k.Value)))
		}
	}
	if !c.f.Decode(&read, &known) {
		return
	}
	a.URL, a.Image, a.Port = known.URL, known.Image, known.Port
	if known.Events != nil {
		a.Events, a.AllEvents = *known.Events, false
	}
	if a.URL != "" {
		if _, err := address.Canonical(a.URL); err != nil {
			c.problem(yamlfile.Child(at, "url"), "config.url: %v", err)
		}
	}
	if n := yamlfile.Child(at, "port"); n != nil && (a.Port < 1 || a.Port > 65535) {
		c.problem(n, "config.port: want 1 to 65535")
	}
	if a.Image != "" && (strings.ContainsAny(a.Image, " \t\n\r") || strings.HasPrefix(a.Image, "-")) {
		c.problem(yamlfile.Child(at, "image"), "config.image: want the name of an image")
	}
}

// numeral lets the port be a text, as published files may have it, and keeps what a
// variable holds out of the messages.
func (c checker) numeral(key string, v, written *yaml.Node) *yaml.Node {
	if key != "port" || v.Kind != yaml.ScalarNode || v.ShortTag() != "!!str" {
		return v
	}
	out := *v
	tag, value, ok := fitInt(strings.TrimSpace(v.Value))
	if !ok {
		return written
	}
	out.Tag, out.Value, out.Style = tag, value, 0
	return &out
}

var userNumber = regexp.MustCompile(`^[0-9]{1,9}(:[0-9]{1,9})?$`)

func (c checker) container(k *Container, at *yaml.Node) {
	for name, set := range map[string]bool{"memory_mb": k.MemoryMB < 0, "cpus": k.CPUs < 0, "pids": k.PIDs < 0} {
		if set {
			c.problem(yamlfile.Child(at, name), "container.%s: want more than 0", name)
		}
	}
	if k.User != "" && !userNumber.MatchString(k.User) {
		c.problem(yamlfile.Child(at, "user"), "container.user: want a number, or those of user and group, such as 65534:65534")
	}
	for name := range k.Env {
		if !variableName.MatchString(name) {
			c.problem(yamlfile.Child(at, "env"), "container.env: %q is no name of a variable", name)
		}
		if name == "FOREMAN_HARNESS_URL" || name == "AGENT_URL" {
			c.problem(yamlfile.Child(at, "env", name), "container.env: %s is set by the server", name)
		}
	}
	if k.MemoryMB == 0 {
		k.MemoryMB = 512
	}
	if k.CPUs == 0 {
		k.CPUs = 1
	}
	if k.PIDs == 0 {
		k.PIDs = 256
	}
}
