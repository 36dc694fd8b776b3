package config

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/cli/foremand/deployment"
	"github.com/org/foreman-action/internal/cli/format"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/config/serverconfig"
	"github.com/org/foreman-action/internal/server/assembly"
	"github.com/org/foreman-action/internal/server/database"
)

// checkOptions are all that the command check depends on.
type checkOptions struct {
	Env    process.Env
	Config string // configuration file
}

func checkCommand(env process.Env) *cobra.Command {
	o := checkOptions{Env: env}
	c := &cobra.Command{
		Use:   "check --config FILE",
		Short: "Report all mistakes in a configuration, or describe the server that it sets up",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return runCheck(c.Context(), o) },
	}
	deployment.RequireConfig(c, &o.Config)
	return c
}

// runCheck reports the mistakes in a configuration, or what it sets up.
func runCheck(ctx context.Context, o checkOptions) error {
	s, err := deployment.Load(ctx, o.Env, o.Config)
	if err != nil {
		return err
	}
	if _, err := assembly.Credentials(s); err != nil {
		return err
	}
	for _, w := range s.Warnings {
		fmt.Fprintf(o.Env.Stderr, "%s\n", w.Error())
	}
	if _, err := deployment.Databases(o.Env, database.Locations{}, s.Queue, s.Memory); err != nil { // a flag of serve can name the file
		fmt.Fprintf(o.Env.Stderr, "serve fails as this user: %v\n", err)
	}
	fmt.Fprintf(o.Env.Stdout, "%s is fine.\n", o.Config)
	describe(o.Env.Stdout, s)
	return nil
}

// describe prints the effect of a configuration, without secrets.
func describe(w io.Writer, s *serverconfig.Config) {
	fmt.Fprintf(w, "%s\n", writes(s))
	fmt.Fprintf(w, "listens on %s, with %s and %s\n", net.JoinHostPort(s.Server.Host, strconv.Itoa(s.Server.Port)),
		format.Count(len(s.Server.Credentials), "agent credential"), format.Count(len(s.Server.Operators), "operator"))
	events := "polls every " + s.Polling.Interval.Duration().String()
	if !s.Polling.Enabled {
		events = "does not poll"
	}
	if len(s.Server.WebhookSecrets) > 0 {
		events += ", takes webhooks"
	}
	fmt.Fprintf(w, "%s; %s of its own\n", events, format.Count(s.Runner.Rules.Len(), "rule"))
	for _, r := range s.Repos {
		fmt.Fprintf(w, "%s\n", r.Full())
		for _, a := range r.Agents {
			where := cmp.Or(a.URL, "nowhere")
			if a.Managed() {
				where = fmt.Sprintf("container of %s on port %d", a.Image, a.Port)
			}
			fmt.Fprintf(w, "  %s (%s): %s, allow_close %v\n", a.Type, a.Protocol, withoutUser(where), assembly.MayClose(s, a))
		}
	}
}

// writes returns a sentence about the server's account and the address of GitHub's API.
func writes(s *serverconfig.Config) string {
	who, with := cmp.Or(s.Identity.User, "the App's own login"), "a token"
	if s.Identity.App != nil {
		with = fmt.Sprintf("the GitHub App %d", s.Identity.App.ID)
	}
	verb := "writes"
	switch {
	case s.Offline():
		return "writes nothing (mode: shadow), and has no token to ask GitHub with"
	case s.Runner.Mode == config.ModeShadow:
		verb = "writes nothing (mode: shadow), and reads"
	}
	return fmt.Sprintf("%s as %s, with %s, at %s", verb, who, with, cmp.Or(s.Identity.APIURL, "https://api.github.com"))
}

// withoutUser removes name and password from an address.
func withoutUser(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.User == nil {
		return address
	}
	u.User = nil
	return u.String()
}
