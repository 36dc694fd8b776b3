// Package validate is the command by which agents check their results.
package validate

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/internal/cli/envelope"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/handoff"
	"github.com/org/foreman-action/internal/workdir"
)

const help = `Validates the result of a Builder or an Inspector. Standard input is one of

  {"data": …}               the result itself
  {"path": "result.json"}   a file below the working directory
  {} or nothing             builder_result.json or inspector_result.json

and standard output is always one line: {"ok": …, "errors": [{"path", "code", "message"}]}.
Started under the name validate_builder_result or validate_inspector_result, by a link for
example, the program is this command.

Exit codes: 0 it was validated, ok or not, 1 it could not be read, 2 a mistake in the
arguments.`

// Options are all that the command depends on.
type Options struct {
	Env  process.Env
	Role handoff.Role
}

// Command returns the command.
func Command(env process.Env) *cobra.Command {
	c := &cobra.Command{
		Use:   "validate builder|inspector",
		Short: "Validate the result of a Builder or an Inspector",
		Long:  help,
		Example: "  foreman validate builder < /dev/null\n" +
			`  echo '{"path": "inspector_result.json"}' | foreman validate inspector`,
		ValidArgs: []string{string(handoff.Builder), string(handoff.Inspector)},
		Args:      cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || args[0] != string(handoff.Builder) && args[0] != string(handoff.Inspector) {
				return envelope.Usage(env, fmt.Errorf("want one argument, builder or inspector, got %q", args))
			}
			return Run(Options{Env: env, Role: handoff.Role(args[0])})
		},
	}
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return envelope.Usage(env, err) })
	return c
}

// Arguments returns the arguments that replace a program name such as validate_builder, and nil for
// other names.
func Arguments(program string) []string {
	program = program[strings.LastIndexAny(program, `/\`)+1:]
	for _, role := range []handoff.Role{handoff.Builder, handoff.Inspector} {
		if strings.TrimSuffix(program, ".exe") == "validate_"+role.ResultName() {
			return []string{"validate", string(role)}
		}
	}
	return nil
}

// Run validates the result that standard input contains or names, and prints the envelope.
func Run(o Options) error {
	in, problem := envelope.Read(o.Env.Stdin)
	if problem != nil {
		return envelope.Print(o.Env, envelope.Of(*problem), command.ExitFailed)
	}
	dir, err := o.Env.WorkDir()
	if err != nil {
		return envelope.Print(o.Env, envelope.Of(handoff.Problem{Path: envelope.Tool, Code: envelope.CodeRead, Message: err.Error()}), command.ExitFailed)
	}
	data, name, problem := in.Result(o.Role, workdir.Dir(dir))
	if problem != nil {
		return envelope.Print(o.Env, envelope.Of(*problem), command.ExitFailed)
	}
	_, problems := envelope.Parse(o.Role, data, name)
	code := command.ExitOK
	if len(problems) > 0 && problems[0].Code == handoff.CodeInvalidJSON {
		code = command.ExitFailed
	}
	return envelope.Print(o.Env, envelope.Of(problems...), code)
}
