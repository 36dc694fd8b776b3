package group_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/org/foreman-action/internal/cli"
	"github.com/org/foreman-action/internal/cli/contribflow"
	"github.com/org/foreman-action/internal/cli/foremand"
)

// TestValues checks that shells complete the values that the help of a flag lists, in all programs.
func TestValues(t *testing.T) {
	t.Parallel()
	listed := regexp.MustCompile(`: ((?:[a-z_]+, )*[a-z_]+ or [a-z_]+)\b`)
	found := 0
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			m := listed.FindStringSubmatch(f.Usage)
			if m == nil {
				return
			}
			found++
			want := strings.FieldsFunc(strings.ReplaceAll(m[1], " or ", ", "), func(r rune) bool { return strings.ContainsRune(", ", r) })
			complete, ok := c.GetFlagCompletionFunc(f.Name)
			if !ok {
				t.Errorf("%s --%s completes nothing", c.CommandPath(), f.Name)
				return
			}
			got, directive := complete(c, nil, "")
			if diff := cmp.Diff(want, got); diff != "" || directive != cobra.ShellCompDirectiveNoFileComp {
				t.Errorf("%s --%s: directive %d (-help +completion):\n%s", c.CommandPath(), f.Name, directive, diff)
			}
		})
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	for _, root := range []*cobra.Command{cli.Commands(), foremand.Commands(), contribflow.Commands()} {
		walk(root)
	}
	if found < 8 {
		t.Errorf("only %d flags list their values", found)
	}
}
