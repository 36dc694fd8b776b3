// Package contribflow is the command table of contribflow: a contributor's way from an open
// issue to a draft pull request.
package contribflow

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/internal/cli/contribflow/demo"
	"github.com/org/foreman-action/internal/cli/group"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/coding/contrib/contract"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/scoring"
)

// buildVersion is set by the linker of a release.
var buildVersion string

const long = `Contribflow takes a contributor, a person or an agent, from an open issue to a draft pull
request: it finds and scores issues, plans, checks out a workspace, inspects the change,
validates it in a Docker sandbox and opens the draft pull request after a person approved.

With --json every command prints exactly one JSON document, whose recommendedCommand is the
next step. docs/contribflow.md explains each of them.`

// Main runs the command that args name, without the program's name, and returns the exit code. Only
// Stdout and Stderr of the environment must be set; Main sets the version from the build.
func Main(ctx context.Context, env process.Env, args []string) int {
	env = env.Complete()
	env.Version = command.Version(buildVersion)
	out := process.NewOutput(env.Stdout)
	env.Stdout = out
	var f flags
	root := commands(env, &f)
	root.SetArgs(append([]string{}, args...)) // nil would make cobra read the process's arguments
	root.SetIn(env.Stdin)
	prose := &prose{to: env.Stdout, f: &f}
	root.SetOut(prose)
	root.SetErr(env.Stderr)
	err := root.ExecuteContext(ctx)
	if err == nil && prose.refused {
		err = command.Usagef("--json: this command prints no document; run it without --json")
	}
	if werr := out.Err(); werr != nil && (err == nil || errors.Is(err, werr)) {
		fmt.Fprintf(env.Stderr, "contribflow: write to standard output: %v\n", werr)
		return command.ExitFailed
	}
	if _, reported := errors.AsType[*command.ReportedError](err); err != nil && !reported {
		// After a mistake in the flags, "--json" may not have been parsed.
		err = fail(env, f.json || asksJSON(args), err)
	}
	if err != nil && ctx.Err() != nil {
		return command.ExitInterrupted
	}
	return command.ExitCode(err)
}

// asksJSON reports whether arguments contain --json, even if they cannot be parsed.
func asksJSON(args []string) bool {
	asks := false
	for _, arg := range args {
		name, value, given := strings.Cut(arg, "=")
		if arg == "--" {
			break
		}
		if name == "--json" {
			is, err := strconv.ParseBool(value)
			asks = !given || is || err != nil
		}
	}
	return asks
}

// prose is standard output for text that is not a document, such as help. With --json it writes
// nothing.
type prose struct {
	to      io.Writer
	f       *flags
	refused bool // text was dropped because of --json
}

// Write prints text, or drops it with --json.
func (p *prose) Write(b []byte) (int, error) {
	if p.f.json {
		p.refused = true
		return len(b), nil
	}
	return p.to.Write(b)
}

// Commands returns the command table for generating the manual. The caller must not run the
// commands.
func Commands() *cobra.Command { return commands(process.Env{}.Complete(), &flags{}) }

// commands returns the command table.
func commands(env process.Env, f *flags) *cobra.Command {
	root := group.Complete(&cobra.Command{
		Use:           "contribflow",
		Short:         "From an open issue to a draft pull request, with stable JSON",
		Long:          long,
		Version:       env.Version,
		SilenceErrors: true,
		SilenceUsage:  true,
	}, env)
	p := root.PersistentFlags()
	p.BoolVar(&f.json, "json", false, "print one JSON document")
	p.StringVarP(&f.cwd, "cwd", "C", "", "work in this `folder`")
	p.StringVar(&f.config, "config", "", "read the configuration from this `file`")
	p.BoolVar(&f.quiet, "quiet", false, "show no progress")
	p.BoolVar(&f.noColour, "no-color", false, "print without colours, like --color never")
	group.ColourFlag(root, env)
	p.BoolVar(&f.exitCode, "exit-code", false, "exit with 10 when blocked, 11 when failed, 12 when a person must approve")
	p.BoolVar(&f.offline, "offline", false, "do not ask GitHub")
	p.BoolVar(&f.ignoreBackoff, "ignore-backoff", false, "repeat requests that GitHub refused a moment ago")
	root.SetFlagErrorFunc(group.FlagError)
	for _, v := range verbs() {
		root.AddCommand(v.command(env, f))
	}
	root.AddCommand(schemaCommand(env), rulesCommand(), demo.Command(env, showing(env, f)))
	group.Finish(root, env)
	return root
}

// showing returns a function that formats the documents of verbs for people.
func showing(env process.Env, f *flags) demo.Show {
	return func(name string, document contract.Document) string {
		w := newScreen(env, *f)
		for _, v := range verbs() {
			if verb, _, _ := strings.Cut(v.use, " "); verb == name {
				v.show(w, document)
				w.next(document.Step())
			}
		}
		return w.text()
	}
}

// verbs are the commands that make a document, in the order of a contribution.
func verbs() []verb {
	return []verb{initVerb(), statusVerb(), nextVerb(), discoverVerb(), scoreVerb(), planVerb(), checkoutVerb(), diffVerb(), validateVerb(), prVerb()}
}

// schemaCommand returns the command that prints a JSON Schema.
func schemaCommand(env process.Env) *cobra.Command {
	return &cobra.Command{
		Use:       "schema NAME",
		Short:     "Print the JSON Schema of a document",
		Long:      "Print the JSON Schema of a document: " + strings.Join(contract.Names(), ", ") + ".",
		ValidArgs: contract.Names(),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return command.Usagef("contribflow schema: name one document of %s", strings.Join(contract.Names(), ", "))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			data, err := contract.Schema(args[0])
			if err != nil {
				return command.Usage(err)
			}
			return env.Print(string(data))
		},
	}
}

// rulesCommand returns the command that prints the rules of the score.
func rulesCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "rules",
		Short: "Print the built-in rules of the score",
		Long: `Print the built-in rules of the score. To change them, write them to a file beside config.json,
such as .contribflow/score.yml, and name it in the configuration: "scoreRules": "score.yml".`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := c.OutOrStdout().Write(scoring.Source())
			return err
		},
	}
}
