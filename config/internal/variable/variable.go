// Package variable decides which environment variables a configuration may read.
package variable

import (
	"fmt"
	"strings"
)

// Reserved returns an error that names the variable if Foreman itself gets a secret through a
// variable of that name, in capitals or not; nil: it does not. A value that is not a secret must
// not read it: it may end up with an agent, with a model or in a log.
func Reserved(name string) error {
	upper := strings.ToUpper(name)
	reserved := strings.HasPrefix(upper, "INPUT_") || strings.HasPrefix(upper, "ACTIONS_")
	switch upper {
	case "GITHUB_TOKEN", "GH_TOKEN", "FOREMAN_AGENT_TOKEN", "FOREMAN_LLM_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY":
		reserved = true
	}
	if !reserved {
		return nil
	}
	return fmt.Errorf("the variable %s may hold a secret of Foreman's own; this value must not read it", name)
}
