package starter

import (
	"strings"

	"github.com/org/foreman-action/internal/othertools"
	"github.com/org/foreman-action/internal/text"
)

// The origins of proposed rules, as messages name them.
const (
	fromForms   = "from the issue forms"
	fromLabels  = "for the labels of the repository"
	fromAdded   = "for the labels that the issue forms add"
	fromNothing = "that fits any repository"
)

// Options are settings by the user.
type Options struct {
	Comments bool   // also propose a rule that comments
	Action   string // action that the workflow runs, as OWNER/NAME; empty: org/foreman-action
	// Enterprise is true if the repository is on an Enterprise Server, which may not know all keys of a
	// workflow.
	Enterprise bool
	// Import makes rules of the configurations of other tools; nil: they are not imported. The rules have
	// none of the reserved ids. The error is a [yamlfile.Problems] with the mistakes of all configurations.
	Import func(list []othertools.Request, reserved []string) (othertools.Rules, error)
}

// A proposed rule is a rule of ours (not imported), with an example that makes it fire.
type proposed struct {
	id       string
	from     string
	on       []string
	when     string
	then     []string // items of the rule's list "then", as YAML
	labels   []string // labels that the rule adds
	field    *field   // the issue form field that the rule reads; nil: none
	title    string   // of the example
	body     string
	after    []string // labels of the example after the rule
	comments bool     // it comments
	escalate bool     // it hands the issue to a person
	test     string   // name of the test
}

// A kind is a purpose of labels, such as "question", and the rule that adds them.
type kind struct {
	id    string
	names []string // names of such labels, in the form that core returns
	on    []string
	when  string
	// unless is another kind. The rule does not fire on issues that have that kind's label; empty:
	// none.
	unless      string
	title, body string // of the example
	test        string
}

func kinds() []kind {
	fresh, changed := []string{"issues.opened"}, []string{"issues.opened", "issues.edited"}
	return []kind{
		{
			"crash", []string{"bug", "crash", "defect"}, changed, "issue.text matches `(?i)\\b(panic|segfault|stack ?trace|crash(es|ed)?)\\b`", "question",
			"It ends with a stack trace", "Since the update from Monday.", "words of a crash",
		},
		{
			"question", []string{"question", "support"}, fresh, "issue.title matches `\\?\\s*$`", "crash",
			"How do I change the port?", "The manual does not say.", "a title with a question mark",
		},
		{
			"feature", []string{"enhancement", "feature", "feature request"}, fresh,
			"issue.title matches `(?i)\\b(feature request|please (add|support)|add support for|it would be (nice|great|useful))\\b`", "",
			"Please add a dark theme", "The light one is too bright at night.", "words of a wish",
		},
		{
			"documentation", []string{"documentation", "docs", "doc"}, fresh, "issue.title matches `(?i)\\b(docs?|documentation|readme|typo)\\b`", "",
			"Typo in the README", "The third line has one letter too many.", "words of documentation",
		},
		{
			"performance", []string{"performance", "perf"}, changed, "issue.text matches `(?i)\\b(memory leak|high cpu|(too|very) slow)\\b`", "",
			"It is very slow with 1,000 files", "Each of them takes a second.", "words of slowness",
		},
		{
			"no-details", []string{"needs info", "need info", "needs more info", "more info needed", "needs information", "more information needed", "needs details", "waiting for info"},
			fresh, tooShort, "", "Help", "", "an issue without a description",
		},
	}
}

// tooShort is the condition for an issue without a description.
const tooShort = "len(trim(issue.body)) < 10"

// wordRules returns the rules that label issues by their words. Rules for labels that the
// repository does not have are skipped. from is the origin of the labels.
func wordRules(labels labelIndex, from string, o Options) []proposed {
	of := map[string]string{}
	for _, k := range kinds() {
		of[k.id] = labels.named(k.names)
	}
	var list []proposed
	for _, k := range kinds() {
		label := of[k.id]
		p := proposed{id: k.id, from: from, on: k.on, when: k.when, title: k.title, body: k.body, test: k.test}
		if label != "" {
			p.labels, p.after, p.then = []string{label}, []string{label}, []string{"add_label: " + scalar(label)}
		}
		if other := of[k.unless]; other != "" {
			p.when += " and not label(" + quote(other) + ")"
		}
		if k.id == "no-details" && o.Comments && len(labels) > 0 {
			p.comments, p.then = true, append(p.then, ask)
		}
		if len(p.then) > 0 {
			list = append(list, p)
		}
	}
	return list
}

// ask is the action that asks for a description.
const ask = `comment:
          once: no-details
          body: "Thank you, {{ issue.author }}. What did you do, and what happened?"`

// minimalRule is the rule for a repository of which no label is known.
func minimalRule(o Options) proposed {
	p := proposed{
		id: "no-details", from: fromNothing, on: []string{"issues.opened"}, when: tooShort, title: "Help", test: "an issue without a description",
		then: []string{"escalate: the issue has no description"}, escalate: true,
	}
	if o.Comments {
		p.then, p.escalate, p.comments = []string{ask}, false, true
	}
	return p
}

// named returns the label for the first of the names that any label has.
func (x labelIndex) named(names []string) string {
	for _, name := range names {
		if list := x[name]; len(list) > 0 {
			return list[0]
		}
	}
	return ""
}

var (
	shortcode = text.Regexp(`:[a-z0-9_+-]+:`)    // an emoji
	noWord    = text.Regexp(`[^\p{L}\p{N}#+.]+`) // the characters between words
	oneLetter = text.Regexp(`^[a-z]-([a-z].*)$`) // a prefix of one letter, as in C-bug
)

// core returns the words of a label in lower case without its group, emoji and punctuation:
// "bug" for "Kind/Bug", "type: bug", "C-bug" and ":bug: Bugs".
func core(label string) string {
	s := shortcode().ReplaceAllString(strings.ToLower(label), " ")
	if i := strings.LastIndexAny(s, "/:"); i >= 0 {
		s = s[i+1:]
	}
	if m := oneLetter().FindStringSubmatch(strings.TrimSpace(s)); m != nil {
		s = m[1]
	}
	s = strings.TrimSpace(noWord().ReplaceAllString(s, " "))
	if len(s) > 3 && strings.HasSuffix(s, "s") && !strings.HasSuffix(s, "ss") && s != "docs" {
		s = strings.TrimSuffix(s, "s")
	}
	return s
}

// group returns the prefix of a label before its last part, such as "kind/".
func group(label string) string {
	i := strings.LastIndexAny(label, "/:")
	return strings.ToLower(label[:i+1])
}
