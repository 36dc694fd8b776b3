package group

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/command"
)

const manualHelp = `Prints the manual page of the program, or of one of its commands, in the format of man:

  %[1]s man | man -l -

With --dir it writes the pages of all commands to a folder, where man finds them:

  %[1]s man --dir ~/.local/share/man/man1`

// manual returns the command that prints the manual pages of its program.
func manual(program string, env process.Env) *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use: "man [COMMAND...]", Short: "Print a manual page, or write all pages to a folder",
		Long: fmt.Sprintf(manualHelp, program),
		RunE: func(c *cobra.Command, args []string) error {
			root := c.Root()
			if dir != "" && len(args) > 0 {
				return command.Usagef("--dir writes the pages of all commands; leave out %q", args[0])
			}
			if dir != "" {
				if err := WriteManual(env.Path(dir), root, root.Version, env.Now()); err != nil {
					return command.Failed(fmt.Errorf("write the manual pages: %w", err))
				}
				return nil
			}
			found, err := find(root, args)
			if err != nil {
				return err
			}
			root.DisableAutoGenTag = true
			return doc.GenMan(found, manualHeader(root, root.Version, env.Now()), c.OutOrStdout())
		},
		ValidArgsFunction: func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			found, _, err := c.Root().Find(args)
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return names(found), cobra.ShellCompDirectiveNoFileComp
		},
	}
	c.Flags().StringVar(&dir, "dir", "", "write the pages of all commands to this `DIR`")
	return c
}

// WriteManual writes the manual pages of a program's commands to a folder, which it makes if it is missing.
func WriteManual(folder string, root *cobra.Command, version string, at time.Time) error {
	const readable = 0o755
	if err := os.MkdirAll(folder, readable); err != nil {
		return err
	}
	root.DisableAutoGenTag = true
	return doc.GenManTree(root, manualHeader(root, version, at), folder)
}

func manualHeader(root *cobra.Command, version string, at time.Time) *doc.GenManHeader {
	return &doc.GenManHeader{Section: "1", Date: &at, Source: root.Name() + " " + version, Manual: "Foreman"}
}
