// Package staleversions describes the differences between the versions of actions/stale.
//
// The functions are pure and safe for concurrent use.
package staleversions

import (
	"maps"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/importer/workflow"
)

// inputs returns the inputs of actions/stale, each with the first version that has it, and with the
// last major version if later ones lack it.
func inputs() map[string]string {
	out := map[string]string{}
	since := ""
	for word := range strings.FieldsSeq(`1.0.0: repo-token stale-issue-message stale-pr-message days-before-stale days-before-close
		stale-issue-label stale-pr-label operations-per-run
		1.1.0-1: exempt-issue-label exempt-pr-label
		2.0.0: exempt-issue-labels exempt-pr-labels only-labels debug-only
		3.0.0: remove-stale-when-updated
		3.0.7: ascending
		3.0.8: close-issue-message close-pr-message
		3.0.9-3: skip-stale-issue-message skip-stale-pr-message
		3.0.11: close-issue-label close-pr-label
		3.0.15: days-before-issue-stale days-before-pr-stale days-before-issue-close days-before-pr-close exempt-milestones
		exempt-issue-milestones exempt-pr-milestones delete-branch start-date
		3.0.17: exempt-all-milestones exempt-all-issue-milestones exempt-all-pr-milestones
		3.0.18: any-of-labels only-issue-labels only-pr-labels exempt-assignees exempt-issue-assignees exempt-pr-assignees
		exempt-all-assignees exempt-all-issue-assignees exempt-all-pr-assignees enable-statistics
		3.0.19: any-of-issue-labels any-of-pr-labels remove-issue-stale-when-updated remove-pr-stale-when-updated
		4.1.0: exempt-draft-pr labels-to-add-when-unstale labels-to-remove-when-unstale ignore-updates ignore-issue-updates
		ignore-pr-updates
		5.1.0: close-issue-reason
		5.2.0: include-only-assigned
		8.0.0: labels-to-remove-when-stale
		10.0.0: sort-by
		10.1.0: only-issue-types`) {
		if versions, heading := strings.CutSuffix(word, ":"); heading {
			since = versions
			continue
		}
		out[word] = since
	}
	return out
}

// Inputs returns the names of the inputs of all versions, sorted.
func Inputs() []string { return slices.Sorted(maps.Keys(inputs())) }

// InputsOf returns the names of the inputs of a version. An unknown version is the newest.
func InputsOf(v workflow.Version) map[string]bool {
	out := map[string]bool{}
	for name, versions := range inputs() {
		first, last, ended := strings.Cut(versions, "-")
		from, _ := workflow.ParseVersion(first)
		until, _ := workflow.ParseVersion(last)
		out[name] = !v.Before(from[0], from[1], from[2]) && (!ended || v.Known() && v[0] <= until[0])
	}
	return out
}

// Fault returns the fault of a version that has no counterpart in rules; empty: it has none.
func Fault(v workflow.Version) string {
	switch {
	case !v.Before(3, 0, 0) && v.Before(3, 0, 6), !v.Before(5, 1, 0) && v.Before(5, 1, 1):
		return "removes its label again in the next run"
	}
	return ""
}

// NeedsMessage reports whether the version skips issues for which there is no message. A version of
// which marking is off skips them only in the earliest versions.
func NeedsMessage(v workflow.Version, marks bool) bool {
	return v.Before(4, 0, 0) && (marks || v.Before(3, 0, 8))
}

// OnlyComments reports whether only a person's comment makes an issue active again.
func OnlyComments(v workflow.Version) bool { return v.Before(5, 1, 0) }

// Unmarks reports whether the version ever removes its label, and whether it skips locked issues.
func Unmarks(v workflow.Version) bool { return !v.Before(3, 0, 0) }

// UnmarksExempt reports whether the version removes its label from an issue with an exempt label.
func UnmarksExempt(v workflow.Version) bool { return !v.Before(3, 0, 15) && v.Before(7, 0, 0) }

// UnmarksReopened reports whether the version removes the label of closed issues from open ones.
func UnmarksReopened(v workflow.Version) bool { return !v.Before(3, 0, 18) }

// ClosesNever reports whether the version never closes issues if the number of days is negative.
func ClosesNever(v workflow.Version) bool { return !v.Before(2, 0, 0) }

// ParsesFractions reports whether the version marks after a fraction of a day.
func ParsesFractions(v workflow.Version) bool { return !v.Before(7, 0, 0) }
