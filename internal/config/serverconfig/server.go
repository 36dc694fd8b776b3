package serverconfig

import (
	"cmp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/address"
	"github.com/org/foreman-action/internal/config/schema"
	"github.com/org/foreman-action/internal/secret"
	"github.com/org/foreman-action/internal/yamlfile"
)

// Server configures the address to listen on, and who may connect.
type Server struct {
	Host           string        `default:"127.0.0.1"    yaml:"host"`
	Port           int           `default:"8000"         yaml:"port"`
	TLS            *TLS          `yaml:"tls"`             // nil: plain HTTP
	BehindTLS      bool          `yaml:"behind_tls"`      // a proxy in front of the server encrypts
	TrustedProxies []string      `yaml:"trusted_proxies"` // networks whose X-Forwarded-For and Forwarded are trusted
	WebhookSecret  secret.Text   `yaml:"webhook_secret"`
	WebhookSecrets []secret.Text `yaml:"webhook_secrets"` // several during a rotation; WebhookSecret is the first
	Credentials    []Credential  `yaml:"credentials"`     // of agents; none: any agent is served, on loopback only
	Operators      []Operator    `yaml:"operators"`       // people who may retry and cancel tasks
}

// TLS names the files of a certificate.
type TLS struct {
	Cert string `yaml:"cert,required"`
	Key  string `yaml:"key,required"`
}

// A Credential lets agents claim tasks.
type Credential struct {
	Name   string      `yaml:"name,required"`
	Secret secret.Text `yaml:"secret,required"`
	Agents []string    `yaml:"agents"` // canonical addresses it may claim for; empty: every one
}

// An Operator is a person who may retry and cancel tasks.
type Operator struct {
	Name   string      `yaml:"name,required"`
	Secret secret.Text `yaml:"secret,required"`
}

func serverKeys(spec Spec) schema.Table {
	return schema.Table{
		{Path: "server", Doc: "Address of the server, and the credentials of its clients."},
		{Path: "server.host", Rule: schema.Text("a name or an IP address", address.ValidHost),
			Doc: "Address to listen on; default 127.0.0.1. Others need credentials."},
		{Path: "server.port", Rule: between(0, 65535), Doc: "Port to listen on; default 8000; 0: any free one."},
		{Path: "server.tls", Doc: "Certificate, for HTTPS."},
		{Path: "server.tls.cert", Rule: homePath(spec.Home), Doc: "File of the certificate chain, as PEM."},
		{Path: "server.tls.key", Rule: homePath(spec.Home), Doc: "File of its private key, as PEM."},
		{Path: "server.behind_tls", JSON: boolean(),
			Doc: "Whether a proxy in front of the server encrypts; then the dashboard's cookies are for HTTPS only. Default false."},
		{Path: "server.trusted_proxies", Rule: schema.Each(schema.Text("a network such as 10.0.0.0/8, or an IP address", isNetwork)),
			Doc: "Proxies whose X-Forwarded-For or Forwarded names the client, as networks. Absent: the client is the peer of the connection."},
		{Path: "server.webhook_secret", Rule: filled("it is empty; leave it out if no webhook is used"),
			Doc: "Secret of the webhook; absent: no webhook is accepted."},
		{Path: "server.webhook_secrets", Rule: schema.Each(filled("one is empty")), Doc: "Several secrets, during a rotation."},
		{Path: "server.credentials", Doc: "Credentials of agents. Absent: any agent, on loopback only."},
		{Path: "server.credentials.name", Doc: "Name of the agent, for logs."},
		{Path: "server.credentials.secret", Doc: "The secret: a bearer token, or the password in its address."},
		{Path: "server.credentials.agents", Doc: "Addresses that it may claim for. Absent: any."},
		{Path: "server.operators", Doc: "People who may retry and cancel tasks."},
		{Path: "server.operators.name", Doc: "Name of the person, for logs."},
		{Path: "server.operators.secret", Doc: "Their password."},
	}
}

