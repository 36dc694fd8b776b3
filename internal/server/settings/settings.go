// Package settings reads the server's configuration, config.yaml: who the server is on
// GitHub, which agents it serves, how its queue is kept, and the rules and the policy of
// a [config.Config] beside them.
//
// A configuration of the published harness loads as it is. Mistakes are reported all at
// once, each at its position, and never with a value that may be a secret.
package settings

import (
	"fmt"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/address"
	"github.com/org/foreman-action/internal/secret"
	"github.com/org/foreman-action/internal/yamlfile"
)

// Settings are what a configuration says, with the defaults where it says nothing.
type Settings struct {
	Identity  Identity
	LLM       LLM
	Polling   Polling
	Queue     Queue
	Memory    Memory
	Server    Server
	Telemetry Telemetry
	Repos     []Repo
	// Runner holds the rules, the policy and the model that agents are told of.
	Runner *config.Config
	// Warnings are problems that leave the configuration usable.
	Warnings yamlfile.Problems
}

// Offline reports whether GitHub is never asked: nothing is to be written, and there is
// nothing to show it.
func (s *Settings) Offline() bool {
	return s.Runner.Mode == config.ModeShadow && s.Identity.Token == "" && s.Identity.App == nil
}

// Identity is who the server is on GitHub: by a token, or as an App. In mode shadow it
// may have neither.
type Identity struct {
	Token  secret.Text `yaml:"github_token"`
	User   string      `yaml:"github_user"` // login under which its writes appear; empty: that of App
	APIURL string      `yaml:"api_url"`     // default: $GITHUB_API_URL; empty: api.github.com
	App    *App        `yaml:"app"`         // nil: Token is used
	// Timeout bounds one request to GitHub; default 30.
	Timeout Seconds `yaml:"timeout_seconds"`
}

// An App is a GitHub App and where it is installed.
type App struct {
	ID             int64       `yaml:"app_id,required"`
	Installation   int64       `yaml:"installation_id"` // 0: looked up for each repository
	PrivateKey     secret.Text `yaml:"private_key"`     // PEM
	PrivateKeyFile string      `yaml:"private_key_file"`
}

// LLM is the model that agents are told of.
type LLM struct {
	Provider string      `yaml:"provider,required"`
	Model    string      `yaml:"model,required"`
	APIKey   secret.Text `nullable:"true"          yaml:"api_key"` // kept for published files; goes nowhere
}

// Polling says how GitHub is asked for issues.
type Polling struct {
	Interval    Seconds `yaml:"interval_seconds"` // default 60
	FirstRun    int     `yaml:"first_run"`        // most issues of a repository's first poll; default 100
	Maintainers string  `yaml:"maintainers"`      // "skip", the default, or "include" their issues
	Enabled     bool    `yaml:"enabled"`          // default true
	// Ignore are logins, such as "stale[bot]", whose issues are left out, and whose changes
	// count as the server's own.
	Ignore []string `yaml:"ignore"`
}

// Queue says where tasks are kept, and how long.
type Queue struct {
	DBPath          string        `nullable:"true"                 yaml:"db_path"` // SQLite file; empty: the program's default
	URL             secret.Text   `yaml:"url"`                                     // path of a SQLite file, or postgres://…; empty: DBPath
	ClaimTimeout    Seconds       `yaml:"claim_timeout_seconds"`                   // default 300
	MaxRetries      int           `yaml:"max_retries"`                             // most hand-outs of a task; default 3
	MaxDrains       int           `yaml:"max_drains"`                              // most tries to carry a decision out; default 8
	DrainTimeout    Seconds       `yaml:"drain_timeout_seconds"`                   // lease of a decision; default 120
	DrainInterval   Seconds       `yaml:"drain_interval_seconds"`                  // default 10
	RequeueInterval Seconds       `yaml:"requeue_interval_seconds"`                // default 60
	Retention       time.Duration `yaml:"retention"`                               // of done and failed tasks; default 30 days
	MaxTasks        int           `yaml:"max_tasks_per_hour"`                      // per repository; default 100; 0: any number
	WritesPerMinute int           `yaml:"max_writes_per_minute"`                   // to GitHub; default 80
	WritesPerHour   int           `yaml:"max_writes_per_hour"`                     // to GitHub; default 500
}

// Memory says where is remembered what was done on an issue.
type Memory struct {
	DBPath string `yaml:"db_path"` // SQLite file; empty: the program's default
}

