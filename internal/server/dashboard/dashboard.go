// Package dashboard is the page on which people see what the queue holds and what became
// of each task, and on which operators retry and cancel tasks.
//
// It is one page in the program itself: HTML made by html/template, one style and one
// script, both inline and allowed by their hashes, nothing from elsewhere. It works
// without the script, which only keeps it fresh.
//
// Everything that came from an issue or an agent is shown as text, without control,
// bidirectional and invisible characters, and cut to a length. Links lead to the
// configured GitHub and nowhere else.
package dashboard

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/org/foreman-action/internal/server/access"
	"github.com/org/foreman-action/internal/server/loglimit"
	"github.com/org/foreman-action/queue"
)

// Options say what the page shows, and to whom.
type Options struct {
	Queue queue.Queue // must be set

	// Operators reports whether there is an operator of that name with that secret; it
	// must take the same time for a wrong one. When it is set, only operators see the
	// page. Nil: there are none, and nobody gets buttons.
	Operators func(name, secret string) bool
	// Private keeps the page from everybody when there are no operators. Set it when the
	// server can be reached from other machines, or knows credentials of agents.
	Private bool
	// Secure marks cookies as fit for encrypted connections only, also on connections
	// that are not: something before the server ends the encryption.
	Secure bool

	// Health tells of the server's loops and of the database. Nil: nothing is shown.
	Health func(ctx context.Context) []Health
	// GitHub is the address of GitHub's pages; empty: https://github.com. Links to issues
	// are made only when it is https.
	GitHub string

	Every  time.Duration    // how often an open page looks by itself for changes; 0: 2 s
	Now    func() time.Time // nil: time.Now
	Random io.Reader        // of sessions; nil: crypto/rand
	Log    *slog.Logger     // nil: nothing is logged
}

// Health says how one part of the server is.
type Health struct {
	Name   string
	OK     bool
	Detail string    // for people, such as the last error
	Since  time.Time // of the state it is in; zero: not known
}

// A Dashboard serves the page. It is safe for concurrent use.
type Dashboard struct {
	o        Options
	github   *url.URL // nil: no links
	page     *page
	sessions *sessions
	attempts *access.Attempts
	warnings *loglimit.Limiter
	reader   *reader
	mux      *http.ServeMux
	origins  *http.CrossOriginProtection
	streams  chan struct{} // one element for each open stream
}

// The bounds of what is served.
const (
	maxStreams = 64
	maxForm    = 16 << 10
	sessionAge = 12 * time.Hour
)

// New returns the dashboard. The error names the option that cannot be used.
func New(o Options) (*Dashboard, error) {
	if o.Queue == nil {
		return nil, errors.New("dashboard: there is no Queue")
	}
	if o.Now == nil {
		o.Now = time.Now
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
		return nil, errors.New("dashboard: GitHub is no address of a web site")
	}
	key := make([]byte, 32)
	if _, err := io.ReadFull(o.Random, key); err != nil {
		return nil, fmt.Errorf("dashboard: make a key: %w", err)
	}
	d := &Dashboard{
		o: o, github: github, page: newPage(o.Now),
		sessions: &sessions{key: key, now: o.Now, random: o.Random, open: map[string]session{}},
		attempts: access.NewAttempts(o.Now),
		warnings: loglimit.New(o.Now),
		reader:   newReader(o),
		origins:  http.NewCrossOriginProtection(),
		streams:  make(chan struct{}, maxStreams),
	}
	d.routes()
	return d, nil
}

// routes has a handler for each path.
func (d *Dashboard) routes() {
	d.mux = http.NewServeMux()
	for pattern, serve := range map[string]http.HandlerFunc{
		"GET /{$}":                d.overview,
		"GET /tasks/{id}":         d.task,
		"GET /events":             d.events,
		"POST /tasks/{id}/retry":  d.change(retry()),
		"POST /tasks/{id}/cancel": d.change(cancel()),
		"GET /login":              d.loginForm,
		"POST /login":             d.login,
		"POST /logout":            d.logout,
	} {
		d.mux.HandleFunc(pattern, serve)
	}
}

// ServeHTTP answers with the page, and says 404 or 405 as the harness's API does. Streams
// last until the request's context ends: end it when the server is to stop.
func (d *Dashboard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", d.page.policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	// Not no-referrer: with that, browsers send "Origin: null" with our own forms.
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	if h, pattern := d.mux.Handler(r); pattern == "" {
		absent(w, r, h)
		return
	}
	if err := d.near(r); err != nil {
		d.show(w, r, shown{status: http.StatusMisdirectedRequest, problem: "Without operators the page is shown on this " +
			"machine only. Configure server.operators to see it from elsewhere. What is in the way: " + err.Error() + "."})
		return
	}
	if err := d.origins.Check(r); err != nil {
		d.show(w, r, shown{status: http.StatusForbidden, problem: "The request came from another site, and was refused."})
		return
	}
	if r.Body != nil {
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	}
	d.mux.ServeHTTP(w, r)
}

// absent answers to a path, or a method, that there is not: h says which.
func absent(w http.ResponseWriter, r *http.Request, h http.Handler) {
	refused := &refused{header: http.Header{}}
	h.ServeHTTP(refused, r)
	status, detail := http.StatusNotFound, "Not Found"
	if refused.status == http.StatusMethodNotAllowed {
		status, detail = refused.status, "Method Not Allowed"
		w.Header().Set("Allow", refused.header.Get("Allow"))
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, `{"detail":"`+detail+`"}`) // who asked is gone, or has it
}

// refused keeps what http.ServeMux answers.
type refused struct {
	header http.Header
	status int
}

func (r *refused) Header() http.Header         { return r.header }
func (r *refused) Write(b []byte) (int, error) { return len(b), nil }
func (r *refused) WriteHeader(status int)      { r.status = status }
