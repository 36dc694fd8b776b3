package scoring

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/org/foreman-action/internal/scoring/evidence"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/triage"
)

// A kind is a kind of contribution. Its labels, and words in titles, identify it.
type kind struct {
	name   string
	labels []string // discovery searches for the first ones
	words  []string
	hours  int // of an average contribution
}

// The effort of contributions, in hours.
const (
	hoursDocs    = 1
	hoursTests   = 2
	hoursBug     = 4
	hoursFeature = 6
)

// kinds are the kinds of contributions. If several match an issue, the first one is used.
var kinds = []kind{
	{"docs", []string{"documentation", "docs"}, []string{"docs", "documentation", "readme", "typo", "document", "changelog"}, hoursDocs},
	{"examples", []string{"examples", "example"}, []string{"example", "examples", "sample"}, hoursDocs},
	{"i18n", []string{"i18n", "translation", "localization"}, []string{"i18n", "translation", "translate", "locale"}, hoursTests},
	{"tests", []string{"tests", "testing", "test"}, []string{"test", "tests", "coverage"}, hoursTests},
	{"ci", []string{"ci", "github actions", "infrastructure"}, []string{"ci", "workflow", "pipeline"}, hoursTests},
	{"typing", []string{"typing", "types", "typescript"}, []string{"typing", "types", "annotations"}, hoursBug},
	{"accessibility", []string{"accessibility", "a11y"}, []string{"accessibility", "a11y"}, hoursBug},
	{"bug", []string{"bug"}, []string{"bug", "fix", "fixes", "crash", "error", "fails", "broken", "regression"}, hoursBug},
	{"refactor", []string{"refactor", "refactoring", "cleanup"}, []string{"refactor", "cleanup"}, hoursFeature},
	{"feature", []string{"feature", "enhancement", "feature request"}, nil, hoursFeature},
}

// newcomerLabels invite people who are new to a project.
var newcomerLabels = []string{"good first issue", "good first bug", "first timers only", "beginner", "beginner friendly", "easy", "starter"}

// TypeLabels returns the labels that discovery looks for, by the name of a kind of
// contribution.
func TypeLabels(name string) []string {
	const few = 2
	if name == goodFirst {
		return []string{"good first issue", "good-first-issue"}
	}
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == name })
	if i < 0 {
		return nil
	}
	return kinds[i].labels[:min(few, len(kinds[i].labels))]
}

// goodFirst is the kind of contribution for people who are new to a project.
const goodFirst = "good-first"

// Kind returns the kind of contribution that an issue asks for. Labels have priority over words of
// the title. It is empty if neither names a kind.
func Kind(i triage.Issue) string {
	for _, k := range kinds {
		if evidence.HasLabel(i.Labels, k.labels...) {
			return k.name
		}
	}
	terms := strings.Fields(strings.ToLower(i.Title))
	for _, k := range kinds {
		if slices.ContainsFunc(terms, func(t string) bool {
			return slices.Contains(k.words, strings.Trim(t, ".,:;!?()[]\"'`"))
		}) {
			return k.name
		}
	}
	return ""
}

// isOfType reports whether an issue is of a kind of contribution that a profile names.
func isOfType(i triage.Issue, name string) bool {
	if name == goodFirst {
		return evidence.HasLabel(i.Labels, newcomerLabels...)
	}
	return Kind(i) == name
}

// checkbox is an item of a task list.
var checkbox = text.Regexp(`(?m)^[ \t]*[-*+] \[[ xX]\] `)

// effort estimates the hours that an issue takes.
func effort(i triage.Issue) int {
	const long, many, more, less = 3000, 5, 2, 2
	hours := hoursBug
	name := Kind(i)
	if at := slices.IndexFunc(kinds, func(k kind) bool { return k.name == name }); at >= 0 {
		hours = kinds[at].hours
	}
	body := evidence.Visible(i.Body)
	if utf8.RuneCountInString(body) > long || len(checkbox().FindAllStringIndex(body, many+1)) > many {
		hours += more
	}
	if evidence.HasLabel(i.Labels, newcomerLabels...) {
		hours -= less
	}
	return max(hours, 1)
}
