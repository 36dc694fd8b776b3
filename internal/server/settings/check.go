package settings

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/address"
	"github.com/org/foreman-action/internal/secret"
	"github.com/org/foreman-action/internal/yamlfile"
)

// A checker looks at what the types of the sections do not tell, and fills in defaults
// that depend on something else.
type checker struct {
	*loading
	f    *yamlfile.File
	root *yaml.Node
	// told is where decoding found mistakes: more about these values would only be about
	// what stands there in place of one.
	told []place
}

// A place is a position in the file.
type place struct{ line, column int }

func (p place) compare(q place) int {
	return cmp.Or(cmp.Compare(p.line, q.line), cmp.Compare(p.column, q.column))
}

func newChecker(f *yamlfile.File, root *yaml.Node, l *loading) checker {
	c := checker{loading: l, f: f, root: root}
	ps, _ := errors.AsType[yamlfile.Problems](f.Err())
	for _, p := range ps {
		c.told = append(c.told, place{p.Line, p.Column})
	}
	return c
}

func (c checker) check() {
	c.identity(&c.s.Identity)
	c.polling(&c.s.Polling)
	c.queue(&c.s.Queue)
	c.path(&c.s.Memory.DBPath, "memory", "db_path")
	c.server(&c.s.Server)
	if e := c.s.Telemetry.Endpoint; e != "" && !webAddress(e) {
		c.wrong("telemetry.endpoint: want the address of a collector, such as http://127.0.0.1:4318", "telemetry", "endpoint")
	}
	c.repos(c.s.Repos)
}

// problem records a mistake at a node, unless there was one inside of it.
func (c checker) problem(at *yaml.Node, format string, args ...any) {
	if at != nil {
		first, last := place{at.Line, at.Column}, end(at)
		if slices.ContainsFunc(c.told, func(p place) bool { return p.compare(first) >= 0 && p.compare(last) <= 0 }) {
			return
		}
	}
	c.f.Problemf(at, format, args...)
}

// end returns where the last value in a node ends, or a little behind it.
func end(n *yaml.Node) place {
	last := place{n.Line, n.Column}
	switch lines := strings.Count(n.Value, "\n"); {
	case lines > 0:
		last = place{n.Line + lines + 1, 0}
	case n.Kind == yaml.ScalarNode:
		last.column += max(len(n.Value), 1) // quotes do not count: a separator follows, and a space
	}
	for _, child := range n.Content {
		if e := end(child); e.compare(last) > 0 {
			last = e
		}
	}
	return last
}

// wrong records a problem at the value of a key.
func (c checker) wrong(msg string, keys ...string) {
	c.problem(yamlfile.Child(c.root, keys...), "%s", msg)
}

// path resolves "~" at the start of a path.
func (c checker) path(p *string, keys ...string) {
	at := yamlfile.Child(c.root, keys...)
	out, err := c.home(*p)
	if err != nil {
		c.problem(at, "%s: %v", strings.Join(keys, "."), err)
		return
	}
	*p = out
}

func webAddress(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && address.ValidHost(u.Hostname()) && address.ValidPort(u.Port())
}

func (c checker) identity(i *Identity) {
	at := yamlfile.Child(c.root, "identity")
	if at == nil || at.Kind != yaml.MappingNode {
		return // reported
	}
	token, app := yamlfile.Child(at, "github_token"), yamlfile.Child(at, "app")
	switch {
	case token != nil && app != nil:
		c.problem(app, "identity: either github_token or app, not both")
	case token == nil && app == nil && !c.shadow():
		c.problem(at, "identity: github_token is required, but missing (or app, for a GitHub App; or mode: shadow, which writes nothing)")
	}
	c.oneLine(i.Token, token, "identity.github_token")
	if i.User == "" && app == nil {
		c.problem(at, "identity: github_user is required, but missing: the login that the token belongs to")
	}
	c.apiURL(i, at)
	c.within(bound{"identity", "timeout_seconds", int(i.Timeout), 1, 300})
	if i.App == nil || app == nil || app.Kind != yaml.MappingNode {
		return
	}
	key, file := yamlfile.Child(app, "private_key"), yamlfile.Child(app, "private_key_file")
	if (key == nil) == (file == nil) {
		c.problem(app, "identity.app: want either private_key or private_key_file")
	}
	if yamlfile.Child(app, "app_id") != nil && i.App.ID < 1 {
		c.wrong("identity.app.app_id: want more than 0", "identity", "app", "app_id")
	}
	if yamlfile.Child(app, "installation_id") != nil && i.App.Installation < 1 {
		c.wrong("identity.app.installation_id: want more than 0", "identity", "app", "installation_id")
	}
	c.path(&i.App.PrivateKeyFile, "identity", "app", "private_key_file")
}

