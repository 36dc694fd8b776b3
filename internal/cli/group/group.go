// Package group makes commands that only hold other commands.
package group

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/yamlfile"
)

// Complete makes c a command that takes no arguments, prints its help to standard error
// and fails, because one of its commands must be named.
func Complete(c *cobra.Command, env process.Env) *cobra.Command {
	c.Args = Known
	c.RunE = func(c *cobra.Command, _ []string) error {
		c.SetOut(env.Stderr)
		if err := c.Help(); err != nil {
			return err
		}
		return command.Usagef("name a command: %s", strings.Join(names(c), ", "))
	}
	return c
}

// Listing makes c a command that takes no arguments and fails with the list of its
// commands, one of which must be named.
func Listing(c *cobra.Command) *cobra.Command {
	c.Args = Known
	c.RunE = func(c *cobra.Command, _ []string) error {
		return fmt.Errorf("%s: want one of %s", c.CommandPath(), strings.Join(names(c), ", "))
	}
	return c
}

// names returns the names of the commands below c, without hidden ones.
func names(c *cobra.Command) []string {
	var list []string
	for _, sub := range c.Commands() {
		if !sub.Hidden {
			list = append(list, sub.Name())
		}
	}
	return list
}

// Known rejects arguments to a command that only contains other commands, because an argument is
// the name of an unknown command.
func Known(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	list := names(c)
	hint := yamlfile.DidYouMean(args[0], list)
	if hint == "" && len(list) > 0 {
		hint = "; want one of " + strings.Join(list, ", ")
	}
	return command.Usagef("unknown command %q for %q%s", args[0], c.CommandPath(), hint)
}

// Finish adds the commands that every program has: help, man and version. Call it after adding all other
// commands. The help command rejects unknown names.
func Finish(root *cobra.Command, env process.Env) {
	root.AddCommand(manual(root.Name(), env), version())
	root.InitDefaultHelpCmd()
	for _, c := range root.Commands() {
		if c.Name() == "help" {
			c.Args = func(_ *cobra.Command, args []string) error {
				_, err := find(root, args)
				return err
			}
		}
	}
	completeFlags(root)
}

// find returns the command that args name.
func find(root *cobra.Command, args []string) (*cobra.Command, error) {
	found, rest, err := root.Find(args)
	if err != nil {
		return nil, command.Usage(err)
	}
	return found, Known(found, rest)
}

// version returns the command that prints the version, as the flag --version does.
func version() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(c.OutOrStdout(), "%s version %s\n", c.Root().Name(), c.Root().Version)
			return err
		},
	}
}

// FlagError names the expected form in the error of a wrong value, and adds a suggestion to the error
// of an unknown flag: the flag that the user most likely meant.
func FlagError(c *cobra.Command, err error) error {
	if wrong, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		form := map[string]string{"int": "a whole number", "duration": "a duration such as 30s", "bool": "true or false"}[wrong.GetFlag().Value.Type()]
		if form != "" {
			return command.Usagef("--%s: want %s, got %q", wrong.GetFlag().Name, form, wrong.GetValue())
		}
	}
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return command.Usage(err)
	}
	var known []string
	c.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
	name := unknown.GetSpecifiedName()
	meant := yamlfile.Suggest(name, known)
	if i := slices.IndexFunc(known, func(k string) bool { return strings.HasPrefix(k, name) }); meant == "" && name != "" && i >= 0 {
		meant = known[i]
	}
	if meant != "" {
		return command.Usagef("%w; did you mean --%s?", err, meant)
	}
	return command.Usagef("%w; %s --help lists the flags", err, c.CommandPath())
}
