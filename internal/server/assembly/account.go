package assembly

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/config/serverconfig"
	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/internal/github/app"
	"github.com/org/foreman-action/internal/github/rest"
	"github.com/org/foreman-action/internal/logpart"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

// An account is the identity of the server on GitHub, with its clients. With a token there is one
// client for all repositories, with an App one for each repository. It is safe for concurrent use.
type account struct {
	login   string // author of its writes
	offline bool   // GitHub is never called; there are no clients then

	labels *github.Labels // that the clients remember
	files  *github.Files  // of repositories, for the evidence of policies
	shared *github.Client // nil: an App is used
	app    *app.App       // authenticates as the App itself; nil: a token is used
	// appFor returns the App for the requests about one repository.
	appFor func(repo string) (*app.App, error)
	mu     sync.Mutex
	byRepo map[string]*github.Client // of the App
}

// A transports function returns the transport for requests about a repository, "owner/name". For an
// empty repository it returns the transport for all other requests.
type transports func(repo string) http.RoundTripper

// newAccount returns the account of a configuration. It calls GitHub only to find the login of an
// App that has no configured login.
func newAccount(ctx context.Context, o Options, l *Limits, via transports) (*account, error) {
	identity := o.Settings.Identity
	if o.Settings.Offline() {
		return &account{login: identity.User, offline: true}, nil
	}
	a, err := newClients(identity, github.Options{
		BaseURL: identity.APIURL, UserAgent: "foremand/" + o.Version, RequestTimeout: identity.Timeout.Duration(), Log: logpart.Of(o.Log, logpart.GitHub),
	}, l, via)
	if err != nil || identity.User != "" {
		return a, err
	}
	if a.login, err = a.ask(ctx); err != nil {
		return nil, command.Failed(fmt.Errorf("identity.github_user is not set, and reading the App's login failed: %w", err))
	}
	return a, nil
}

// newClients returns an account with the clients of an identity. It makes no calls.
func newClients(i serverconfig.Identity, o github.Options, l *Limits, via transports) (*account, error) {
	if i.App == nil {
		o.Token, o.Transport, o.Hold = string(i.Token), via(""), l.of(i.User)
		client, err := github.New(o)
		if err != nil {
			return nil, err
		}
		labels := github.NewLabels(o.Now)
		return &account{login: i.User, labels: labels, files: github.NewFiles(o.Now), shared: client.Remembering(labels)}, nil
	}
	key := []byte(string(i.App.PrivateKey))
	if i.App.PrivateKeyFile != "" {
		var err error
		if key, err = os.ReadFile(i.App.PrivateKeyFile); err != nil {
			return nil, fmt.Errorf("identity.app: read the private key: %w", err)
		}
	}
	id := fmt.Sprintf("app %d", i.App.ID)
	itself := l.of(id)
	if i.App.Installation != 0 {
		id += fmt.Sprintf(" installation %d", i.App.Installation)
	}
	appFor := func(repo string) (*app.App, error) {
		o := o
		o.Transport = via(repo)
		switch owner, _, _ := strings.Cut(repo, "/"); {
		case i.App.Installation != 0:
			o.Hold = l.of(id)
		case owner != "":
			o.Hold = l.of(owner)
		}
		return app.New(app.Options{ID: strconv.FormatInt(i.App.ID, 10), Key: key, Installation: i.App.Installation, GitHub: o, Hold: itself})
	}
	a, err := appFor("")
	if err != nil {
		return nil, err
	}
	return &account{login: i.User, labels: github.NewLabels(o.Now), files: github.NewFiles(o.Now), app: a, appFor: appFor, byRepo: map[string]*github.Client{}}, nil
}

// host returns the host on which decisions on a repository's issues are executed.
func (a *account) host(_ context.Context, repo triage.Repo) (runner.Host, error) {
	c, err := a.client(repo.Owner + "/" + repo.Name)
	if err != nil {
		return runner.Host{}, err
	}
	h := runner.HostOf(c)
	h.LoginSetting, h.KnownLabel, h.File = "identity.github_user", c.KnownLabel, a.files.Of(c)
	return h, nil
}

// changed updates what the clients remember after a change of a label.
func (a *account) changed(c github.LabelChange) { a.labels.Changed(c) }

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
	one, err := a.appFor(repo)
	if err != nil {
		return nil, err
	}
	c, err := one.Client(repo)
	if err != nil {
		return nil, err
	}
	c = c.Remembering(a.labels)
	a.byRepo[key] = c
	return c, nil
}

// ask requests the login of the account from GitHub.
func (a *account) ask(ctx context.Context) (string, error) {
	if a.app != nil {
		return a.app.Login(ctx)
	}
	return a.shared.Viewer(ctx)
}

// probe sends a request that succeeds for everyone who can read the repository.
func (a *account) probe(ctx context.Context, repo string) error {
	c, err := a.client(repo)
	if err != nil {
		return err
	}
	owner, name, _ := strings.Cut(repo, "/")
	_, _, err = c.LabelPage(ctx, triage.Ref{Owner: owner, Repo: name}, 1)
	return err
}

// checkLogin warns if writes appear under another login than the configured one, because the server
// would treat its own writes as those of another user. It accepts a token that cannot read its own
// login, such as the token of a workflow.
func (a *account) checkLogin(ctx context.Context, log *slog.Logger) {
	got, err := a.ask(ctx)
	switch {
	case ctx.Err() != nil:
	case rest.StatusOf(err) == http.StatusUnauthorized:
		log.Warn("GitHub refuses the credentials: replace them under identity in the configuration, and restart the server", "github_user", a.login, "error", err)
	case err != nil:
		log.Warn("GitHub did not return the owner of the credentials; using identity.github_user", "github_user", a.login, "error", err)
	case !strings.EqualFold(got, a.login):
		log.Warn("identity.github_user is not the owner of the credentials: the server will treat its own writes as those of another user", "github_user", a.login, "credentials_of", got)
	}
}
