// Package reload is the command that makes a running server read its configuration again.
package reload

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/internal/address"
	"github.com/org/foreman-action/internal/cli/foremand/deployment"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/config/serverconfig"
	"github.com/org/foreman-action/internal/sanitize"
)

const help = `Makes the server that runs with this configuration read it again: repositories, agents,
secrets, limits, rules and policy. Keys that need a restart are listed. After a mistake the
server continues with what it has.

The command sends the first of server.operators. Where the server does not know it, send
SIGHUP instead: systemctl reload foremand.`

const (
	timeout   = 30 * time.Second
	maxAnswer = 1 << 20
)

// Options are all that the command depends on.
type Options struct {
	Env    process.Env
	Config string // configuration file
	URL    string // of the server; empty: as configured
}

// Command returns the command with its flags.
func Command(env process.Env) *cobra.Command {
	o := Options{Env: env}
	c := &cobra.Command{
		Use:   "reload --config FILE",
		Short: "Make the running server read its configuration again",
		Long:  help,
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return Run(c.Context(), o) },
	}
	deployment.RequireConfig(c, &o.Config)
	c.Flags().StringVar(&o.URL, "url", "", "`address` of the server (default: server.host and server.port)")
	return c
}

// Run asks the server.
func Run(ctx context.Context, o Options) error {
	s, err := deployment.Load(ctx, o.Env, o.Config)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	at := baseURL(s.Server)
	if o.URL != "" {
		if at, err = canonical(o.URL, len(s.Server.Operators) > 0); err != nil {
			return fmt.Errorf("--url: %w", err)
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, at+"/server/reload", http.NoBody)
	if err != nil {
		return fmt.Errorf("ask the server at %s: %w", at, err)
	}
	if len(s.Server.Operators) > 0 {
		req.SetBasicAuth(s.Server.Operators[0].Name, string(s.Server.Operators[0].Secret))
	}
	answer, err := send(req)
	if err != nil {
		return command.Failed(fmt.Errorf("ask the server at %s to read its configuration again: %w", at, err))
	}
	fmt.Fprintln(o.Env.Stdout, "the server reads its configuration again")
	for _, key := range answer.Unchanged {
		fmt.Fprintf(o.Env.Stdout, "%s: the new value needs a restart\n", sanitize.Line(key))
	}
	return nil
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

// An answer is the server's response to a request that it accepted.
type answer struct {
	Unchanged []string `json:"unchanged"`
}

func send(req *http.Request) (answer, error) {
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return answer{}, fmt.Errorf("%w; start the server, or name its address by --url", err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return answer{}, fmt.Errorf("read the answer: %w", err)
	}
	var a answer
	switch res.StatusCode {
	case http.StatusAccepted:
		err := json.Unmarshal(body, &a)
		return a, err
	case http.StatusUnauthorized, http.StatusForbidden:
		return a, fmt.Errorf("%s: it does not accept the first of server.operators; send SIGHUP to the server instead", res.Status)
	}
	var problem struct {
		Detail string `json:"detail"`
	}
	_ = json.Unmarshal(body, &problem) // without it, the status is reported
	return a, fmt.Errorf("%s: %s", res.Status, problem.Detail)
}
