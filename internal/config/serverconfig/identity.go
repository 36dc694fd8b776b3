package serverconfig

import (
	"cmp"
	"net/url"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/address"
	"github.com/org/foreman-action/internal/config/schema"
	"github.com/org/foreman-action/internal/secret"
	"github.com/org/foreman-action/internal/yamlfile"
)

// Identity is the server's account on GitHub: a token or an App. In shadow mode the server may have
// neither.
type Identity struct {
	Token  secret.Text `yaml:"github_token"`
	User   string      `yaml:"github_user"` // login of its writes; empty: the login of App
	APIURL string      `yaml:"api_url"`     // default: $GITHUB_API_URL; empty: api.github.com
	App    *App        `yaml:"app"`         // nil: Token is used
	// Timeout limits one request to GitHub.
	Timeout Seconds `default:"30" yaml:"timeout_seconds"`
}

// An App is a GitHub App with its installation.
type App struct {
	ID             int64       `yaml:"app_id,required"`
	Installation   int64       `yaml:"installation_id"` // 0: looked up for each repository
	PrivateKey     secret.Text `yaml:"private_key"`     // PEM
	PrivateKeyFile string      `yaml:"private_key_file"`
}

func identityKeys(spec Spec) schema.Table {
	return schema.Table{
		{Path: "identity", Doc: "Account of the server on GitHub."},
		{Path: "identity.github_token", Rule: oneLine(),
			Doc: "Token of the bot; best as ${GITHUB_TOKEN}. May be absent in mode shadow, which writes nothing."},
		{Path: "identity.github_user", Doc: "Login under which the server's writes appear. May be absent for an App."},
		{Path: "identity.api_url", Doc: "Root of GitHub's API. Absent: $GITHUB_API_URL, else https://api.github.com."},
		{Path: "identity.timeout_seconds", Rule: between(1, 300), Doc: "Longest time of one request to GitHub; default 30."},
		{Path: "identity.app", Doc: "A GitHub App, in place of a token."},
		{Path: "identity.app.app_id", Rule: schema.Positive(), JSON: number(1), Doc: "Number of the App."},
		{Path: "identity.app.installation_id", Rule: schema.Positive(), JSON: number(1),
			Doc: "Number of its installation. Absent: looked up for each repository."},
		{Path: "identity.app.private_key", Doc: "The App's private key, as PEM."},
		{Path: "identity.app.private_key_file", Rule: homePath(spec.Home), Doc: "File with the App's private key."},
	}
}

// none reports whether there is neither a token nor an App.
func (i *Identity) none() bool { return i.Token == "" && i.App == nil }

func (i *Identity) check(f file) {
	at := f.node("identity")
	if at == nil || at.Kind != yaml.MappingNode {
		return // already reported
	}
	token, app := yamlfile.Child(at, "github_token"), yamlfile.Child(at, "app")
	switch {
	case token != nil && app != nil:
		f.Problemf(app, "identity: either github_token or app, not both")
	case token == nil && app == nil && !f.shadow():
		f.Problemf(at, "identity: github_token is required, but missing (or app, for a GitHub App; or mode: shadow, which writes nothing)")
	}
	if i.User == "" && app == nil {
		f.Problemf(at, "identity: github_user is required, but missing: the login that the token belongs to")
	}
	if app != nil && app.Kind == yaml.MappingNode && (yamlfile.Child(app, "private_key") == nil) == (yamlfile.Child(app, "private_key_file") == nil) {
		f.Problemf(app, "identity.app: want either private_key or private_key_file")
	}
	i.settleAPI(f, at)
}

// settleAPI sets the address of GitHub's API: the configured one, or else the one in the
// environment.
func (i *Identity) settleAPI(f file, identity *yaml.Node) {
	at, name := yamlfile.Child(identity, "api_url"), "identity.api_url"
	if i.APIURL == "" {
		at, name = cmp.Or(at, identity), "environment variable GITHUB_API_URL"
		if v, ok := f.spec.lookup("GITHUB_API_URL"); ok {
			i.APIURL = v
		}
	}
	if i.APIURL == "" {
		return
	}
	u, err := url.Parse(i.APIURL)
	if err != nil || !webAddress(i.APIURL) || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		f.Problemf(at, "%s: want an address such as https://github.example.com/api/v3", name)
		return
	}
	if u.Scheme == "http" && !address.Nearby(u.Hostname()) {
		f.File.Warnf(at, "%s: GitHub tokens would be sent unencrypted; want https://", name)
	}
}
