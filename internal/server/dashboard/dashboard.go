// Package dashboard is the web page that shows the tasks in the queue and their results, and on
// which operators retry and cancel tasks.
//
// It is part of the program: HTML rendered by html/template, with one style and one script. Both
// are inline and allowed by their hashes. The page loads nothing from other hosts. It works without
// the script, which only keeps it up to date.
//
// Text from an issue or an agent is escaped and shortened, and its control, bidirectional and
// invisible characters are removed. Links lead only to the configured GitHub.
//
// A request is answered in three steps. The reader reads the queue. newOverview or newTask makes a
// view model, which is a plain value. The renderer executes the templates in assets. A new column
// of the list needs a field of row, a line in newRow, and the lines in assets/overview.html.
package dashboard

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"time"

	"github.com/org/foreman-action/harness/observe"
	"github.com/org/foreman-action/internal/server/access"
	"github.com/org/foreman-action/internal/server/budget"
	"github.com/org/foreman-action/internal/server/bulk"
	"github.com/org/foreman-action/internal/server/filter"
	"github.com/org/foreman-action/internal/server/loglimit"
	"github.com/org/foreman-action/internal/server/proposals"
	api "github.com/org/foreman-action/internal/server/response"
	"github.com/org/foreman-action/internal/trackrecord"
	"github.com/org/foreman-action/internal/wait"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/queue/history"
)

// Options configure a [Dashboard].
type Options struct {
	Queue queue.Queue // must be set
	// Pauses are those of the queue; nil: none are shown, and operators cannot pause.
	Pauses queue.Pauses
	// Configured are the agents and repositories that pauses should name; nil: any.
	Configured *filter.Configured

	// Operators reports whether an operator has that name and that secret. It must take the same
	// time for a wrong secret as for the right one. If Operators is set, only operators see the page.
	// Nil: there are no operators and no buttons.
	Operators func(name, secret string) bool
	// Attempts bounds how fast secrets can be guessed; nil: this page uses its own limit.
	Attempts *access.Attempts
	// Private refuses everybody if there are no operators. Set it when the server can be
	// reached from other machines, or has credentials of agents.
	Private bool
	// Secure restricts cookies to HTTPS even on connections without TLS. Set it if a proxy in front
	// of the server terminates TLS.
	Secure bool

	// Shadow says on each page that decisions are only planned, and nothing is written.
	Shadow bool
	// Health returns the state of the server's loops and of the database. Nil: none is shown.
	Health func(ctx context.Context) []Health
	// Waiting returns the proposals that wait for people, the oldest first. Nil: none are shown.
	Waiting func(ctx context.Context) ([]proposals.Waiting, error)
	// History is the history of the tasks; nil: there is no page of it.
	History history.Store
	// TrackRecord returns what became of the actions in one of Repos, "owner/name". Nil: there is no page of
	// it.
	TrackRecord func(ctx context.Context, repo string) (trackrecord.Report, error)
	Repos       []string
	// Budget returns the calls to GitHub. Nil: GitHub is never called.
	Budget func() budget.Report
	// GitHub is the address of GitHub's web pages; empty: https://github.com. If it does not begin
	// with https, the page has no links to issues.
	GitHub string

	Every   time.Duration    // between two checks for changes by an open page; 0: 2 s
	Observe observe.Func     // gets OperatorChanged; nil discards
	Now     func() time.Time // nil: time.Now
	Random  io.Reader        // of session ids; nil: crypto/rand
	Log     *slog.Logger     // nil discards
}

// A Dashboard serves the page. It is safe for concurrent use.
type Dashboard struct {
	queue    queue.Queue
	auth     *auth
	contents *contents
	renderer *renderer
	live     *live
	filter   filter.Parser
	mux      *http.ServeMux
	origins  *http.CrossOriginProtection
	history  history.Store                                                      // nil: none
	record   func(ctx context.Context, repo string) (trackrecord.Report, error) // nil: none
	repos    []string                                                           // of record
	observe  observe.Func
	log      *slog.Logger
}

const maxForm = 16 << 10 // bytes

