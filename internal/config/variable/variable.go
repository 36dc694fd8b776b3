// Package variable decides which environment variables a configuration may read.
package variable

import (
	"fmt"
	"strings"
)

// Reserved returns an error if Foreman reads a secret from the variable of that name, in any case;
// the error names the variable. Otherwise it returns nil. Values that are not secret must not use
// such a variable, because they may reach an agent, a model or a log.
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
	return fmt.Errorf("the variable %s may contain one of Foreman's own secrets; use another variable here", name)
}