// apiURL finds GitHub's API: as configured, or else as the environment has it.
func (c checker) apiURL(i *Identity, identity *yaml.Node) {
	at, name := yamlfile.Child(identity, "api_url"), "identity.api_url"
	if i.APIURL == "" {
		at, name = cmp.Or(at, identity), "environment variable GITHUB_API_URL"
		if v, ok := c.Lookup("GITHUB_API_URL"); ok {
			i.APIURL = v
		}
	}
	if i.APIURL == "" {
		return
	}
	u, err := url.Parse(i.APIURL)
	if err != nil || !webAddress(i.APIURL) || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		c.problem(at, "%s: want an address such as https://github.example.com/api/v3", name)
		return
	}
	if u.Scheme == "http" && !address.Nearby(u.Hostname()) {
		c.f.Warnf(at, "%s: tokens of GitHub cross the network in clear; want https://", name)
	}
}

// oneLine reports a secret that no header can hold, or that nobody typed: one from a file
// that ends in a line break, mostly.
func (c checker) oneLine(text secret.Text, at *yaml.Node, what string) {
	if strings.ContainsFunc(string(text), unicode.IsControl) {
		c.problem(at, "%s: it holds a line break or another control character; a file or a command may have added one at its end", what)
	}
}

// shadow reports whether the file says that nothing is to be written.
func (c checker) shadow() bool {
	at := yamlfile.Child(c.root, "mode")
	return at != nil && at.Value == string(config.ModeShadow)
}

// A bound is a number and between what it must lie.
type bound struct {
	section, key string
	n, from, to  int
}

// maxSeconds is a year; more is a mistake of units.
const maxSeconds = 365 * 24 * 60 * 60

// within reports numbers outside of their bounds. What was not decoded has its default.
func (c checker) within(bounds ...bound) {
	for _, b := range bounds {
		at := yamlfile.Child(c.root, b.section, b.key)
		if at == nil || b.from <= b.n && b.n <= b.to {
			continue
		}
		c.problem(at, "%s.%s: want %d to %d", b.section, b.key, b.from, b.to)
	}
}

func (c checker) oneOf(got string, want []string, keys ...string) {
	if at := yamlfile.Child(c.root, keys...); at != nil && at.ShortTag() == "!!str" && !slices.Contains(want, got) {
		c.problem(at, "%s: want %s%s", strings.Join(keys, "."), strings.Join(want, " or "), yamlfile.DidYouMean(got, want))
	}
}

func (c checker) polling(p *Polling) {
	if c.shadow() && c.s.Identity.Token == "" && c.s.Identity.App == nil {
		if p.Enabled && yamlfile.Child(c.root, "polling", "enabled") != nil {
			c.wrong("polling.enabled: without a token GitHub is not asked; leave it out", "polling", "enabled")
		}
		p.Enabled = false
	}
	c.within(
		bound{"polling", "interval_seconds", int(p.Interval), 1, maxSeconds},
		bound{"polling", "first_run", p.FirstRun, 0, 100_000},
	)
	c.oneOf(p.Maintainers, []string{"skip", "include"}, "polling", "maintainers")
	for i, login := range p.Ignore {
		if login == "" || strings.ContainsAny(login, " \t\r\n@/") {
			c.problem(item(yamlfile.Child(c.root, "polling", "ignore"), i), "polling.ignore: want logins, such as stale[bot]")
		}
	}
}

func (c checker) queue(q *Queue) {
	c.within(
		bound{"queue", "claim_timeout_seconds", int(q.ClaimTimeout), 1, maxSeconds},
		bound{"queue", "max_retries", q.MaxRetries, 1, 1000},
		bound{"queue", "max_drains", q.MaxDrains, 1, 1000},
		bound{"queue", "drain_timeout_seconds", int(q.DrainTimeout), 1, maxSeconds},
		bound{"queue", "drain_interval_seconds", int(q.DrainInterval), 1, maxSeconds},
		bound{"queue", "requeue_interval_seconds", int(q.RequeueInterval), 1, maxSeconds},
		bound{"queue", "max_tasks_per_hour", q.MaxTasks, 0, 1_000_000},
		bound{"queue", "max_writes_per_minute", q.WritesPerMinute, 1, 1_000_000},
		bound{"queue", "max_writes_per_hour", q.WritesPerHour, 1, 1_000_000},
	)
	if least := 2*c.s.Identity.Timeout + 10; q.DrainTimeout < least && q.DrainTimeout > 0 && c.s.Identity.Timeout > 0 {
		key := "drain_timeout_seconds"
		if yamlfile.Child(c.root, "queue", key) == nil {
			c.wrong(fmt.Sprintf("identity.timeout_seconds: with so many, queue.drain_timeout_seconds must be at least %d", least), "identity", "timeout_seconds")
		} else {
			c.wrong(fmt.Sprintf("queue.%s: want at least %d, twice identity.timeout_seconds and ten more", key, least), "queue", key)
		}
	}
	if q.Retention <= 0 {
		c.wrong("queue.retention: want more than 0", "queue", "retention")
	}
	c.path(&q.DBPath, "queue", "db_path")
	plain := string(q.URL)
	c.path(&plain, "queue", "url")
	q.URL = secret.Text(plain)
	if q.URL != "" && q.DBPath != "" {
		c.wrong("queue: either url or db_path, not both", "queue", "url")
	}
	if Postgres(plain) && c.Database != nil {
		if err := c.Database(plain); err != nil {
			c.wrong(fmt.Sprintf("queue.url: %v", err), "queue", "url")
		}
	}
	if scheme, _, ok := strings.Cut(plain, "://"); ok && !Postgres(plain) {
		c.wrong(fmt.Sprintf("queue.url: want the path of a SQLite file or postgres://…%s", yamlfile.DidYouMean(scheme, []string{"postgres"})), "queue", "url")
	}
}

