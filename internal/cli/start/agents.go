package start

import (
	"fmt"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/cli/format"
	"github.com/org/foreman-action/internal/cli/wiring"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/workdir"
)

// RunAgents writes the files of coding agents below the root, and prints the next steps.
func RunAgents(o Options) error {
	if len(o.Agents) == 0 {
		return command.Usagef("--agents: want one or more of %s", strings.Join(wiring.Names(), ", "))
	}
	for _, name := range o.Agents {
		if !slices.Contains(wiring.Names(), name) {
			return command.Usagef("--agents: unknown agent %q: want %s", name, strings.Join(wiring.Names(), ", "))
		}
	}
	root, err := o.root()
	if err != nil {
		return err
	}
	written, err := wiring.Write(workdir.Dir(root), o.Agents)
	if err != nil {
		return command.Failed(err)
	}
	return o.Env.Print(agentSteps(written))
}

// agentSteps lists the written files, and the next steps.
func agentSteps(w wiring.Written) string {
	var b strings.Builder
	paragraph := func(head string, names []string) {
		if len(names) > 0 {
			fmt.Fprintf(&b, "%s %s:\n  %s\n", head, format.Count(len(names), "file"), strings.Join(names, "\n  "))
		}
	}
	paragraph("wrote", w.New)
	paragraph("kept", w.Kept)
	b.WriteString(`
Next:
  1. Write your setup and check commands into .foreman/build.yml.
  2. Read .foreman/builder.md and .foreman/inspector.md, and make them yours.
  3. Commit these files. .foreman/README.md lists the tools, and what your README should say.
`)
	return b.String()
}
