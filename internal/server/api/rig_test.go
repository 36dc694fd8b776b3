package api_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/internal/secret"
	"github.com/org/foreman-action/internal/server/access"
	"github.com/org/foreman-action/internal/server/api"
	"github.com/org/foreman-action/internal/server/budget"
	"github.com/org/foreman-action/internal/server/drain"
	"github.com/org/foreman-action/internal/server/intake"
	"github.com/org/foreman-action/internal/testkit/brokenqueue"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/queue/queuetest"
)

// A rig is a server with its queue, its clock and its log.
type rig struct {
	archive *txtar.Archive
	clock   *queuetest.Clock
	queue   *brokenqueue.Queue
	server  *api.Server
	url     string
	secrets []string
	log     bytes.Buffer
	answer  string // the last answer
}

func newRig(t *testing.T, a *txtar.Archive, clock *queuetest.Clock, q queue.Queue, pauses queue.Pauses) *rig {
	t.Helper()
	r := &rig{archive: a, clock: clock, queue: brokenqueue.New(q)}
	o := api.Options{Queue: r.queue, Pauses: pauses, Now: r.clock.Now, Log: r.logger()}
	in := intake.Options{Queue: r.queue, Bot: "foreman-bot", Random: strings.NewReader("0123456789abcdef" + "ABCDEFGHIJKLMNOP" + "abcdefghijklmnop" + "0a1b2c3d4e5f6g7h")}
	var creds []access.Credential
	health := map[string]error{}
	for line := range strings.Lines(string(part(a, "options"))) {
		f := strings.Fields(line)
		switch f[0] {
		case "credential":
			creds = append(creds, access.Credential{Name: f[1], Secret: secret.Text(f[2]), Agents: f[3:]})
			r.secrets = append(r.secrets, f[2])
		case "operator":
			creds = append(creds, access.Credential{Name: f[1], Secret: secret.Text(f[2]), Operator: true})
			r.secrets = append(r.secrets, f[2])
		case "webhook":
			o.WebhookSecrets = append(o.WebhookSecrets, secret.Text(f[1]))
			r.secrets = append(r.secrets, f[1])
		case "lease":
			o.Lease, _ = time.ParseDuration(f[1])
		case "route":
			in.Routes = append(in.Routes, intake.Route{Repo: f[1], Type: f[2], URL: strings.Join(f[3:], "")})
		case "health":
			health[f[1]] = nil
			if len(f) > 2 {
				health[f[1]] = errors.New(strings.Join(f[2:], " "))
			}
		case "labels":
			log := o.Log
			o.Label = func(c github.LabelChange) { log.Info("label changed", "change", c) }
		case "budget":
			left, err := strconv.Atoi(f[2])
			if err != nil {
				t.Fatal(line, err)
			}
			o.Budget = func() budget.Report {
				return budget.Report{
					Accounts:     []budget.Account{{Name: f[1], Resource: "core", Calls: 3, Total: 9, Left: left, Limit: 5000, Reset: clock.Now().Add(time.Minute)}, {Name: f[1], Resource: "search"}},
					Repositories: []budget.Repository{{Name: "octo/hello", Account: f[1], Calls: 3, ForEvents: 2, Events: 1, Total: 9, TotalForEvents: 6}},
				}
			}
		case "drain": // the numbers of agents asked, and of decisions that are carried out
			asked, _ := strconv.Atoi(f[1])
			applying, _ := strconv.Atoi(f[2])
			o.Drainer = drain.New(drain.Options{
				Begin: func(bool) {}, InFlight: func() (int, int) { return asked, applying },
				Queue: r.queue, Pauses: pauses, All: true, Stop: func() {}, Now: clock.Now,
			})
		case "pages":
			o.Metrics, o.Dashboard = page("metrics"), page("dashboard")
		default:
			t.Fatalf("options: unknown %q", line)
		}
	}
	o.Health = func(context.Context) map[string]error { return health }
	r.start(t, o, in, creds)
	return r
}

func (r *rig) start(t *testing.T, o api.Options, in intake.Options, creds []access.Credential) {
	t.Helper()
	in.Log = o.Log
	events, err := intake.New(in)
	if err != nil {
		t.Fatal(err)
	}
	o.Take = events.Take
	if o.Credentials, err = access.NewCredentials(creds); err != nil {
		t.Fatal(err)
	}
	if r.server, err = api.New(o); err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(r.server)
	t.Cleanup(s.Close)
	r.url = s.URL
}

func page(text string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) })
}

func (r *rig) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(&r.log, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey || a.Key == "remote" {
			return slog.Attr{}
		}
		return a
	}}))
}
