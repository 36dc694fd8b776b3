package serverconfig

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/address"
	"github.com/org/foreman-action/internal/config/schema"
	"github.com/org/foreman-action/internal/eventkind"
	"github.com/org/foreman-action/internal/secret"
	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/protocol"
)

// An Agent decides on the issues of a repository.
type Agent struct {
	Type       string `yaml:"type,required"` // such as "issue-triage"
	Name       string `yaml:"name"`          // in track records; empty: that of the type
	AllowClose bool   `yaml:"allow_close"`
	// Protocol is "queue": the agent gets a notification and claims tasks. Or "sync": the agent
	// returns the decision as the response to the task.
	Protocol    string     `default:"queue"  yaml:"protocol,zeroabsent"`
	Concurrency int        `default:"8"      yaml:"concurrency,zeroabsent"` // tasks at the same time
	Timeout     Seconds    `default:"60"     yaml:"timeout_seconds"`        // of a sync agent's answer
	Container   Container  `yaml:"container"`
	Config      *yaml.Node `yaml:"config"` // free-form; the fields below are its known keys

	URL    string   `yaml:"-"` // config.url; empty: none
	Image  string   `yaml:"-"` // config.image; empty: none
	Port   int      `yaml:"-"` // config.port; 0: none
	Events []string `yaml:"-"` // config.event_types
	// AllEvents is true if config has no event_types. Then the prefix of the type decides.
	AllEvents bool `yaml:"-"`
	// AllowCloseSet is true if the file has allow_close for this agent. Otherwise the policy
	// decides.
	AllowCloseSet bool `yaml:"-"`
}

// A Container configures the container of a managed agent.
type Container struct {
	Env      map[string]secret.Text `yaml:"env"` // variables, such as the key of a model's provider
	MemoryMB int                    `default:"512" yaml:"memory_mb,zeroabsent"`
	CPUs     float64                `default:"1"   yaml:"cpus,zeroabsent"`
	PIDs     int                    `default:"256" yaml:"pids,zeroabsent"`
	User     string                 `yaml:"user"` // number, or two with a colon; empty: the image's
}

// agentConfig contains the keys of an agent's config that the server reads.
type agentConfig struct {
	URL    string    `yaml:"url"`
	Image  string    `yaml:"image"`
	Port   int       `yaml:"port"`
	Events *[]string `yaml:"event_types,oneormore"`
}

// agentKeys returns the keys of one agent.
func agentKeys() schema.Table {
	text := schema.Object{"type": "string"}
	return schema.Table{
		{Path: "type", Doc: "Kind of agent; issue-triage takes the events issue.*."},
		{Path: "name", Rule: schema.Text("1 to 50 letters, digits, '.', '_' and '-'", func(s string) bool {
			return s != "" && len(s) <= 50 && protocol.ParseAgentVersion(s) == s
		}), Doc: "Its name in track records. Absent: its type, and the host of its address if another agent of the repository has that name."},
		{Path: "allow_close", JSON: boolean(), Doc: "Whether its decisions may close issues."},
		{Path: "protocol", Rule: schema.OneOf("queue", "sync"), Doc: "queue (the default): it is nudged and claims tasks; sync: it answers a request with its decision."},
		{Path: "concurrency", Rule: schema.Between(1, 1000), JSON: number(0), Doc: "Maximum number of its tasks at a time; default 8."},
		{Path: "timeout_seconds", Rule: between(1, 3600), Doc: "How long an agent of the protocol sync may take for its answer; default 60."},
		{Path: "container", Doc: "The resources of a managed agent's container."},
		{Path: "container.env", Rule: environment(), Doc: "Variables of its environment."},
		{Path: "container.memory_mb", Rule: schema.Positive(), JSON: number(0), Doc: "Memory in MiB; default 512."},
		{Path: "container.cpus", Rule: schema.Positive(), Doc: "Processors; default 1."},
		{Path: "container.pids", Rule: schema.Positive(), JSON: number(0), Doc: "Processes and threads; default 256."},
		{Path: "container.user", Doc: "User, by number, such as 65534:65534. Absent: the image's.",
			Rule: schema.Text("a number, or those of user and group, such as 65534:65534", func(s string) bool { return s == "" || userNumber.MatchString(s) })},
		{Path: "config", Doc: "Free-form; url, image, port and event_types are read.", JSON: schema.Object{"type": "object", "properties": schema.Object{
			"url": text, "image": text, "port": schema.Object{"type": []string{"integer", "string"}},
			"event_types": schema.Object{"anyOf": []any{text, schema.Object{"type": "array", "items": text}}},
		}}},
		{Path: "config.url", Rule: schema.Rule{Check: func(v schema.Value) {
			if _, err := address.Canonical(v.Go.String()); err != nil && v.Go.Len() > 0 {
				v.Problemf("%v", err)
			}
		}}},
		{Path: "config.port", Rule: schema.Between(1, 65535)},
		{Path: "config.image", Rule: schema.Text("the name of an image", func(s string) bool {
			return !strings.ContainsAny(s, " \t\n\r") && !strings.HasPrefix(s, "-")
		})},
	}
}