func isNetwork(text string) bool {
	_, err := address.ParseNetwork(text)
	return err == nil
}

// InClear reports whether secrets cross a network unencrypted. That is so if callers on other
// machines send credentials, and TLS is neither configured nor provided in front of the server.
func (s Server) InClear() bool {
	shown := len(s.Credentials)+len(s.Operators) > 0
	return shown && s.TLS == nil && !s.BehindTLS && !address.Loopback(s.Host)
}

// InClearWarning is the warning for [Server.InClear].
const InClearWarning = "the secrets of agents and operators are sent unencrypted; configure server.tls, " +
	"or server.behind_tls if a proxy in front of the server encrypts"

func (s *Server) check(f file) {
	if s.InClear() {
		f.File.Warnf(f.node("server", "host"), "server.host: %s", InClearWarning)
	}
	if s.WebhookSecret != "" {
		s.WebhookSecrets = append([]secret.Text{s.WebhookSecret}, s.WebhookSecrets...)
	}
	at := cmp.Or(f.node("server", "webhook_secret"), f.node("server", "webhook_secrets"))
	if len(s.WebhookSecrets) > 0 && len(s.Credentials) == 0 {
		f.File.Warnf(at, "server: GitHub sends webhooks from outside, so without server.credentials any client outside can claim tasks: "+
			"configure credentials, or let the proxy pass /github/webhook only")
	}
	seen := map[string]bool{}
	for i, c := range s.Credentials {
		at := item(f.node("server", "credentials"), i)
		Operator{c.Name, c.Secret}.check(f, at, "server.credentials", seen)
		for k, raw := range c.Agents {
			canonical, err := address.Canonical(raw)
			if err != nil {
				f.Problemf(item(yamlfile.Child(at, "agents"), k), "server.credentials: agents: %v", err)
			}
			c.Agents[k] = canonical
		}
	}
	for i, o := range s.Operators {
		o.check(f, item(f.node("server", "operators"), i), "server.operators", seen)
	}
}

// checkAgents warns of credentials for addresses that no agent has. The server would answer 403 to the
// agent that uses such a credential.
func (s *Server) checkAgents(f file, repos []Repo) {
	var known []string
	for _, r := range repos {
		for _, a := range r.Agents {
			canonical, _ := address.Canonical(a.Address()) // another check reports the error
			known = append(known, canonical)
		}
	}
	for i, c := range s.Credentials {
		at := yamlfile.Child(item(f.node("server", "credentials"), i), "agents")
		for k, a := range c.Agents {
			if a != "" && !slices.Contains(known, a) {
				f.File.Warnf(item(at, k), "server.credentials: agents: no agent of repos has this address, so no task can be claimed with it; write the address as in config.url")
			}
		}
	}
}

// check checks the name and the secret of an entry. seen contains the names of earlier entries,
// which must differ.
func (o Operator) check(f file, at *yaml.Node, section string, seen map[string]bool) {
	name := strings.ToLower(o.Name)
	switch {
	case name == "" || len(name) > 100 || strings.ContainsAny(name, ":\r\n\x00"):
		f.Problemf(at, "%s: name: want 1 to 100 characters, and no colon", section)
	case strings.HasPrefix(name, "managed-"):
		f.Problemf(at, "%s: names that begin with managed- are for the agents that the server starts", section)
	case seen[name]:
		f.Problemf(at, "%s: two entries have the name %q", section, name)
	}
	seen[name] = true
	if controls(string(o.Secret)) {
		f.Problemf(at, "%s: %s", section, controlsMessage)
	}
	switch {
	case o.Secret == "":
		f.Problemf(at, "%s: the secret is empty", section)
	case len(o.Secret) < secret.Long:
		f.File.Warnf(at, "%s: the secret has less than %d characters; make one with: openssl rand -hex 32", section, secret.Long)
	}
}
