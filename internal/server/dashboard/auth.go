package dashboard

import (
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/server/access"
	"github.com/org/foreman-action/internal/server/loglimit"
)

// A visitor is the sender of a request.
type visitor struct {
	operator string // empty: not known
	session  string // id; empty: none
}

// The names of the session's cookie.
const (
	cookieName   = "foreman"
	secureCookie = "__Host-foreman" // browsers accept the prefix only with Secure, and for one host
)

// auth identifies the sender of a request by Basic authentication or by a session.
type auth struct {
	operators func(name, secret string) bool // nil: there are none
	private   bool
	secure    bool
	sessions  *sessions
	attempts  *access.Attempts
	warnings  *loglimit.Limiter
	log       *slog.Logger
}

// visitor returns the sender of a request.
func (a *auth) visitor(r *http.Request) visitor {
	if a.operators == nil {
		return visitor{}
	}
	if name, pass, ok := r.BasicAuth(); ok {
		if right, _ := a.check(r, name, pass); right {
			return visitor{operator: name}
		}
		return visitor{}
	}
	c, err := r.Cookie(a.cookie(r))
	if err != nil {
		return visitor{}
	}
	return visitor{operator: a.sessions.operator(c.Value), session: c.Value}
}

// check checks a secret. If it is not accepted, check returns how long the visitor must wait before
// the next try; 0: no wait.
func (a *auth) check(r *http.Request, name, pass string) (right bool, wait time.Duration) {
	from := access.ClientAddr(r)
	try := access.Try{Addr: from, Long: len(pass) >= access.LongSecret}
	if name != "" && pass != "" && a.operators(name, pass) {
		try.Right = name
	}
	right, wait = a.attempts.Judge(r.Context(), try)
	if !right && a.warnings.Allow(from) {
		a.log.Warn("dashboard sign-in refused; further ones in this minute are not logged", "remote", from)
	}
	return right, wait
}

// mayRead reports whether the visitor may see the page.
func (a *auth) mayRead(v visitor) bool {
	return v.operator != "" || a.operators == nil && !a.private
}

// local returns an error for a request that does not come from this machine, unless other checks
// decide: operators have credentials, and a private page refuses everybody.
func (a *auth) local(r *http.Request) error {
	if a.operators != nil || a.private {
		return nil
	}
	return access.CheckLocal(r)
}

// ownPage reports whether a browser sent the request from a page of the dashboard. It is stricter
// than http.CrossOriginProtection, which already checked the request but accepts two more kinds:
// requests without an origin, and requests from HTTP pages to the same host with HTTPS.
func (a *auth) ownPage(r *http.Request) bool {
	if r.Header.Get("Sec-Fetch-Site") != "" {
		return true
	}
	origin := r.Header.Get("Origin")
	return origin != "" && (!a.encrypted(r) || strings.HasPrefix(origin, "https://"))
}

// encrypted reports whether the browser uses HTTPS.
func (a *auth) encrypted(r *http.Request) bool { return a.secure || r.TLS != nil }

func (a *auth) cookie(r *http.Request) string {
	if a.encrypted(r) {
		return secureCookie
	}
	return cookieName
}

// setCookie sends the id of a session; an empty one deletes the cookie.
func (a *auth) setCookie(w http.ResponseWriter, r *http.Request, id string) {
	c := &http.Cookie{ //nolint:gosec // on this machine connections are not encrypted, and a Secure cookie would not come back
		Name: a.cookie(r), Value: id, Path: "/", MaxAge: int(sessionAge.Seconds()),
		HttpOnly: true, Secure: a.encrypted(r), SameSite: http.SameSiteStrictMode,
	}
	if id == "" {
		c.MaxAge = -1
	}
	http.SetCookie(w, c)
}
