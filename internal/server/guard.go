package server

import (
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"

	"github.com/org/foreman-action/internal/address"
	"github.com/org/foreman-action/internal/server/guard"
)

// CheckBind returns an error unless a server may listen on the address, "host:port" as
// net.Listen takes it: everywhere when its configuration has credentials for agents, else
// only where no other machine gets in. Call it before listening.
func CheckBind(addr string, c *Credentials) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("listen on %q: want host:port", addr)
	}
	if agents, _ := c.Configured(); agents || address.Loopback(host) {
		return nil
	}
	return fmt.Errorf("listen on %s: whoever reaches it could take tasks and decide on them; "+
		"configure server.credentials, or listen on 127.0.0.1", addr)
}

// access says who may send a request.
type access int

const (
	anybody   access = iota // health; and what has a guard of its own, as the webhook's signature
	agents                  // those who claim and decide
	operators               // those who look on, retry and cancel
)

// admit finds out who sent a request, and refuses it unless that one may. Nothing was
// changed before. who is nil where anybody may send, and where no credential is configured
// and the request came from this machine.
func (s *Server) admit(r *http.Request, a access) (who *known, err error) {
	if err := s.origins.Check(r); err != nil {
		return nil, &refusal{status: http.StatusForbidden, detail: "the request came from a page of another site"}
	}
	if a == anybody {
		return nil, nil
	}
	set := s.o.Credentials.known.Load()
	k, locked := s.identify(r, set)
	if k != nil {
		if k.operator != (a == operators) {
			return nil, &refusal{status: http.StatusForbidden, detail: "the credential is not for this"}
		}
		return k, nil
	}
	if set.agents || set.operators && a == operators {
		s.failed(r, set)
		return nil, s.unknown(r, a, locked)
	}
	if err := guard.Near(r); err != nil {
		s.failed(r, set)
		return nil, &refusal{status: http.StatusForbidden, detail: err.Error()}
	}
	return nil, nil
}

// identify returns the credential that a request shows; nil: none that is known. Who was
// wrong too often under a name is locked out for a while, and its secret not looked at if
// it is a person's. That of an agent is: it is made by a machine and not to be guessed, and
// whoever comes by the same proxy could keep agents out otherwise.
func (s *Server) identify(r *http.Request, set *credentials) (k *known, locked bool) {
	header := r.Header.Get("Authorization")
	if header == "" || len(set.list) == 0 {
		return nil, false
	}
	name, k := set.shown(header)
	if k != nil && !k.operator {
		return k, false
	}
	if !s.wrong.Allowed(guard.From(r), name) {
		return nil, true
	}
	return k, false
}

// failed counts a wrong credential. That there was none is no guess.
func (s *Server) failed(r *http.Request, set *credentials) {
	if header := r.Header.Get("Authorization"); header != "" {
		name, _ := set.shown(header)
		s.wrong.Fail(guard.From(r), name)
	}
}

// unknown refuses a request that shows no credential, or a wrong one.
func (s *Server) unknown(r *http.Request, a access, locked bool) error {
	if from := guard.From(r); s.wrong.Tell(from) {
		s.log.LogAttrs(r.Context(), slog.LevelWarn, "request without a known credential refused; further ones of this minute are not told",
			slog.String("path", shown(r.URL.Path)), slog.String("remote", from))
	}
	if locked {
		return &refusal{
			status: http.StatusTooManyRequests, detail: "too many wrong credentials came from this address; wait for a minute",
			header: http.Header{"Retry-After": {"60"}},
		}
	}
	return unauthorized(a, s.o.Credentials.known.Load())
}

func unauthorized(a access, set *credentials) error {
	detail := "want a bearer token, or a name and a secret"
	if a == operators && !set.operators {
		detail = "only operators see this, and none are configured (server.operators)"
	}
	return &refusal{status: http.StatusUnauthorized, detail: detail, header: http.Header{
		"Www-Authenticate": {`Bearer realm="foreman"`, `Basic realm="foreman", charset="UTF-8"`},
	}}
}

// mayClaim reports whether tasks of an agent may be claimed by who showed a credential;
// nil: none is needed.
func (k *known) mayClaim(agent string) bool {
	return k == nil || len(k.agents) == 0 || slices.Contains(k.agents, agent)
}

// by is the name under which the queue keeps a claim.
func (k *known) by() string {
	if k == nil {
		return ""
	}
	return k.name
}
