package main

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
	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/internal/github/app"
	"github.com/org/foreman-action/runner"
)

// A hub makes the clients for GitHub: one for all repositories with a token, one for each
// with an App. Nil stands for a server that never asks GitHub. It is safe for concurrent
// use.
type hub struct {
	app    *app.App // nil: a token is used
	mu     sync.Mutex
	byRepo map[string]*github.Client
	shared *github.Client
	// id names the account, the same in all servers that have it: its writes share one rate.
	id string
}

// newHub returns the clients of an identity. It does no call.
func newHub(i serverconfig.Identity, via http.RoundTripper, log *slog.Logger) (*hub, error) {
	o := github.Options{
		BaseURL: i.APIURL, Token: string(i.Token), UserAgent: "foremand/" + version(), Transport: via, RequestTimeout: i.Timeout.Duration(), Log: log,
	}
	if i.App == nil {
		client, err := github.New(o)
		return &hub{shared: client, id: "token of " + strings.ToLower(i.User)}, err
	}
	key := []byte(string(i.App.PrivateKey))
	if i.App.PrivateKeyFile != "" {
		var err error
		if key, err = os.ReadFile(i.App.PrivateKeyFile); err != nil {
			return nil, fmt.Errorf("identity.app: read the private key: %w", err)
		}
	}
	o.Token = ""
	a, err := app.New(app.Options{ID: strconv.FormatInt(i.App.ID, 10), Key: key, Installation: i.App.Installation, GitHub: o})
	if err != nil {
		return nil, err
	}
	id := fmt.Sprintf("app %d", i.App.ID)
	if i.App.Installation != 0 {
		id += fmt.Sprintf(" installation %d", i.App.Installation)
	}
	return &hub{app: a, byRepo: map[string]*github.Client{}, id: id}, nil
}

// host returns what a decision on a repository's issue is carried out with; zero for a server
// that never asks GitHub.
func (h *hub) host(repo string) (runner.Host, error) {
	if h == nil {
		return runner.Host{}, nil
	}
	c, err := h.client(repo)
	if err != nil {
		return runner.Host{}, err
	}
	return runner.HostOf(c), nil
}

// account names who writes.
func (h *hub) account() string {
	if h == nil {
		return "nobody"
	}
	return h.id
}

// client returns the client for a repository.
func (h *hub) client(repo string) (*github.Client, error) {
	if h.app == nil {
		return h.shared, nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	key := strings.ToLower(repo)
	if c := h.byRepo[key]; c != nil {
		return c, nil
	}
	c, err := h.app.Client(repo)
	if err != nil {
		return nil, err
	}
	h.byRepo[key] = c
	return c, nil
}

// login asks GitHub who writes.
func (h *hub) login(ctx context.Context) (string, error) {
	if h.app != nil {
		return h.app.Login(ctx)
	}
	return h.shared.Viewer(ctx)
}

// checkLogin warns when the configured login is not the one under which writes appear: what
// we wrote would look like somebody else's. A token that cannot ask who it is, such as that
// of a workflow, says nothing.
func checkLogin(ctx context.Context, h *hub, want string, log *slog.Logger) {
	got, err := h.login(ctx)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		log.Warn("GitHub does not say whose the credentials are; identity.github_user is believed", "github_user", want, "error", err)
	case !strings.EqualFold(got, want):
		log.Warn("identity.github_user is not who the credentials belong to: its own writes will look like somebody else's", "github_user", want, "credentials_of", got)
	}
}
