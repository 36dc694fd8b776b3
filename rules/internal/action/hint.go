package action

import (
	"slices"
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

// meant returns GitHub's name of a reaction that people call by another name or by its sign; "" if
// there is none.
func meant(reaction string) string {
	switch strings.Trim(strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "", "\ufe0f", "").Replace(reaction)), ":") {
	case "thumbsup", "like", "plusone", "👍":
		return "+1"
	case "thumbsdown", "dislike", "minusone", "👎":
		return "-1"
	case "smile", "smiley", "😄":
		return "laugh"
	case "tada", "party", "🎉":
		return "hooray"
	case "love", "❤":
		return "heart"
	case "thinking", "😕":
		return "confused"
	case "🚀":
		return "rocket"
	case "eye", "👀":
		return "eyes"
	}
	return ""
}

// Hint returns a hint for an unknown action: the name that the author most likely meant.
func Hint(name string, specs []protocol.ActionSpec) string {
	if hint := Misplaced(name); hint != "" {
		return hint
	}
	known := make([]string, len(specs))
	for i, s := range specs {
		if slices.Contains(s.Aliases, strings.ToLower(name)) {
			return "; write " + s.Name
		}
		known[i] = s.Name
	}
	if hint := yamlfile.DidYouMean(name, known); hint != "" {
		return hint
	}
	return "; the actions are " + strings.Join(known, ", ") + "; what Foreman does not do is in docs/what-foreman-does-not-do.md"
}