// Postgres reports whether the address of a queue is that of a PostgreSQL server.
func Postgres(address string) bool {
	return strings.HasPrefix(address, "postgres://") || strings.HasPrefix(address, "postgresql://")
}

func (c checker) server(s *Server) {
	c.within(bound{"server", "port", s.Port, 0, 65535})
	if h := s.Host; !address.ValidHost(h) {
		c.wrong("server.host: want a name or an IP address", "server", "host")
	}
	if s.TLS != nil {
		c.path(&s.TLS.Cert, "server", "tls", "cert")
		c.path(&s.TLS.Key, "server", "tls", "key")
	}
	if s.InClear() {
		c.f.Warnf(yamlfile.Child(c.root, "server", "host"), "server.host: %s", InClearWarning)
	}
	c.webhook(s)
	seen := map[string]bool{}
	for i := range s.Credentials {
		cr := &s.Credentials[i]
		at := item(yamlfile.Child(c.root, "server", "credentials"), i)
		c.entry(at, "server.credentials", Operator{cr.Name, cr.Secret}, seen)
		for k, raw := range cr.Agents {
			canonical, err := address.Canonical(raw)
			if err != nil {
				c.problem(item(yamlfile.Child(at, "agents"), k), "server.credentials: agents: %v", err)
			}
			cr.Agents[k] = canonical
		}
	}
	for i, o := range s.Operators {
		c.entry(item(yamlfile.Child(c.root, "server", "operators"), i), "server.operators", o, seen)
	}
}

// InClearWarning says what it means that secrets go in clear, as [Server.InClear] tells.
const InClearWarning = "the secrets of agents and operators cross the network in clear; configure server.tls, " +
	"or server.behind_tls where something in front of the server encrypts"

// webhook gathers the secrets of the webhook. An empty one is a variable that was
// forgotten, and must not turn the webhook off.
func (c checker) webhook(s *Server) {
	for i, text := range s.WebhookSecrets {
		one := item(yamlfile.Child(c.root, "server", "webhook_secrets"), i)
		if text == "" {
			c.problem(one, "server.webhook_secrets: one is empty")
		}
		c.oneLine(text, one, "server.webhook_secrets")
	}
	at := yamlfile.Child(c.root, "server", "webhook_secret")
	if at != nil && s.WebhookSecret == "" {
		c.problem(at, "server.webhook_secret: it is empty; leave it out where no webhook comes")
	}
	c.oneLine(s.WebhookSecret, at, "server.webhook_secret")
	if s.WebhookSecret != "" {
		s.WebhookSecrets = append([]secret.Text{s.WebhookSecret}, s.WebhookSecrets...)
	}
	if at = cmp.Or(at, yamlfile.Child(c.root, "server", "webhook_secrets")); len(s.WebhookSecrets) > 0 && len(s.Credentials) == 0 {
		c.f.Warnf(at, "server: a webhook comes from outside, and without server.credentials who comes from outside can take tasks: "+
			"let what stands in front pass /github/webhook alone, or configure credentials")
	}
}

// enoughSecret is how many characters of a secret nobody guesses.
const enoughSecret = 16

// entry checks the name and the secret of who may talk to the server.
func (c checker) entry(at *yaml.Node, section string, who Operator, seen map[string]bool) {
	name, text := strings.ToLower(who.Name), who.Secret
	switch {
	case name == "" || len(name) > 100 || strings.ContainsAny(name, ":\r\n\x00"):
		c.problem(at, "%s: name: want 1 to 100 characters, and no colon", section)
	case strings.HasPrefix(name, "managed-"):
		c.problem(at, "%s: names that begin with managed- are for the agents that the server starts", section)
	case seen[name]:
		c.problem(at, "%s: there are two with the name %q", section, name)
	}
	seen[name] = true
	c.oneLine(text, at, section)
	switch {
	case text == "":
		c.problem(at, "%s: the secret is empty", section)
	case len(text) < enoughSecret:
		c.f.Warnf(at, "%s: the secret has less than %d characters; make one with: openssl rand -hex 32", section, enoughSecret)
	}
}

// item returns an element of a list, or the list when there is none.
func item(n *yaml.Node, i int) *yaml.Node {
	if n != nil && n.Kind == yaml.SequenceNode && i < len(n.Content) {
		return n.Content[i]
	}
	return n
}
