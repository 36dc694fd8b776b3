// Package serverconfig reads the configuration of the server, config.yaml: its account on GitHub,
// its agents and its queue, and also the rules and the policy of a [config.Config].
//
// [Load] has the same steps as package config:
//
//	read ──▶ expand and decode ──▶ check ──▶ settle ──▶ problems
//
// Each section has a file in this package with three parts: its struct, its rows and its check. A
// new key needs a field in the struct, whose tags contain its name and default, and a row with the
// permitted values and the description. Conditions on several keys belong in check. Package harness
// passes the values on to the parts of the server.
//
// A configuration of the published harness loads unchanged. All mistakes are reported at once, each
// with its position and without values that may be secrets.
package serverconfig

import (
	"errors"
	"reflect"
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/config/schema"
	"github.com/org/foreman-action/internal/secret"
	"github.com/org/foreman-action/internal/yamlfile"
)

// A Config contains the settings of a configuration file, with defaults for absent keys.
type Config struct {
	Identity  Identity
	LLM       LLM
	Polling   Polling
	Queue     Queue
	Memory    Memory
	Server    Server
	Telemetry Telemetry
	Log       Log
	// Containers is the engine for the agents in Repos that have an image.
	Containers Containers
	Repos      []Repo
	// Runner contains the rules, the policy, and the model that tasks name.
	Runner *config.Config
	// Warnings are problems that do not make the configuration unusable.
	Warnings yamlfile.Problems
}

// Offline reports whether the server never sends requests to GitHub: the mode is shadow, and there
// is neither a token nor an App.
func (c *Config) Offline() bool {
	return c.Runner.Mode == config.ModeShadow && c.Identity.none()
}

// A document is the file: the server's sections, and those that package config decodes.
type document struct {
	Identity   Identity   `yaml:"identity,required"`
	LLM        *LLM       `yaml:"llm"`
	Polling    Polling    `yaml:"polling"`
	Queue      Queue      `yaml:"queue"`
	Memory     Memory     `yaml:"memory"`
	Server     Server     `yaml:"server"`
	Telemetry  Telemetry  `yaml:"telemetry"`
	Log        Log        `yaml:"log"`
	Containers Containers `yaml:"containers"`
	Repos      []Repo     `yaml:"repos"`

	Version *yaml.Node `yaml:"version"`
	Mode    *yaml.Node `yaml:"mode"`
	Policy  *yaml.Node `yaml:"policy"`
	Limits  *yaml.Node `yaml:"limits"`
	Labels  *yaml.Node `yaml:"labels"`
	Rules   *yaml.Node `yaml:"rules"`
	Forms   *yaml.Node `yaml:"forms"`
	Tables  *yaml.Node `yaml:"tables"`
	Tests   *yaml.Node `yaml:"tests"`
	Include *yaml.Node `yaml:"include"`
}

// table returns the keys of the server's own sections, except for those of agents.
func table(spec Spec) schema.Table {
	return slices.Concat(identityKeys(spec), llmKeys(), pollingKeys(), queueKeys(spec), memoryKeys(spec), serverKeys(spec), telemetryKeys(), logKeys(), containersKeys(), repoKeys())
}

// SchemaID is the id of the JSON Schema of the server's configuration. It is only a name: no page
// needs to exist at this address.
const SchemaID = "https://github.com/org/foreman-action/foremand.schema.json"

// Schema returns the JSON Schema, draft 2020-12, of the server's configuration. It accepts some
// files that [Load] rejects.
func Schema() map[string]any {
	shared := config.Schema()
	sections, _ := shared["properties"].(schema.Object)
	parts := schema.Object{}
	for _, name := range sharedSections() {
		parts[name] = sections[name]
	}
	s := slices.Concat(table(Spec{}), agentKeys().Below("repos.agents")).Schema(reflect.TypeFor[document](), parts)
	if defs, ok := shared["$defs"]; ok {
		s["$defs"] = defs
	}
	s["$id"], s["title"] = SchemaID, "Configuration of foremand"
	return s
}

// LLM is the model that tasks name.
type LLM struct {
	Provider string      `yaml:"provider,required"`
	Model    string      `yaml:"model,required"`
	APIKey   secret.Text `yaml:"api_key,nullable"` // kept for published files; unused
}

func llmKeys() schema.Table {
	return schema.Table{
		{Path: "llm", Doc: "Model whose address and name agents receive."},
		{Path: "llm.provider", Doc: "Provider of the model, such as anthropic."},
		{Path: "llm.model", Doc: "Name of the model."},
		{Path: "llm.api_key", Doc: "Accepted, because published files contain it; never sent to an agent."},
	}
}

// Memory configures the store of earlier decisions and actions, which is the queue's database.
type Memory struct {
	DBPath string `yaml:"db_path"` // SQLite file of earlier versions; empty: the program's default
}

func memoryKeys(spec Spec) schema.Table {
	return schema.Table{
		{Path: "memory", Doc: "Where the records of earlier work on issues are stored."},
		{Path: "memory.db_path", Rule: homePath(spec.Home), Doc: "SQLite file in which earlier versions kept the memory. The next start copies its content into the queue's file, and renames it. Absent: memory.db in the default folder of queue.db_path, if the queue is in its default file, too."},
	}
}

// ErrOtherMemory means that the memory would be in another database than the queue.
var ErrOtherMemory = errors.New("the memory is in the database of the queue, because a server that takes over needs the journal and the history")

func (m *Memory) check(f file, q *Queue) {
	at := f.node("memory", "db_path")
	f.database(at, "memory.db_path", m.DBPath)
	if m.DBPath != "" && Postgres(string(q.URL)) && !Postgres(m.DBPath) {
		f.Problemf(at, "memory.db_path: %v; remove this key", ErrOtherMemory)
	}
}

// Telemetry configures where traces are sent.
type Telemetry struct {
	Endpoint string `yaml:"endpoint"` // of an OpenTelemetry collector (OTLP over HTTP); empty: none
}

func telemetryKeys() schema.Table {
	return schema.Table{
		{Path: "telemetry", Doc: "Where traces go."},
		{Path: "telemetry.endpoint", Doc: "Address of an OpenTelemetry collector (OTLP over HTTP). Absent: $OTEL_EXPORTER_OTLP_ENDPOINT; without it, no traces.",
			Rule: schema.Text("the address of a collector, such as http://127.0.0.1:4318", func(s string) bool { return s == "" || webAddress(s) })},
	}
}
