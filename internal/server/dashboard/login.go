package dashboard

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/org/foreman-action/internal/server/access"
)

const notOwnPage = "The request did not come from this page. Go back, reload the page and try again."

// admit returns the visitor and true if they may see the page. Otherwise it sends the response and
// returns false.
func (d *Dashboard) admit(w http.ResponseWriter, r *http.Request) (visitor, bool) {
	v := d.auth.visitor(r)
	switch {
	case d.auth.mayRead(v):
		return v, true
	case d.auth.operators == nil:
		d.renderer.show(w, r, response{Status: http.StatusForbidden, Problem: "Only operators see this page, and none are configured. Add one to " +
			"server.operators; until then, use \"foremand queue\" on the server."})
	default:
		d.signIn(w, r, http.StatusUnauthorized, "")
	}
	return v, false
}

// loginForm serves the form for signing in.
func (d *Dashboard) loginForm(w http.ResponseWriter, r *http.Request) {
	if d.auth.operators == nil || d.auth.visitor(r).operator != "" {
		redirect(w, local(r.FormValue("from")))
		return
	}
	d.signIn(w, r, http.StatusOK, "")
}

// signIn shows the login form. After the login, the browser returns to the page of the request.
func (d *Dashboard) signIn(w http.ResponseWriter, r *http.Request, status int, problem string) {
	from := r.FormValue("from")
	switch {
	case r.URL.Path == "/login":
	case r.Method == http.MethodPost:
		from = "/tasks/" + r.PathValue("id")
	default:
		from = r.URL.RequestURI()
	}
	d.renderer.show(w, r, response{Status: status, Problem: problem, Login: &login{From: local(from)}})
}

// login opens a session for an operator's name and secret.
func (d *Dashboard) login(w http.ResponseWriter, r *http.Request) {
	if d.auth.operators == nil {
		d.renderer.show(w, r, response{Status: http.StatusForbidden, Problem: "No operators are configured."})
		return
	}
	if !d.auth.ownPage(r) {
		d.signIn(w, r, http.StatusForbidden, notOwnPage)
		return
	}
	name := r.PostFormValue("name")
	switch right, wait := d.auth.check(r, name, r.PostFormValue("secret")); {
	case right:
	case wait > 0:
		w.Header().Set("Retry-After", access.RetryAfter(wait))
		d.signIn(w, r, http.StatusTooManyRequests, "Too many failed attempts: wait for a minute before the next one.")
		return
	default:
		d.signIn(w, r, http.StatusUnauthorized, "The name or the secret is wrong.")
		return
	}
	// Always use a new id, so that an id which an attacker knows or has set never belongs to a
	// session.
	id, err := d.auth.sessions.begin(name)
	if err != nil {
		d.renderer.fail(w, r, err)
		return
	}
	d.auth.setCookie(w, r, id)
	redirect(w, local(r.PostFormValue("from")))
}

// logout ends the session.
func (d *Dashboard) logout(w http.ResponseWriter, r *http.Request) {
	v := d.auth.visitor(r)
	if !d.auth.ownPage(r) {
		d.renderer.show(w, r, response{Status: http.StatusForbidden, Problem: notOwnPage, Visitor: v})
		return
	}
	d.auth.sessions.end(v.session)
	d.auth.setCookie(w, r, "")
	redirect(w, "/")
}

// redirect sends the browser to another page of the dashboard.
func redirect(w http.ResponseWriter, to string) {
	w.Header().Set("Location", to)
	w.WriteHeader(http.StatusSeeOther)
}

// local returns the address from if it leads to a page of the dashboard, and otherwise the address of
// the first page.
func local(from string) string {
	u, err := url.Parse(from)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || u.Opaque != "" ||
		u.Path != "/" && !strings.HasPrefix(u.Path, "/tasks/") || strings.Contains(from, "\\") {
		return "/"
	}
	return (&url.URL{Path: u.Path, RawQuery: u.RawQuery}).RequestURI()
}
