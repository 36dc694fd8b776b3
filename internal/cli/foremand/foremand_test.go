package foremand

import (
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestJSONCommands checks that the script about --json contains every command with that flag, with
// good input and with mistakes.
func TestJSONCommands(t *testing.T) {
	t.Parallel()
	script, err := os.ReadFile("../../../cmd/foremand/testdata/script/json.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			walk(sub)
		}
		if c.Flags().Lookup("json") == nil && c.InheritedFlags().Lookup("json") == nil || c.HasSubCommands() {
			return
		}
		codes := map[bool]int{} // by whether the command succeeds
		for line := range strings.Lines(string(script)) {
			if strings.HasPrefix(line, "document ") && strings.Contains(line, " "+c.CommandPath()+" --json ") {
				codes[strings.HasPrefix(line, "document 0 ")]++
			}
		}
		if codes[true] == 0 || codes[false] == 0 {
			t.Errorf("%s: the script runs it %d times with success and %d times with a mistake, want both", c.CommandPath(), codes[true], codes[false])
		}
	}
	walk(Commands())
}
