package importer

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/yamlfile"
)

// staleInputs are the inputs of actions/stale.
func staleInputs() []string {
	return strings.Fields(`repo-token stale-issue-message stale-pr-message close-issue-message close-pr-message
		days-before-stale days-before-issue-stale days-before-pr-stale days-before-close days-before-issue-close
		days-before-pr-close stale-issue-label close-issue-label exempt-issue-labels close-issue-reason stale-pr-label
		close-pr-label exempt-pr-labels exempt-milestones exempt-issue-milestones exempt-pr-milestones
		exempt-all-milestones exempt-all-issue-milestones exempt-all-pr-milestones only-labels any-of-labels
		any-of-issue-labels any-of-pr-labels only-issue-labels only-pr-labels operations-per-run
		remove-stale-when-updated remove-issue-stale-when-updated remove-pr-stale-when-updated debug-only ascending
		sort-by delete-branch start-date exempt-assignees exempt-issue-assignees exempt-pr-assignees
		exempt-all-assignees exempt-all-issue-assignees exempt-all-pr-assignees exempt-draft-pr enable-statistics
		labels-to-add-when-unstale labels-to-remove-when-stale labels-to-remove-when-unstale ignore-updates
		ignore-issue-updates ignore-pr-updates include-only-assigned only-issue-types`)
}

// An inputs reads the inputs of one step as plain values, and collects findings about them. It is
// not safe for concurrent use.
type inputs struct {
	source   step
	findings findings
	wrong    map[*yaml.Node]bool // nodes with a reported mistake, because issues and pull requests share inputs
}

// add adds a finding.
func (in *inputs) add(f finding) { in.findings = append(in.findings, f) }

// mistake adds a mistake at a node, unless the node already has one.
func (in *inputs) mistake(n *yaml.Node, format string, args ...any) {
	if !in.wrong[n] {
		in.wrong[n] = true
		in.add(wrong(n, format, args...))
	}
}

// checkKeys reports the inputs that have no counterpart.
func (in *inputs) checkKeys() {
	without := map[string]string{
		"operations-per-run": "Foreman has its own limits for a scheduled run; policy.max_writes_per_hour limits the writes to one issue",
		"ascending":          "Foreman has no setting for the order of the issues",
		"sort-by":            "Foreman has no setting for the order of the issues",
		"delete-branch":      "Foreman does not delete branches",
	}
	for _, p := range pairsOf(in.source.with) {
		key := p.key.Value
		switch reason := without[key]; {
		case !slices.Contains(staleInputs(), key):
			in.add(lost(p.key, "unknown input %s%s", quoted(key), yamlfile.DidYouMean(key, staleInputs())))
		case reason != "" && !strings.EqualFold(p.value.Value, "false"):
			in.add(lost(p.key, "%s: %s", key, reason))
		}
	}
}

// at returns the value of an input; nil if it is missing.
func (in *inputs) at(name string) *yaml.Node { return yamlfile.Child(in.source.with, name) }

// get returns the first of the inputs that is not empty. Callers list a special input before the
// general one.
func (in *inputs) get(names ...string) (string, *yaml.Node) {
	for _, name := range names {
		text, n, found := in.source.input(name)
		in.findings = append(in.findings, found...)
		if text != "" {
			return text, n
		}
	}
	return "", nil
}

// words returns the words of a comma-separated list.
func (in *inputs) words(names ...string) []string {
	text, _ := in.get(names...)
	var out []string
	for word := range strings.SplitSeq(text, ",") {
		if word = strings.TrimSpace(word); word != "" {
			out = append(out, word)
		}
	}
	return out
}

// on reports whether an input is true.
func (in *inputs) on(names ...string) bool {
	for _, name := range names {
		switch text, n := in.get(name); text {
		case "true", "false":
			return text == "true"
		case "":
		default:
			in.mistake(n, "%s: want true or false, got %s", name, quoted(text))
		}
	}
	return false
}

// days reads a number of days; negative means never.
func (in *inputs) days(otherwise float64, names ...string) float64 {
	text, n := in.get(names...)
	if n == nil {
		return otherwise
	}
	days, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(days) || days > 36_500 {
		in.mistake(n, "want a number of days of at most 36500, got %s", quoted(text))
		return otherwise
	}
	return days
}

// repository matches the expression for the repository's name in a workflow, after template has
// escaped it.
var repository = regexp.MustCompile(`\$\{\{ "\{\{" \}\}\s*github\.repository\s*\}\}`)

// message returns the text of a comment.
func (in *inputs) message(name string) string {
	n := in.at(name)
	switch {
	case isNull(n):
		return ""
	case n.Kind != yaml.ScalarNode:
		in.mistake(n, "%s: want a text, got %s", name, yamlfile.Kind(n))
		return ""
	case len(n.Value) > maxComment:
		in.add(lost(n, "%s: the comment has more than %d bytes, so it was not imported", name, maxComment))
		return ""
	}
	text := repository.ReplaceAllLiteralString(template(strings.TrimSpace(in.source.use.Expand(n.Value, in.source.names))), "{{ repo.full_name }}")
	if strings.Contains(text, "${{") {
		in.add(lost(n, "%s: the workflow's expression was copied as plain text", name))
	}
	return text
}

// label returns the name of a label.
func (in *inputs) label(otherwise, input string) string {
	text, n := in.get(input)
	if n == nil {
		return otherwise
	}
	name, bad := labelName(n, text)
	if in.findings = append(in.findings, bad...); len(bad) > 0 {
		return otherwise
	}
	return name
}

// each returns one action for every label that an input lists.
func (in *inputs) each(action, input string) []act {
	var out []act
	for _, word := range in.words(input) {
		name, bad := labelName(in.at(input), word)
		if in.findings = append(in.findings, bad...); len(bad) == 0 {
			out = append(out, do(action, template(name)))
		}
	}
	return out
}
