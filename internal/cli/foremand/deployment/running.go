package deployment

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"

	"github.com/org/foreman-action/internal/address"
	"github.com/org/foreman-action/internal/config/serverconfig"
)

const maxAnswer = 1 << 20

// A Server is a running server, whose operator the program is. It sends the first of server.operators.
type Server struct {
	URL      string
	operator *serverconfig.Operator // nil: only programs on the server's machine are operators
}

// Running returns the server that runs with a configuration, at an address, or if that is empty on this
// machine.
func Running(s serverconfig.Server, at string) (Server, error) {
	out := Server{URL: baseURL(s)}
	if len(s.Operators) > 0 {
		out.operator = &s.Operators[0]
	}
	if at != "" {
		var err error
		if out.URL, err = canonical(at, out.operator != nil); err != nil {
			return Server{}, fmt.Errorf("--url: %w", err)
		}
	}
	return out, nil
}

// A RefusedError is an answer that refuses a request.
type RefusedError struct {
	code         int
	status, text string
}

// Error returns the status and the server's explanation.
func (e *RefusedError) Error() string { return e.status + ": " + e.text }

// Credential reports whether the server does not accept the credential.
func (e *RefusedError) Credential() bool {
	return e.code == http.StatusUnauthorized || e.code == http.StatusForbidden
}

// Send sends a request with a body as JSON, and returns the answer's body. A nil body sends none. The
// error is a *RefusedError if the server has answered.
func (s Server) Send(ctx context.Context, method, path string, body any) ([]byte, error) {
	var content io.Reader = http.NoBody
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		content = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, s.URL+path, content)
	if err != nil {
		return nil, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if s.operator != nil {
		req.SetBasicAuth(s.operator.Name, string(s.operator.Secret))
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, fmt.Errorf("%w; start the server, or name its address by --url", err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	refused := &RefusedError{code: res.StatusCode, status: res.Status}
	switch {
	case res.StatusCode/100 == 2:
		return data, nil
	case refused.Credential():
		refused.text = "it does not accept the first of server.operators"
		return nil, refused
	}
	var problem struct {
		Detail json.RawMessage `json:"detail"`
	}
	_ = json.Unmarshal(data, &problem) // without it, the status is reported
	if json.Unmarshal(problem.Detail, &refused.text) != nil {
		refused.text = string(problem.Detail)
	}
	return nil, refused
}

// canonical returns the normal form of a server's address, without userinfo. A secret is not sent
// unencrypted to another network.
func canonical(raw string, secret bool) (string, error) {
	at, err := address.Canonical(raw)
	if err != nil {
		return "", err
	}
	u, err := url.Parse(at)
	if err != nil {
		return "", err
	}
	if secret && u.Scheme == "http" && !address.Nearby(u.Hostname()) {
		return "", errors.New("the secret of server.operators would go over plain http; want https://, or a host on this machine or in a private network")
	}
	return at, nil
}

// baseURL returns the address of a server on this machine.
func baseURL(s serverconfig.Server) string {
	host, scheme := s.Host, "http"
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	if s.TLS != nil {
		scheme = "https"
	}
	return scheme + "://" + net.JoinHostPort(host, strconv.Itoa(s.Port))
}
