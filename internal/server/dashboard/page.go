package dashboard

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"time"
)

//go:embed assets/page.html
var pageHTML string

//go:embed assets/style.css
var styleCSS string

//go:embed assets/live.js
var liveJS string

// A page is the template with what it takes to show it safely.
type page struct {
	template *template.Template
	policy   string // the Content-Security-Policy
}

// newPage parses the template.
func newPage(now func() time.Time) *page {
	t := template.New("page").Funcs(template.FuncMap{
		"ago":   func(t time.Time) string { return ago(now(), t) },
		"utc":   func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") },
		"stamp": func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		// Both are our own files, and allowed by their hashes.
		"style":  func() template.CSS { return template.CSS(styleCSS) }, //nolint:gosec // not from outside
		"script": func() template.JS { return template.JS(liveJS) },     //nolint:gosec // not from outside
	})
	return &page{
		template: template.Must(t.Parse(pageHTML)),
		policy: strings.Join([]string{
			"default-src 'none'",
			"script-src " + hash(liveJS), "style-src " + hash(styleCSS),
			"connect-src 'self'", "img-src data:", "form-action 'self'",
			"base-uri 'none'", "frame-ancestors 'none'",
			"require-trusted-types-for 'script'", "trusted-types 'none'",
		}, "; "),
	}
}

// hash is the source expression that allows an inline text.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// content is what changes of a page while it is open.
type content struct {
	Overview *overview `json:",omitempty"`
	Task     *taskPage `json:",omitempty"`
}

// version tells two contents apart; it is empty for none.
func (c content) version() (string, error) {
	if c.Overview == nil && c.Task == nil {
		return "", nil
	}
	data, err := json.Marshal(c)
	if err != nil {
		return "", fmt.Errorf("compare pages: %w", err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:12]), nil
}

// login is the form for signing in.
type login struct{ From string }

// shown is one answer.
type shown struct {
	content
	v       visitor
	status  int
	problem string // in words; empty: none
	notice  string // what was done, see notice
	login   *login
}

// frame is what the template gets.
type frame struct {
	content
	Title    string
	Problem  string
	Notice   string
	Login    *login
	Operator string
	Token    string
	ReadOnly bool   // there are no operators
	Live     string // where to hear of changes; empty: nowhere
	Home     bool
}

// show answers with the page.
func (d *Dashboard) show(w http.ResponseWriter, r *http.Request, s shown) {
	f := frame{
		content: s.content, Title: title(s), Problem: s.problem, Notice: notice(s.notice), Login: s.login,
		Operator: word(s.v.operator), Token: d.sessions.token(s.v.session),
		ReadOnly: d.o.Operators == nil, Home: s.Overview != nil,
	}
	version, err := s.version()
	if err != nil {
		d.o.Log.Error("the dashboard cannot be shown", "err", err)
	}
	if version != "" && r.Method == http.MethodGet {
		f.Live = liveURL(r, version)
	}
	var b bytes.Buffer
	if err := d.page.template.Execute(&b, f); err != nil {
		d.o.Log.Error("the dashboard cannot be shown", "err", err)
		http.Error(w, "The page cannot be shown; the log says why.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(s.status)
	if _, err := w.Write(b.Bytes()); err != nil {
		d.o.Log.Debug("the dashboard was not read to its end", "err", err)
	}
}

// fail answers that something is out of order; the log has what it was.
func (d *Dashboard) fail(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return // nobody waits for it
	}
	d.o.Log.Error("the dashboard cannot read the queue", "err", err)
	w.Header().Set("Retry-After", "5")
	d.show(w, r, shown{status: http.StatusServiceUnavailable, problem: "The queue cannot be read or written now. The server's log says why."})
}

func title(s shown) string {
	switch {
	case s.login != nil:
		return "Sign in"
	case s.Task != nil:
		return s.Task.Issue + ": " + string(s.Task.State)
	case s.Overview != nil:
		return "Queue"
	}
	return "Not shown"
}

// liveURL is where an open page hears of changes to what it shows.
func liveURL(r *http.Request, version string) string {
	q := url.Values{}
	if id := r.PathValue("id"); id != "" {
		q.Set("task", id)
	} else {
		for _, key := range []string{"state", "agent", "repo", "issue", "before"} {
			if v := r.URL.Query().Get(key); v != "" {
				q.Set(key, v)
			}
		}
	}
	q.Set("seen", version)
	return "/events?" + q.Encode()
}

// ago says how long ago a time was, or how far ahead it is.
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
