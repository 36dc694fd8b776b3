package assembly

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/config/serverconfig"
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

// Check returns the mistakes of a configuration that [Open] would report before it opens anything.
func Check(s *serverconfig.Config) error {
	_, err := Credentials(s)
	_, tlsErr := tlsConfig(s.Server)
	return errors.Join(err, tlsErr)
}

// Listen opens the configured address. An address that other machines can reach needs credentials.
func Listen(ctx context.Context, s *serverconfig.Config) (KeptListener, error) {
	if err := Check(s); err != nil {
		return nil, err // a mistake in the configuration
	}
	at := hostPort(s.Server)
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", at)
	if err != nil {
		return nil, command.Failed(fmt.Errorf("listen on %s: %w", at, err))
	}
	k, ok := l.(KeptListener)
	if !ok {
		return nil, command.Failed(errors.Join(fmt.Errorf("listen on %s: %T has no deadline", at, l), l.Close()))
	}
	return k, nil
}

// listen returns the server's own listener, with TLS if a certificate is configured.
func listen(ctx context.Context, o Options) (net.Listener, error) {
	s := o.Settings.Server
	config, err := tlsConfig(s)
	if err != nil {
		return nil, err
	}
	var l net.Listener
	if o.Listener != nil {
		l, err = keep(o.Listener)
	} else {
		l, err = Listen(ctx, o.Settings)
	}
	if err != nil {
		return nil, err
	}
	if config != nil {
		l = tls.NewListener(l, config)
	}
	return l, nil
}

// tlsConfig returns the configured certificate; nil: there is none.
func tlsConfig(s serverconfig.Server) (*tls.Config, error) {
	if s.TLS == nil {
		return nil, nil //nolint:nilnil // as documented
	}
	pair, err := tls.LoadX509KeyPair(s.TLS.Cert, s.TLS.Key)
	if err != nil {
		return nil, fmt.Errorf("server.tls: %w", err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}}, nil
}

// A KeptListener is a listener that can stay open when a server stops: a deadline ends its Accept.
type KeptListener interface {
	net.Listener
	SetDeadline(t time.Time) error
}

// A kept is a listener of one server. Close ends Accept, and leaves the listener open for the next
// server. Meanwhile the system queues connections.
type kept struct {
	KeptListener

	closed atomic.Bool
}

func keep(l KeptListener) (*kept, error) { return &kept{KeptListener: l}, l.SetDeadline(time.Time{}) }

// Accept implements net.Listener.
func (k *kept) Accept() (net.Conn, error) {
	c, err := k.KeptListener.Accept()
	if err != nil && k.closed.Load() {
		return nil, net.ErrClosed
	}
	return c, err
}

// Close implements net.Listener.
func (k *kept) Close() error {
	if k.closed.Swap(true) {
		return net.ErrClosed
	}
	return k.SetDeadline(time.Unix(1, 0))
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