// New returns a Dashboard. The error names the option that is not valid.
func New(o Options) (*Dashboard, error) {
	if o.Queue == nil {
		return nil, errors.New("dashboard: Queue is not set")
	}
	o.Now = wait.Clock(o.Now)
	if o.Attempts == nil {
		o.Attempts = access.NewAttempts(o.Now)
	}
	if o.Random == nil {
		o.Random = rand.Reader
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Every <= 0 {
		o.Every = 2 * time.Second
	}
	if o.GitHub == "" {
		o.GitHub = "https://github.com"
	}
	github, err := url.Parse(o.GitHub)
	if err != nil || github.Host == "" {
		return nil, errors.New("dashboard: GitHub: want the address of a web site")
	}
	d := &Dashboard{
		queue: o.Queue,
		auth: &auth{
			operators: o.Operators, private: o.Private, secure: o.Secure, log: o.Log,
			sessions: &sessions{now: o.Now, random: o.Random, open: map[string]session{}},
			attempts: o.Attempts, warnings: loglimit.New(o.Now),
		},
		contents: &contents{newReader(o.Queue, o.Health, o.Now), links{github}, o.Pauses, o.Configured},
		renderer: newRenderer(o.Operators == nil, o.Shadow, o.Now, o.Log),
		mux:      http.NewServeMux(),
		origins:  http.NewCrossOriginProtection(),
		filter:   filter.Parser{GitHub: o.GitHub, Now: o.Now},
		observe:  o.Observe, log: o.Log,
	}
	d.history, d.renderer.history = o.History, o.History != nil
	d.record, d.repos, d.renderer.record = o.TrackRecord, o.Repos, o.TrackRecord != nil && len(o.Repos) > 0
	d.contents.reader.waiting, d.contents.reader.log, d.contents.reader.budget = o.Waiting, o.Log, o.Budget
	d.live = &live{queue: o.Queue, auth: d.auth, contents: d.contents, filter: d.filter, every: o.Every, log: o.Log, permits: make(chan struct{}, maxStreams)}
	for pattern, serve := range map[string]http.HandlerFunc{
		"GET /{$}":                   d.overview,
		"GET /tasks/{id}":            d.task,
		"GET /events":                d.live.ServeHTTP,
		"GET /history":               d.past,
		"GET /track-record":          d.trackRecord,
		"POST /tasks/{id}/retry":     d.change(bulk.Retry, "retried"),
		"POST /tasks/{id}/ask-again": d.change(bulk.AskAgain, "asked"),
		"POST /tasks/{id}/cancel":    d.change(bulk.Cancel, "cancelled"),
		"POST /pause":                d.pauseOrResume("pause", d.pause),
		"POST /resume":               d.pauseOrResume("resume", d.resume),
		"POST /bulk":                 d.bulk,
		"GET /login":                 d.loginForm,
		"POST /login":                d.login,
		"POST /logout":               d.logout,
	} {
		d.mux.HandleFunc(pattern, serve)
	}
	return d, nil
}

// ServeHTTP serves the page. Its responses with 404 and 405 have the same form as those of the API.
// A stream lasts until the context of its request ends, so cancel the context when the server
// stops.
func (d *Dashboard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", d.renderer.policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	// With no-referrer, browsers would send "Origin: null" with our own forms.
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	if h, pattern := d.mux.Handler(r); pattern == "" {
		missing := api.Unmatched(h, r)
		maps.Copy(w.Header(), missing.Header)
		api.JSON(w, r, missing.Status, map[string]any{"detail": missing.Detail})
		return
	}
	if err := d.auth.local(r); err != nil {
		d.renderer.show(w, r, response{Status: http.StatusMisdirectedRequest, Problem: "Without operators the page is shown on this " +
			"machine only. Configure server.operators to see it from elsewhere. The reason: " + err.Error() + "."})
		return
	}
	if err := d.origins.Check(r); err != nil {
		d.renderer.show(w, r, response{Status: http.StatusForbidden, Problem: "The request came from another site, and was refused."})
		return
	}
	if r.Body != nil {
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	}
	d.mux.ServeHTTP(w, r)
}
