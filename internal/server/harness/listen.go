package harness

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/org/foreman-action/config/serverconfig"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/server/access"
)

// Credentials returns the credentials of a configuration. It returns an error if a server with
// these credentials may not listen on the configured address.
func Credentials(s *serverconfig.Config) (*access.Credentials, error) {
	var list []access.Credential
	for _, c := range s.Server.Credentials {
		list = append(list, access.Credential{Name: c.Name, Secret: c.Secret, Agents: c.Agents})
	}
	for _, o := range s.Server.Operators {
		list = append(list, access.Credential{Name: o.Name, Secret: o.Secret, Operator: true})
	}
	c, err := access.NewCredentials(list)
	if err != nil {
		return nil, fmt.Errorf("server.credentials and operators: %w", err)
	}
	return c, access.CheckBind(hostPort(s.Server), c)
}

// hostPort returns the configured address of the server.
func hostPort(s serverconfig.Server) string { return net.JoinHostPort(s.Host, strconv.Itoa(s.Port)) }

// listen opens the server's own address, with TLS if a certificate is configured. An address that
// other machines can reach needs credentials.
func listen(ctx context.Context, s serverconfig.Server, c *access.Credentials) (net.Listener, error) {
	at := hostPort(s)
	if err := access.CheckBind(at, c); err != nil {
		return nil, err // a mistake in the configuration
	}
	var config *tls.Config
	if s.TLS != nil {
		pair, err := tls.LoadX509KeyPair(s.TLS.Cert, s.TLS.Key)
		if err != nil {
			return nil, fmt.Errorf("server.tls: %w", err)
		}
		config = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}}
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", at)
	if err != nil {
		return nil, command.Failed(fmt.Errorf("listen on %s: %w", at, err))
	}
	if config != nil {
		l = tls.NewListener(l, config)
	}
	return l, nil
}

// closer returns a function that closes a listener. It is no error if the server has already closed
// it.
func closer(l net.Listener) func() error {
	return func() error {
		if err := l.Close(); !errors.Is(err, net.ErrClosed) {
			return err
		}
		return nil
	}
}

// baseURL returns the address of a listener for people and agents.
func baseURL(l net.Listener, s serverconfig.Server) string {
	scheme := "http"
	if s.TLS != nil {
		scheme = "https"
	}
	return scheme + "://" + l.Addr().String()
}
