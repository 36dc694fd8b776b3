package action

import (
	"strings"

	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/protocol"
)

// Hint names the action that an unknown name most likely stands for.
func Hint(name string, specs []protocol.ActionSpec) string {
	meant := map[string]string{
		"label":     protocol.ActionAddLabel,
		"labels":    protocol.ActionAddLabels,
		"unlabel":   protocol.ActionRemoveLabel,
		"close":     protocol.ActionCloseIssue,
		"reopen":    protocol.ActionReopenIssue,
		"milestone": protocol.ActionSetMilestone,
		"type":      protocol.ActionSetType,
		"reply":     protocol.ActionComment,
		"duplicate": protocol.ActionMarkDuplicate,
	}[strings.ToLower(name)]
	if meant != "" {
		return "; write " + meant
	}
	known := make([]string, len(specs))
	for i, s := range specs {
		known[i] = s.Name
	}
	return yamlfile.DidYouMean(name, known)
}
