package dashboard

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/org/foreman-action/internal/server/access"
)

// A visitor is who sent a request.
type visitor struct {
	operator string // empty: nobody we know
	session  string // what tokens of forms are bound to; empty: none
}

// The names of cookies. The form for signing in has its own: it is also shown to who
// comes by a link from another site, for which browsers hold the session's back.
const (
	formCookie   = "-form"
	cookieName   = "foreman"
	secureCookie = "__Host-foreman" // browsers take one of that prefix only with Secure, and for one host
)

// visitor finds out who sent a request: by Basic authentication, or by the session.
func (d *Dashboard) visitor(r *http.Request) visitor {
	if d.o.Operators == nil {
		return visitor{}
	}
	if name, pass, ok := r.BasicAuth(); ok {
		if d.check(r, name, pass) {
			return visitor{operator: name, session: "basic " + name}
		}
		return visitor{}
	}
	c, err := r.Cookie(d.cookie(r))
	if err != nil {
		return visitor{}
	}
	return visitor{operator: d.sessions.operator(c.Value), session: c.Value}
}

// check looks a secret up, unless its sender was wrong too often.
func (d *Dashboard) check(r *http.Request, name, pass string) bool {
	from := access.ClientAddr(r)
	if !d.attempts.Allowed(from, name) {
		return false
	}
	if name != "" && pass != "" && d.o.Operators(name, pass) {
		return true
	}
	d.attempts.Fail(from, name)
	if d.warnings.Allow(from) {
		d.o.Log.Warn("a sign-in on the dashboard was refused; further ones of this minute are not told", "remote", from)
	}
	return false
}

// admitted reports whether the visitor may see the page; if not, it has been answered.
func (d *Dashboard) admitted(w http.ResponseWriter, r *http.Request, v visitor) bool {
	switch {
	case v.operator != "", d.o.Operators == nil && !d.o.Private:
		return true
	case d.o.Operators == nil:
		d.show(w, r, shown{status: http.StatusForbidden, problem: "Only operators see this page, and none are configured. Add one to " +
			"server.operators; until then, use \"foremand queue\" on the server."})
	default:
		d.signIn(w, r, http.StatusUnauthorized, "")
	}
	return false
}

// near returns nil if the request may be answered, or its sender be asked who it is. The
// error says why not.
func (d *Dashboard) near(r *http.Request) error {
	if d.o.Operators != nil || d.o.Private {
		return nil
	}
	return access.CheckLocal(r)
}

// loginForm shows the form for signing in.
func (d *Dashboard) loginForm(w http.ResponseWriter, r *http.Request) {
	if d.o.Operators == nil || d.visitor(r).operator != "" {
		redirect(w, local(r.FormValue("from")))
		return
	}
	d.signIn(w, r, http.StatusOK, "")
}

// signIn shows the form with a session of nobody, to which its token is bound.
func (d *Dashboard) signIn(w http.ResponseWriter, r *http.Request, status int, problem string) {
	from := r.FormValue("from")
	switch {
	case r.URL.Path == "/login":
	case r.Method == http.MethodPost:
		from = "/tasks/" + r.PathValue("id")
	default:
		from = r.URL.RequestURI()
	}
	id, err := d.sessions.fresh()
	if err != nil {
		d.fail(w, r, err)
		return
	}
	d.setCookie(w, r, d.cookie(r)+formCookie, id)
	d.show(w, r, shown{status: status, problem: problem, login: &login{From: local(from)}, v: visitor{session: id}})
}

// login opens a session for who knows an operator's secret.
func (d *Dashboard) login(w http.ResponseWriter, r *http.Request) {
	if d.o.Operators == nil {
		d.show(w, r, shown{status: http.StatusForbidden, problem: "No operators are configured."})
		return
	}
	c, err := r.Cookie(d.cookie(r) + formCookie)
	if err != nil || !d.sessions.valid(c.Value, r.PostFormValue("token")) {
		d.signIn(w, r, http.StatusForbidden, "The form was too old, or cookies are off. Please try again.")
		return
	}
	name := r.PostFormValue("name")
	if !d.attempts.Allowed(access.ClientAddr(r), name) {
		w.Header().Set("Retry-After", "60")
		d.signIn(w, r, http.StatusTooManyRequests, "Too many failed attempts. Wait for a minute.")
		return
	}
	if !d.check(r, name, r.PostFormValue("secret")) {
		d.signIn(w, r, http.StatusUnauthorized, "There is no operator of that name with that secret.")
		return
	}
	// A new id: who knew the old one, or set it, must not be signed in with it.
	id, err := d.sessions.begin(name)
	if err != nil {
		d.fail(w, r, err)
		return
	}
	d.setCookie(w, r, d.cookie(r), id)
	d.setCookie(w, r, d.cookie(r)+formCookie, "")
	redirect(w, local(r.PostFormValue("from")))
}

// logout ends the session.
func (d *Dashboard) logout(w http.ResponseWriter, r *http.Request) {
	v := d.visitor(r)
	if !d.sessions.valid(v.session, r.PostFormValue("token")) {
		d.show(w, r, shown{status: http.StatusForbidden, problem: tooOld, v: v})
		return
	}
	d.sessions.end(v.session)
	d.setCookie(w, r, d.cookie(r), "")
	redirect(w, "/")
}

const tooOld = "The form was too old. Go back, reload the page and try again."

func (d *Dashboard) cookie(r *http.Request) string {
	if d.o.Secure || r.TLS != nil {
		return secureCookie
	}
	return cookieName
}

// setCookie sends the id of a session; an empty one ends it in the browser too.
func (d *Dashboard) setCookie(w http.ResponseWriter, r *http.Request, name, id string) {
	c := &http.Cookie{ //nolint:gosec // on this machine connections are not encrypted, and a Secure cookie would not come back
		Name: name, Value: id, Path: "/", MaxAge: int(sessionAge.Seconds()),
		HttpOnly: true, Secure: d.o.Secure || r.TLS != nil, SameSite: http.SameSiteStrictMode,
	}
	if id == "" {
		c.MaxAge = -1
	}
	http.SetCookie(w, c)
}

// redirect has the browser fetch another page of ours.
func redirect(w http.ResponseWriter, to string) {
	w.Header().Set("Location", to)
	w.WriteHeader(http.StatusSeeOther)
}

// local returns an address of this page: of what it is given, or else the first one.
func local(from string) string {
	u, err := url.Parse(from)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || u.Opaque != "" ||
		u.Path != "/" && !strings.HasPrefix(u.Path, "/tasks/") || strings.Contains(from, "\\") {
		return "/"
	}
	return (&url.URL{Path: u.Path, RawQuery: u.RawQuery}).RequestURI()
}
