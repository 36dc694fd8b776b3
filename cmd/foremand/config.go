package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/config/serverconfig"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/store/postgres"
)

func (p program) configCommand() *cobra.Command {
	parent := &cobra.Command{Use: "config", Short: "Look at the configuration", Args: cobra.NoArgs, RunE: needsVerb}
	check := &cobra.Command{
		Use:   "check --config FILE",
		Short: "Report all mistakes in a configuration, and what it sets up",
		Args:  cobra.NoArgs,
	}
	path := configFlag(check)
	check.RunE = func(cmd *cobra.Command, _ []string) error {
		s, err := serverconfig.Load(cmd.Context(), p.spec(*path))
		if err != nil {
			return err
		}
		if _, err := guarded(s); err != nil {
			return err
		}
		p.describe(*path, s)
		return nil
	}
	parent.AddCommand(check, &cobra.Command{
		Use:     "schema",
		Short:   "Print the JSON Schema of the configuration, for editors",
		Example: "  foremand config schema > foremand.schema.json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			e := json.NewEncoder(p.stdout)
			e.SetEscapeHTML(false)
			e.SetIndent("", "  ")
			return command.Failed(e.Encode(serverconfig.Schema()))
		},
	})
	return parent
}

// needsVerb is what a command does that only groups others.
func needsVerb(cmd *cobra.Command, _ []string) error {
	var names []string
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}
	return fmt.Errorf("%s: want one of %s", cmd.CommandPath(), strings.Join(names, ", "))
}

// configFlag adds --config, which must be given.
func configFlag(cmd *cobra.Command) *string {
	path := cmd.Flags().String("config", "", "the `file` with the configuration")
	_ = cmd.MarkFlagRequired("config") // the flag is there
	return path
}

func (p program) spec(path string) serverconfig.Spec {
	return serverconfig.Spec{Path: path, Lookup: p.lookup, Home: p.home(), Database: postgres.CheckURL}
}

// describe prints what a configuration sets up, without any secret.
func (p program) describe(path string, s *serverconfig.Config) {
	for _, w := range s.Warnings {
		fmt.Fprintf(p.stderr, "%s\n", w.Error())
	}
	fmt.Fprintf(p.stdout, "%s is fine.\n%s\n", path, writes(s))
	fmt.Fprintf(p.stdout, "listens on %s:%d, with %d credentials of agents and %d operators\n", s.Server.Host, s.Server.Port, len(s.Server.Credentials), len(s.Server.Operators))
	events := "polls every " + s.Polling.Interval.Duration().String()
	if !s.Polling.Enabled {
		events = "does not poll"
	}
	if len(s.Server.WebhookSecrets) > 0 {
		events += ", takes webhooks"
	}
	fmt.Fprintf(p.stdout, "%s; %d rules of its own\n", events, s.Runner.Rules.Len())
	for _, r := range s.Repos {
		fmt.Fprintf(p.stdout, "%s\n", r.Full())
		for _, a := range r.Agents {
			where := orNone(a.URL, "nowhere")
			if a.Managed() {
				where = fmt.Sprintf("container of %s on port %d", a.Image, a.Port)
			}
			fmt.Fprintf(p.stdout, "  %s (%s): %s, allow_close %v\n", a.Type, a.Protocol, hideUser(where), mayClose(s, a))
		}
	}
}

// writes says as whom the server writes, and where.
func writes(s *serverconfig.Config) string {
	who, with := orNone(s.Identity.User, "the App's own login"), "a token"
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
	return fmt.Sprintf("%s as %s, with %s, at %s", verb, who, with, orNone(s.Identity.APIURL, "https://api.github.com"))
}

func orNone(s, none string) string {
	if s == "" {
		return none
	}
	return s
}
