// Package reload is the command that makes a running server read its configuration again.
package reload

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/internal/cli/foremand/deployment"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/sanitize"
)

const help = `Makes the server that runs with this configuration read it again: repositories, agents,
secrets, limits, rules and policy. Keys that need a restart are listed. After a mistake the
server continues with what it has.

The command sends the first of server.operators. Where the server does not know it, send
SIGHUP instead: systemctl reload foremand.`

const timeout = 30 * time.Second

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
	server, err := deployment.Running(s.Server, o.URL)
	if err != nil {
		return err
	}
	data, err := server.Send(ctx, http.MethodPost, "/server/reload", nil)
	var answer answer
	if err == nil {
		err = json.Unmarshal(data, &answer)
	}
	if refused, ok := errors.AsType[*deployment.RefusedError](err); ok && refused.Credential() {
		err = fmt.Errorf("%w; send SIGHUP to the server instead", err)
	}
	if err != nil {
		return command.Failed(fmt.Errorf("ask the server at %s to read its configuration again: %w", server.URL, err))
	}
	fmt.Fprintln(o.Env.Stdout, "the server reads its configuration again")
	for _, key := range answer.Unchanged {
		fmt.Fprintf(o.Env.Stdout, "%s: the new value needs a restart\n", sanitize.Line(key))
	}
	return nil
}

// An answer is the server's response to a request that it accepted.
type answer struct {
	Unchanged []string `json:"unchanged"`
}
