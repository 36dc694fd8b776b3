package dashboard

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/server/dashboard/trend"
	"github.com/org/foreman-action/internal/server/filter"
)

//go:embed assets/*.html
var pages embed.FS

//go:embed assets/style.css
var styleCSS string

//go:embed assets/live.js
var liveJS string

// A renderer renders responses. It is safe for concurrent use.
type renderer struct {
	template *template.Template
	policy   string // the Content-Security-Policy
	readOnly bool   // there are no operators
	shadow   bool   // nothing is written to GitHub
	history  bool   // there is a page of the history
	record   bool   // there is a page of the track record
	log      *slog.Logger
}

func newRenderer(readOnly, shadow bool, now func() time.Time, log *slog.Logger) *renderer {
	t := template.New("page").Funcs(template.FuncMap{
		"ago":   func(t time.Time) string { return ago(now(), t) },
		"utc":   func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") },
		"stamp": func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		// Style and script are our own files, and the policy allows their hashes.
		"style":  func() template.CSS { return template.CSS(styleCSS) }, //nolint:gosec // not from outside
		"script": func() template.JS { return template.JS(liveJS) },     //nolint:gosec // not from outside
	})
	return &renderer{
		readOnly: readOnly, shadow: shadow, log: log,
		template: template.Must(t.ParseFS(pages, "assets/*.html")),
		policy: strings.Join([]string{
			"default-src 'none'",
			"script-src " + hash(liveJS), "style-src " + hash(styleCSS),
			"connect-src 'self'", "img-src data:", "form-action 'self'",
			"base-uri 'none'", "frame-ancestors 'none'",
			"require-trusted-types-for 'script'", "trusted-types 'none'",
		}, "; "),
	}
}

// hash returns the source expression of the Content-Security-Policy that allows an inline text.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// A login is the form for signing in.
type login struct{ From string } // the page to return to

// A response is one page to send.
type response struct {
	content
	History *trend.Page // nil: not this page
	Record  *recordPage // nil: not this page
	Status  int
	Visitor visitor
	Problem string // empty: none
	Notice  string // about the change that led to the page; empty: none
	Login   *login // nil: no form
	Bulk    *bulkPage
}

// frame is the data of the templates.
type frame struct {
	response
	Title    string
	Operator string
	ReadOnly bool   // there are no operators
	Shadow   bool   // nothing is written to GitHub
	Live     string // the address of the stream of changes; empty: none
	Home     bool
	Past     bool // there is a page of the history
	Records  bool // there is a page of the track record
}

// show sends a page.
func (p *renderer) show(w http.ResponseWriter, r *http.Request, res response) {
	f := frame{
		response: res, Title: title(res), Operator: word(res.Visitor.operator), ReadOnly: p.readOnly, Shadow: p.shadow, Home: res.Overview != nil, Past: p.history, Records: p.record,
	}
	version, err := res.version()
	if err != nil {
		p.log.Error("rendering a page of the dashboard failed", "error", err)
	}
	if version != "" && r.Method == http.MethodGet {
		f.Live = liveURL(r, version)
	}
	var b bytes.Buffer
	if err := p.template.ExecuteTemplate(&b, "page.html", f); err != nil {
		p.log.Error("rendering a page of the dashboard failed", "error", err)
		http.Error(w, "The page cannot be rendered. See the log of the server for the cause.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(res.Status)
	if _, err := w.Write(b.Bytes()); err != nil {
		p.log.Debug("sending a page of the dashboard failed", "error", err)
	}
}

// fail reports that the queue is unavailable, and logs why.
func (p *renderer) fail(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return // the client is gone
	}
	p.log.Error("reading the queue for the dashboard failed", "error", err)
	w.Header().Set("Retry-After", "5")
	p.show(w, r, response{Status: http.StatusServiceUnavailable, Problem: "The queue cannot be read or written now. See the log of the server for the cause."})
}

func title(res response) string {
	switch {
	case res.Login != nil:
		return "Sign in"
	case res.Task != nil:
		return res.Task.Issue + ": " + res.Task.StateName
	case res.Bulk != nil:
		return res.Bulk.Title
	case res.History != nil:
		return "History"
	case res.Record != nil:
		return "Track record of " + res.Record.Repo
	case res.Overview != nil:
		return "Queue"
	}
	return "Not shown"
}

// liveURL is the address of the stream of changes to a page.
func liveURL(r *http.Request, version string) string {
	q := url.Values{}
	if id := r.PathValue("id"); id != "" {
		q.Set("task", id)
	} else {
		for _, key := range filter.Keys() {
			if v := r.URL.Query().Get(key); v != "" {
				q.Set(key, v)
			}
		}
	}
	q.Set("seen", version)
	return "/events?" + q.Encode()
}

// ago formats the time since t, or the time until t if t is in the future.
func ago(now, t time.Time) string {
	d := now.Sub(t)
	text := func(d time.Duration) string {
		switch {
		case d < 2*time.Minute:
			return fmt.Sprintf("%d s", int(d.Seconds()))
		case d < 2*time.Hour:
			return fmt.Sprintf("%d min", int(d.Minutes()))
		case d < 48*time.Hour:
			return fmt.Sprintf("%d h", int(d.Hours()))
		}
		return fmt.Sprintf("%d days", int(d.Hours()/24))
	}
	switch {
	case d < 0:
		return "in " + text(-d)
	case d < time.Second:
		return "now"
	}
	return text(d) + " ago"
}