var (
	userNumber   = regexp.MustCompile(`^[0-9]{1,9}(:[0-9]{1,9})?$`)
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// environment permits variables except those that the server sets itself.
func environment() schema.Rule {
	return schema.Rule{Check: func(v schema.Value) {
		env, _ := reflect.TypeAssert[map[string]secret.Text](v.Go)
		for _, name := range slices.Sorted(maps.Keys(env)) {
			if !variableName.MatchString(name) {
				v.Problemf("%q is not the name of a variable", name)
			}
			if name == "FOREMAN_HARNESS_URL" || name == "NIGHT_BROWNIE_URL" || name == "AGENT_URL" {
				v.ProblemAt(yamlfile.Child(v.Node, name), "%s is set by the server", name)
			}
		}
	}}
}

// Managed reports whether the server starts the agent in a container.
func (a Agent) Managed() bool { return a.Image != "" && a.Port != 0 }

// Address returns the base URL of the agent: the configured one, or the port of its container. It
// is empty when the agent has none.
func (a Agent) Address() string {
	if a.Managed() {
		return fmt.Sprintf("http://127.0.0.1:%d", a.Port)
	}
	return a.URL
}

func (a *Agent) check(f file, at *yaml.Node) {
	f.agents.Check("", at, a)
	a.AllowCloseSet = yamlfile.Child(at, "allow_close") != nil
	if a.Type == "" {
		f.Problemf(at, "repos.agents: type: want a name such as issue-triage")
	}
	a.decodeConfig(f)
	timeout := yamlfile.Child(at, "timeout_seconds")
	switch {
	case a.Image != "" && a.Port == 0 && a.URL == "":
		f.File.Warnf(at, "the agent %s has an image and no port: no container is started for it, and no event reaches it", a.Type)
	case a.URL == "" && !a.Managed():
		f.File.Warnf(at, "the agent %s has neither config.url nor config.image: no event reaches it", a.Type)
	case a.Managed() && a.URL != "":
		f.File.Warnf(at, "the agent %s has config.image, so config.url is ignored", a.Type)
	case a.Managed() && a.Protocol == "sync":
		f.Problemf(at, "an agent that the server starts must have protocol: queue")
	}
	if timeout != nil && a.Protocol != "sync" {
		f.File.Warnf(timeout, "timeout_seconds: it applies only to agents with protocol: sync")
	}
}

// decodeConfig reads the known keys of config. The server ignores other keys, but the variables in
// their values must be set.
func (a *Agent) decodeConfig(f file) {
	a.AllEvents = true
	if a.Config == nil {
		return
	}
	if a.Config.Kind != yaml.MappingNode {
		f.Problemf(a.Config, "config: want a mapping, got %s", yamlfile.Kind(a.Config))
		return
	}
	read := *a.Config
	read.Content = nil
	for k, v := range yamlfile.Pairs(a.Config) {
		if slices.Contains([]string{"url", "image", "port", "event_types"}, k.Value) {
			read.Content = append(read.Content, k, v)
		} else {
			f.resolve(v)
		}
	}
	var known agentConfig
	if !f.decoder.Decode(&read, &known) {
		return
	}
	f.agents.Check("config", &read, &known)
	a.URL, a.Image, a.Port = known.URL, known.Image, known.Port
	if known.Events != nil {
		a.Events, a.AllEvents = *known.Events, false
		checkEvents(f, yamlfile.Child(&read, "event_types"), a.Events)
	}
}

// checkEvents warns of events that never reach an agent. They are not mistakes, because the
// published harness accepts any text.
func checkEvents(f file, at *yaml.Node, events []string) {
	known := []string{protocol.TypeIssueTriage}
	for _, k := range eventkind.Kinds() {
		if k.Subject == eventkind.Issue {
			known = append(known, k.Keys()...)
		}
	}
	for i, event := range events {
		if slices.Contains(known, event) {
			continue
		}
		n := at
		if at.Kind == yaml.SequenceNode && i < len(at.Content) {
			n = at.Content[i]
		}
		f.File.Warnf(n, "event_types: no event of this name reaches an agent%s", yamlfile.DidYouMean(event, known))
	}
}
