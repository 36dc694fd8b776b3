package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"strconv"

	"github.com/org/foreman-action/config/serverconfig"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/server"
)

// listen opens the server's own address, encrypted where a certificate is configured. An
// address that others can reach needs credentials.
func listen(ctx context.Context, s serverconfig.Server, c *server.Credentials) (net.Listener, error) {
	at := net.JoinHostPort(s.Host, strconv.Itoa(s.Port))
	if err := server.CheckBind(at, c); err != nil {
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

// baseURL is the address of a listener for people and agents.
func baseURL(l net.Listener, s serverconfig.Server) string {
	scheme := "http"
	if s.TLS != nil {
		scheme = "https"
	}
	return scheme + "://" + l.Addr().String()
}
