package group

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/org/foreman-action/internal/cli/process"
)

// ColourFlag adds the flag --color to the root command of a program.
func ColourFlag(root *cobra.Command, env process.Env) {
	root.PersistentFlags().Var(env.Colour, "color", "colours of the output: auto, always or never")
	Values(root, "color", process.Colours()...)
}

// Values sets the values that shells complete for a flag.
func Values(c *cobra.Command, flag string, values ...string) {
	ValuesOf(c, flag, func() []string { return values })
}

// ValuesOf is Values for a list that is made when a shell requests it. If the flag takes a list with commas, the
// part after the last comma is completed.
func ValuesOf(c *cobra.Command, flag string, values func() []string) {
	complete := func(c *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		if f := c.Flag(flag); f == nil || f.Value.Type() != "stringSlice" {
			return values(), cobra.ShellCompDirectiveNoFileComp
		}
		before := begun[:strings.LastIndex(begun, ",")+1]
		given := strings.Split(before, ",")
		var list []string
		for _, v := range values() {
			if !slices.Contains(given, v) {
				list = append(list, before+v)
			}
		}
		return list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	if err := c.RegisterFlagCompletionFunc(flag, complete); err != nil {
		panic(fmt.Sprintf("complete the flag %s of %s: %v", flag, c.Name(), err)) // the flag is missing
	}
}

// completeFlags lets shells complete folders, or nothing, for the flags of a program without values of their
// own. Only flags for files keep the shell's default, which is files.
func completeFlags(c *cobra.Command) {
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if _, has := c.GetFlagCompletionFunc(f.Name); has || f.Value.Type() == "bool" {
			return
		}
		kind, usage := pflag.UnquoteUsage(f)
		begins := func(words ...string) bool {
			return slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(kind, w) || strings.HasPrefix(usage, w+" ") })
		}
		directive := cobra.ShellCompDirectiveNoFileComp
		switch {
		case begins("dir", "folder"):
			directive = cobra.ShellCompDirectiveFilterDirs
		case begins("file"):
			return
		}
		_ = c.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(nil, directive)) // the flag has none yet
	})
	for _, sub := range c.Commands() {
		completeFlags(sub)
	}
}
