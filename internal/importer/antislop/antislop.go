// Package antislop describes the inputs of peakoss/anti-slop, and the patterns that do the same as
// its checks.
//
// The functions are pure and safe for concurrent use. They describe versions 0.2.0 and 0.2.1.
package antislop

import (
	"maps"
	"slices"
	"strings"
)

// defaults returns the inputs with their default values.
func defaults() map[string]string {
	out := map[string]string{
		"max-failures":              "4",
		"blocked-source-branches":   "main\nmaster",
		"max-description-length":    "2500",
		"max-emoji-count":           "2",
		"max-code-references":       "5",
		"max-commit-message-length": "500",
		"blocked-paths":             "README.md\nSECURITY.md\nLICENSE\nCODE_OF_CONDUCT.md",
		"max-added-comments":        "10",
		"min-account-age":           "30",
		"max-daily-forks":           "7",
		"min-profile-completeness":  "4",
		"min-global-merge-ratio":    "30",
		"exempt-bots":               "actions-user\ndependabot[bot]\nrenovate[bot]\ngithub-actions[bot]",
		"exempt-author-association": "OWNER,MEMBER,COLLABORATOR",
		"exempt-label":              "exempt",
	}
	for value, names := range map[string]string{
		"": `github-token allowed-target-branches blocked-target-branches allowed-source-branches blocked-terms blocked-issue-numbers
			strict-pr-template-sections optional-pr-template-sections blocked-commit-authors allowed-file-extensions allowed-paths
			exempt-users exempt-pr-label exempt-milestones exempt-pr-milestones success-add-pr-labels failure-remove-pr-labels
			failure-add-pr-labels failure-pr-message`,
		"0": "max-negative-reactions max-additional-pr-template-sections min-repo-merged-prs min-repo-merge-ratio",
		"true": `require-maintainer-can-modify require-description require-commit-author-match require-final-newline
			detect-spam-usernames close-pr`,
		"false": `require-conventional-title require-linked-issue require-pr-template require-conventional-commits
			global-merge-ratio-exclude-own exempt-draft-prs exempt-all-milestones exempt-all-pr-milestones
			failure-remove-all-pr-labels lock-pr`,
	} {
		for name := range strings.FieldsSeq(names) {
			out[name] = value
		}
	}
	return out
}

// Inputs returns the names of the inputs, sorted.
func Inputs() []string { return slices.Sorted(maps.Keys(defaults())) }

// Default returns the default value of an input.
func Default(name string) string { return defaults()[name] }

// Maximum returns the largest value of an input that is a number. The action fails for a larger one,
// and for a negative one.
func Maximum(name string) int {
	return map[string]int{
		"max-failures": 25, "max-negative-reactions": 200, "max-description-length": 50_000, "max-emoji-count": 30,
		"max-code-references": 40, "max-additional-pr-template-sections": 20, "max-commit-message-length": 5000,
		"max-added-comments": 500, "min-account-age": 190, "max-daily-forks": 50, "min-profile-completeness": 11,
		"min-repo-merged-prs": 20, "min-repo-merge-ratio": 100, "min-global-merge-ratio": 100,
	}[name]
}

// Associations returns the values of exempt-author-association. The action fails for any other.
func Associations() []string {
	return []string{"COLLABORATOR", "CONTRIBUTOR", "FIRST_TIMER", "FIRST_TIME_CONTRIBUTOR", "MANNEQUIN", "MEMBER", "NONE", "OWNER"}
}

// Lines returns the items of an input with one item on each line. A line of white space is an empty
// item, as for the action.
func Lines(text string) []string {
	var out []string
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		if line != "" {
			out = append(out, strings.TrimSpace(line))
		}
	}
	return out
}

// Words returns the items of an input that separates them with commas.
func Words(text string) []string {
	var out []string
	for word := range strings.SplitSeq(text, ",") {
		if word = strings.TrimSpace(word); word != "" {
			out = append(out, word)
		}
	}
	return out
}