// Server says where the server listens, and who may talk to it.
type Server struct {
	Host           string        `yaml:"host"`       // default 127.0.0.1
	Port           int           `yaml:"port"`       // default 8000
	TLS            *TLS          `yaml:"tls"`        // nil: plain HTTP
	BehindTLS      bool          `yaml:"behind_tls"` // something in front of it encrypts; default false
	WebhookSecret  secret.Text   `yaml:"webhook_secret"`
	WebhookSecrets []secret.Text `yaml:"webhook_secrets"` // several, while one takes the place of another
	Credentials    []Credential  `yaml:"credentials"`     // of agents; none: any agent is served, on loopback only
	Operators      []Operator    `yaml:"operators"`       // people who may retry and cancel tasks
}

// InClear reports whether secrets cross a network as they are: others than this machine
// reach the server, show credentials, and nothing is known to encrypt.
func (s Server) InClear() bool {
	shown := len(s.Credentials)+len(s.Operators) > 0
	return shown && s.TLS == nil && !s.BehindTLS && !address.Loopback(s.Host)
}

// TLS names the files of a certificate.
type TLS struct {
	Cert string `yaml:"cert,required"`
	Key  string `yaml:"key,required"`
}

// A Credential lets agents in.
type Credential struct {
	Name   string      `yaml:"name,required"`
	Secret secret.Text `yaml:"secret,required"`
	Agents []string    `yaml:"agents"` // addresses it may claim for, in canonical form; none: every one
}

// An Operator is a person who may change tasks.
type Operator struct {
	Name   string      `yaml:"name,required"`
	Secret secret.Text `yaml:"secret,required"`
}

// Telemetry says where traces go.
type Telemetry struct {
	Endpoint string `yaml:"endpoint"` // of an OpenTelemetry collector (OTLP over HTTP); empty: nowhere
}

// A Repo is a repository that is served.
type Repo struct {
	Owner  string  `yaml:"owner,required"`
	Name   string  `yaml:"name,required"`
	Agents []Agent `yaml:"agents"`
}

// Full returns "owner/name".
func (r Repo) Full() string { return r.Owner + "/" + r.Name }

// An Agent is one that is asked about a repository's issues.
type Agent struct {
	Type       string `yaml:"type,required"` // such as "issue-triage"
	AllowClose bool   `yaml:"allow_close"`
	// Protocol is "queue", the default: the agent is nudged and claims; or "sync": it
	// answers the whole task at once.
	Protocol    string     `yaml:"protocol"`
	Concurrency int        `yaml:"concurrency"`     // tasks that it is given at a time; default 8
	Timeout     Seconds    `yaml:"timeout_seconds"` // of the answer of a sync agent; default 60
	Container   Container  `yaml:"container"`
	Config      *yaml.Node `yaml:"config"` // free-form; what is read of it follows

	URL    string   `yaml:"-"` // config.url; empty: none
	Image  string   `yaml:"-"` // config.image; empty: none
	Port   int      `yaml:"-"` // config.port; 0: none
	Events []string `yaml:"-"` // config.event_types
	// AllEvents says that config has no event_types: the type's prefix decides.
	AllEvents bool `yaml:"-"`
	// CloseSaid reports whether the file has allow_close for this agent. Where it has not,
	// the policy decides.
	CloseSaid bool `yaml:"-"`
}

// Managed reports whether the server starts the agent, in a container.
func (a Agent) Managed() bool { return a.Image != "" && a.Port != 0 }

// Address is where the agent is reached: as configured, or the port of its container; empty
// when it is nowhere.
func (a Agent) Address() string {
	if a.Managed() {
		return fmt.Sprintf("http://127.0.0.1:%d", a.Port)
	}
	return a.URL
}

// A Container says what a managed agent's container gets.
type Container struct {
	Env      map[string]secret.Text `yaml:"env"`       // variables, such as the key of a model's provider
	MemoryMB int                    `yaml:"memory_mb"` // default 512
	CPUs     float64                `yaml:"cpus"`      // default 1
	PIDs     int                    `yaml:"pids"`      // default 256
	User     string                 `yaml:"user"`      // number, or two with a colon; empty: the image's
}

// Seconds are a length of time as configurations have it.
type Seconds int

// Duration returns it as Go has it.
func (s Seconds) Duration() time.Duration { return time.Duration(s) * time.Second }

// document is the file: the server's sections, and those of a runner.
type document struct {
	Identity  Identity  `yaml:"identity,required"`
	LLM       *LLM      `yaml:"llm"`
	Polling   Polling   `yaml:"polling"`
	Queue     Queue     `yaml:"queue"`
	Memory    Memory    `yaml:"memory"`
	Server    Server    `yaml:"server"`
	Telemetry Telemetry `yaml:"telemetry"`
	Repos     []Repo    `yaml:"repos"`
	// What follows is a runner's, which decodes it.
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
