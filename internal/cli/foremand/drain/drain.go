// Package drain is the command that lets a running server finish its work, and stop.
package drain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/internal/cli/foremand/deployment"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/internal/server/drain"
	"github.com/org/foreman-action/internal/wait"
)

const help = `Lets the server that runs with this configuration finish its work, and stops it. Meanwhile it
accepts events, and hands out no tasks. The command prints what the server waits for, and ends
when the server has stopped. After the timeout the server stops with work unfinished, which
stays in the queue.

The command sends the first of server.operators. "foremand queue drain" is another command: it
waits until no task is left, and stops no server.

Exit codes: 0 the server has stopped, 1 it has not, 2 a mistake in the arguments.`

const (
	interval = time.Second // between two looks
	call     = 10 * time.Second
	// slack is how long the server may take to stop after its timeout, and gone how many calls in turn must
	// find no server.
	slack = time.Minute
	gone  = 2
)

// Options are all that the command depends on.
type Options struct {
	Env     process.Env
	Config  string        // configuration file
	URL     string        // of the server; empty: as configured
	Timeout time.Duration // after which the server stops in any case
	All     *bool         // wait for the work of all servers; nil: as the server does by default
}

// Command returns the command with its flags.
func Command(env process.Env) *cobra.Command {
	o := Options{Env: env}
	var all bool
	c := &cobra.Command{
		Use:   "drain --config FILE",
		Short: "Let the running server finish its work, and stop it",
		Long:  help,
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if o.Timeout <= 0 || o.Timeout > drain.MaxTimeout {
				return fmt.Errorf("--timeout: want more than 0 and at most %d hours, such as 10m, got %s", int(drain.MaxTimeout.Hours()), o.Timeout)
			}
			if c.Flags().Changed("all") {
				o.All = &all
			}
			return Run(c.Context(), o)
		},
	}
	deployment.RequireConfig(c, &o.Config)
	c.Flags().StringVar(&o.URL, "url", "", "`address` of the server (default: server.host and server.port)")
	c.Flags().DurationVar(&o.Timeout, "timeout", drain.DefaultTimeout, "maximum `duration`, after which the server stops in any case")
	c.Flags().BoolVar(&all, "all", false, "wait until no agent has a claim, and all decisions are carried out, also those of other servers (default: only with a SQLite file)")
	return c
}

// Run asks the server, and waits until it has stopped.
func Run(ctx context.Context, o Options) error {
	s, err := deployment.Load(ctx, o.Env, o.Config)
	if err != nil {
		return err
	}
	server, err := deployment.Running(s.Server, o.URL)
	if err != nil {
		return err
	}
	body := map[string]any{"timeout": o.Timeout.String()}
	if o.All != nil {
		body["all"] = *o.All
	}
	if err := o.drain(ctx, server, body); err != nil {
		return command.Failed(fmt.Errorf("drain the server at %s: %w", server.URL, err))
	}
	fmt.Fprintln(o.Env.Stdout, "the server has stopped")
	return nil
}

// drain sends the request, and follows the progress until the server does not answer.
func (o Options) drain(ctx context.Context, server deployment.Server, body map[string]any) error {
	var p *drain.Progress
	if err := send(ctx, server, "/server/drain", body, &p); err != nil {
		return err
	}
	if p == nil {
		return errors.New("the server did not answer what it waits for")
	}
	ctx, cancel := context.WithTimeoutCause(ctx, p.Until.Sub(p.Since)+slack, errors.New("the server still answers after the time in which it should have stopped"))
	defer cancel()
	first, last, failed := *p, "", 0
	for {
		if text := p.String(); text != last {
			fmt.Fprintf(o.Env.Stdout, "draining until %s: %s\n", p.Until.UTC().Format(time.DateTime), sanitize.Line(text))
			last = text
		}
		if wait.For(ctx, interval) != nil {
			return context.Cause(ctx)
		}
		var status struct {
			Stopping *drain.Progress `json:"stopping"`
		}
		err := send(ctx, server, "/queue/status", nil, &status)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if ended(err) {
			if failed++; failed == gone {
				return nil
			}
			continue
		}
		failed = 0
		switch {
		case err != nil: // such as an outage of the database, or of the network
		case status.Stopping == nil || !status.Stopping.Since.Equal(first.Since):
			return errors.New("another server answers there now: it was started again, or the address belongs to several servers; name the address of one by --url")
		default:
			p = status.Stopping
		}
	}
}

// ended reports whether the error of a request means that no server listens. An error of the network does
// not.
func ended(err error) bool {
	if _, answered := errors.AsType[*deployment.RefusedError](err); err == nil || answered {
		return false
	}
	if _, unknown := errors.AsType[*net.DNSError](err); unknown {
		return false
	}
	failed, ok := errors.AsType[*url.Error](err)
	return ok && !failed.Timeout()
}

// send sends a body by POST, or without one a GET, and decodes the answer.
func send(ctx context.Context, server deployment.Server, path string, body map[string]any, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, call)
	defer cancel()
	method, content := http.MethodGet, any(nil)
	if body != nil {
		method, content = http.MethodPost, body
	}
	data, err := server.Send(ctx, method, path, content)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, answer)
}
