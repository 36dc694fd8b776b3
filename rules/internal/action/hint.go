package action

import (
	"strings"

	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/protocol"
)

// instead returns a hint for a parameter that is left empty on purpose: the action to use.
func instead(p protocol.Param) string {
	if p.Name == "milestone" {
		return "; " + protocol.ActionRemoveMilestone + " takes an issue out of its milestone"
	}
	return ""
}

// Hint returns a hint for an unknown action: the name that the author most likely meant.
func Hint(name string, specs []protocol.ActionSpec) string {
	meant := map[string]string{
		"label":           protocol.ActionAddLabel,
		"labels":          protocol.ActionAddLabels,
		"unlabel":         protocol.ActionRemoveLabel,
		"close":           protocol.ActionCloseIssue,
		"reopen":          protocol.ActionReopenIssue,
		"milestone":       protocol.ActionSetMilestone,
		"unset_milestone": protocol.ActionRemoveMilestone,
		"clear_milestone": protocol.ActionRemoveMilestone,
		"type":            protocol.ActionSetType,
		"reply":           protocol.ActionComment,
		"duplicate":       protocol.ActionMarkDuplicate,
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
