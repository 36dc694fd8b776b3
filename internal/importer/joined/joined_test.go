package joined

import (
	"errors"
	"flag"
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/othertools"
	"github.com/org/foreman-action/internal/testkit/golden"
	"github.com/org/foreman-action/internal/yamlfile"
)

var update = flag.Bool("update", false, "rewrite the expectations in testdata")

// TestImport joins the files of every case. A part of a case is named "TOOL NAME". For a tool other
// than stale, "workflow NAME" is the workflow that runs it.
func TestImport(t *testing.T) {
	t.Parallel()
	golden.Each(t, "testdata", *update, func(t *testing.T, c *golden.Case) {
		var list []othertools.Request
		for _, part := range c.Names() {
			tool, name, _ := strings.Cut(part, " ")
			source := othertools.Source{Name: name, Data: c.Get(part)}
			switch tool {
			case "want":
			case "workflow":
				list[len(list)-1].Workflow = source
			default:
				list = append(list, othertools.Request{Tool: tool, File: source})
			}
		}
		got, err := Import(list, []string{"taken"})
		if ps, ok := errors.AsType[yamlfile.Problems](err); ok {
			c.Want(t, "want problems", ps.Error())
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		c.Want(t, "want rules", got.Policy+got.Items)
		sum := 0
		for _, s := range got.Sources {
			sum += s.Rules
		}
		if sum != got.Count {
			t.Errorf("the sources have %d rules, the result %d", sum, got.Count)
		}
	})
}
