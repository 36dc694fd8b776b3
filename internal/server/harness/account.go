package harness

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/org/foreman-action/config/serverconfig"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/internal/github/app"
	"github.com/org/foreman-action/runner"
)

// An account is the identity of the server on GitHub, with its clients: one for all
// repositories with a token, one for each with an App. It is safe for concurrent use.
type account struct {
	login string // under which its writes appear
	// id is the same in all servers with this account, whose writes share one rate.
	id      string
	offline bool // GitHub is never called; there are no clients then

	shared *github.Client // nil: an App is used
	app    *app.App       // nil: a token is used
	mu     sync.Mutex
	byRepo map[string]*github.Client // of the App
}

// newAccount returns the account of a configuration. It calls GitHub only for the login of
// an App, where none is configured.
func newAccount(ctx context.Context, o Options, via http.RoundTripper) (*account, error) {
	identity := o.Settings.Identity
	if o.Settings.Offline() {
		return &account{login: identity.User, id: "nobody", offline: true}, nil
	}
	a, err := newClients(identity, github.Options{
		BaseURL: identity.APIURL, UserAgent: "foremand/" + o.Version, Transport: via, RequestTimeout: identity.Timeout.Duration(), Log: o.Log,
	})
	if err != nil || identity.User != "" {
		return a, err
	}
	if a.login, err = a.ask(ctx); err != nil {
		return nil, command.Failed(fmt.Errorf("identity.github_user is not set, and GitHub does not tell the App's login: %w", err))
	}
	return a, nil
}

// newClients returns an account with the clients of an identity. It calls nothing.
func newClients(i serverconfig.Identity, o github.Options) (*account, error) {
	if i.App == nil {
		o.Token = string(i.Token)
		client, err := github.New(o)
		return &account{login: i.User, id: "token of " + strings.ToLower(i.User), shared: client}, err
	}
	key := []byte(string(i.App.PrivateKey))
	if i.App.PrivateKeyFile != "" {
		var err error
		if key, err = os.ReadFile(i.App.PrivateKeyFile); err != nil {
			return nil, fmt.Errorf("identity.app: read the private key: %w", err)
		}
	}
	a, err := app.New(app.Options{ID: strconv.FormatInt(i.App.ID, 10), Key: key, Installation: i.App.Installation, GitHub: o})
	if err != nil {
		return nil, err
	}
	id := fmt.Sprintf("app %d", i.App.ID)
	if i.App.Installation != 0 {
		id += fmt.Sprintf(" installation %d", i.App.Installation)
	}
	return &account{login: i.User, id: id, app: a, byRepo: map[string]*github.Client{}}, nil
}

// host returns what a decision on a repository's issue is carried out with; zero offline.
func (a *account) host(repo string) (runner.Host, error) {
	if a.offline {
		return runner.Host{}, nil
	}
	c, err := a.client(repo)
	if err != nil {
		return runner.Host{}, err
	}
	return runner.HostOf(c), nil
}

// client returns the client for a repository.
func (a *account) client(repo string) (*github.Client, error) {
	if a.app == nil {
		return a.shared, nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	key := strings.ToLower(repo)
	if c := a.byRepo[key]; c != nil {
		return c, nil
	}
	c, err := a.app.Client(repo)
	if err != nil {
		return nil, err
	}
	a.byRepo[key] = c
	return c, nil
}

// ask asks GitHub for the login of the account.
func (a *account) ask(ctx context.Context) (string, error) {
	if a.app != nil {
		return a.app.Login(ctx)
	}
	return a.shared.Viewer(ctx)
}

// checkLogin warns when the configured login is not the one under which writes appear: the
// server would take its own writes for somebody else's. A token that may not ask for its
// login, such as that of a workflow, is accepted.
func (a *account) checkLogin(ctx context.Context, log *slog.Logger) {
	got, err := a.ask(ctx)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		log.Warn("GitHub does not say whose the credentials are; identity.github_user is believed", "github_user", a.login, "error", err)
	case !strings.EqualFold(got, a.login):
		log.Warn("identity.github_user is not who the credentials belong to: its own writes will look like somebody else's", "github_user", a.login, "credentials_of", got)
	}
}
