package importer

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/importer/staleversions"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/internal/yamlfile"
)

// An inputs reads the inputs of one step as plain values, and collects findings about them. It is
// not safe for concurrent use.
type inputs struct {
	source   step
	findings findings
	wrong    map[*yaml.Node]bool // nodes with a reported mistake, because issues and pull requests share inputs
	has      map[string]bool     // the inputs that the version of the tool has
	stop     bool                // no rules: a value is unknown, or the tool fails
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

// checkKeys reports the inputs that have no counterpart, and those whose value makes the tool fail.
func (in *inputs) checkKeys() {
	without := map[string]string{
		"operations-per-run": "Foreman has its own limits for a scheduled run; policy.max_writes_per_hour limits the writes to one issue",
		"ascending":          "Foreman has no setting for the order of the issues",
		"sort-by":            "Foreman has no setting for the order of the issues",
		"delete-branch":      "Foreman does not delete branches",
	}
	known := staleversions.Inputs()
	for _, p := range pairsOf(in.source.with) {
		key := p.key.Value
		switch reason := without[key]; {
		case !slices.Contains(known, key):
			in.add(lost(p.key, "unknown input %s%s", quoted(key), yamlfile.DidYouMean(key, known)))
		case !in.has[key]:
			in.add(lost(p.key, "version %s of actions/stale has no input %s and ignores it", in.source.version, key))
		case reason != "" && !strings.EqualFold(p.value.Value, "false"):
			in.add(lost(p.key, "%s: %s", key, reason))
		}
	}
	for _, name := range []string{"days-before-stale", "days-before-close", "stale-issue-label", "stale-pr-label", "operations-per-run"} {
		if text, n, found := in.source.input(name); n != nil && text == "" && len(found) == 0 {
			in.stop = true
			in.add(lost(n, "%s is empty in a scheduled run, so actions/stale fails; no rules were imported", name))
		}
	}
}

// at returns the value of an input; nil if it is missing, or if the version of the tool lacks it.
func (in *inputs) at(name string) *yaml.Node {
	if !in.has[name] {
		return nil
	}
	return yamlfile.Child(in.source.with, name)
}

// get returns the first of the inputs that is not empty. Callers list a special input before the
// general one.
func (in *inputs) get(names ...string) (string, *yaml.Node) {
	for _, name := range names {
		if !in.has[name] {
			continue
		}
		text, n, found := in.source.input(name)
		for _, f := range found {
			if f.kind == noCounterpart {
				f.msg, in.stop = name+": the value of the workflow's expression is unknown, so no rules were imported", true
			}
			in.add(f)
		}
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

// names returns the spellings of each name of a comma-separated list that are compared.
func (in *inputs) names(names ...string) [][]string {
	var out [][]string
	for _, name := range in.words(names...) {
		out = append(out, in.spellings(name, names...))
	}
	return out
}

// spellings returns the spellings of a name from the first of the inputs that is given.
func (in *inputs) spellings(name string, inputs ...string) []string {
	plain := staleversions.Plain(name)
	switch {
	case staleversions.Accents(in.source.version):
		return []string{name}
	case plain == strings.ToLower(name): //nolint:gocritic // without folding, as the original compares
		in.add(general("actions/stale ignores accents in names of labels and milestones; Foreman does not."))
		return []string{name}
	}
	in.add(lost(in.nearest(inputs...), "actions/stale ignores accents, so %s also means %s and all spellings between them; Foreman compares only these two", quoted(name), quoted(plain)))
	return []string{name, plain}
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

// maxDays is the longest time that a rule waits for.
const maxDays = 36_500

// days reads a number of days; negative means never.
func (in *inputs) days(otherwise float64, names ...string) float64 {
	text, n := in.get(names...)
	if n == nil {
		return otherwise
	}
	days, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil || math.IsNaN(days):
		in.mistake(n, "want a number of days, got %s", quoted(text))
		return otherwise
	case days > maxDays:
		in.add(lost(n, "more than %d days, so no rule waits for them", maxDays))
		return -1
	}
	return days
}

// repository matches the expression for the repository's name in a workflow, after template has
// escaped it.
var repository = text.Regexp(`\$\{\{ "\{\{" \}\}\s*github\.repository\s*\}\}`)

// message returns the text of a comment.
func (in *inputs) message(name string) string {
	n := in.at(name)
	switch {
	case yamlfile.IsNull(n):
		return ""
	case n.Kind != yaml.ScalarNode:
		in.mistake(n, "%s: want a text, got %s", name, yamlfile.Kind(n))
		return ""
	case len(n.Value) > maxComment:
		in.add(lost(n, "%s: the comment has more than %d bytes, so it was not imported", name, maxComment))
		return ""
	}
	text := repository().ReplaceAllLiteralString(template(strings.TrimSpace(in.source.use.Expand(n.Value, in.source.names))), "{{ repo.full_name }}")
	if strings.Contains(text, "${{") {
		in.stop = true
		in.add(lost(n, "%s: the value of the workflow's expression is unknown, so no rules were imported", name))
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
	if plain := staleversions.Plain(name); plain != strings.ToLower(name) && !staleversions.Accents(in.source.version) { //nolint:gocritic // without folding, as the original compares
		in.add(lost(n, "actions/stale ignores accents, so an issue with the label %s counts as well; for Foreman it does not", quoted(plain)))
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
