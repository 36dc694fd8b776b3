package starter

import (
	"context"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/rules/ruletest"
)

// The bounds of the tests of imported rules.
const (
	maxTests      = 25
	maxCandidates = 300 // maximum number of examples to try
)

// An example is a test of the file.
type example struct {
	name   string
	keys   []string // lines besides the issue, such as "event: issues.labeled"
	issue  []string // fields of the issue, such as "title: Help"
	fired  []string
	expect []string // more expectations
}

// text returns the test as an item of the list of tests.
func (e example) text() string {
	var b strings.Builder
	b.WriteString("  - name: " + scalar(e.name) + "\n")
	for _, k := range e.keys {
		b.WriteString("    " + k + "\n")
	}
	if len(e.issue) > 0 {
		b.WriteString("    issue: {" + strings.Join(e.issue, ", ") + "}\n")
	}
	b.WriteString("    expect: {" + strings.Join(append([]string{"fired: [" + strings.Join(e.fired, ", ") + "]"}, e.expect...), ", ") + "}\n")
	return b.String()
}

// tests returns those of our rules that fire on their examples, and the tests of a draft. cfg is
// the draft's configuration without tests. The tests are the examples, tests that make imported
// rules fire, and a test with an ordinary issue.
func tests(ctx context.Context, cfg *config.Config, d draft) (kept []proposed, list []example, err error) {
	for _, p := range d.own {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		e := example{name: p.test, issue: issueFields(p.title, p.body, nil)}
		if err := e.settle(cfg); err != nil {
			return nil, nil, err
		}
		if !slices.Contains(e.fired, p.id) {
			continue
		}
		if len(e.fired) == 1 {
			e.expect = p.expectations()
		}
		kept, list = append(kept, p), append(list, e)
	}
	if d.imported.Count > 0 {
		more, err := importedTests(ctx, cfg, d)
		if err != nil {
			return nil, nil, err
		}
		list = append(list, more...)
	}
	ordinary := example{name: "an ordinary issue", issue: issueFields("The window is too small", "It opens on half of the screen.", nil)}
	err = ordinary.settle(cfg)
	return kept, append(list, ordinary), err
}

// expectations returns the expectations of a rule's test, other than the rules that fire.
func (p proposed) expectations() []string {
	var list []string
	if len(p.after) > 0 {
		var labels []string
		for _, l := range p.after {
			labels = append(labels, scalar(l))
		}
		list = append(list, "labels: ["+strings.Join(labels, ", ")+"]")
	}
	if p.comments {
		list = append(list, "comments: 1")
	}
	if p.escalate {
		list = append(list, "escalated: true")
	}
	return list
}

// issueFields returns the fields of an issue; empty ones are left out.
func issueFields(title, body string, labels []string) []string {
	list := []string{"title: " + scalar(title)}
	if body != "" {
		list = append(list, "body: "+scalar(body))
	}
	if len(labels) > 0 {
		var items []string
		for _, l := range labels {
			items = append(items, scalar(l))
		}
		list = append(list, "labels: ["+strings.Join(items, ", ")+"]")
	}
	return list
}

// settle evaluates the example and records which rules fire.
func (e *example) settle(cfg *config.Config) error {
	e.fired, e.expect = nil, nil
	f, err := yamlfile.Parse("example", []byte("tests:\n"+e.text()))
	if err != nil {
		return fmt.Errorf("write a test of the proposed rules: %w", err)
	}
	parsed := ruletest.Parse(rules.Source{File: f, Tests: yamlfile.Child(f.Root(), "tests")})
	if err := f.Err(); err != nil {
		return fmt.Errorf("write a test of the proposed rules: %w", err)
	}
	e.fired = run(cfg, parsed[0]).Fired
	return nil
}

// run runs a test as "foreman rules test" does.
func run(cfg *config.Config, t ruletest.Test) ruletest.Result {
	return ruletest.Run(cfg.Rules, t, cfg.Policy.MayLabel)
}

// importedTests returns tests that make imported rules fire. Rules that no example reaches
// have none.
func importedTests(ctx context.Context, cfg *config.Config, d draft) ([]example, error) {
	var list []example
	covered := map[string]bool{}
	for _, p := range d.own {
		covered[p.id] = true
	}
	for i, e := range candidates(cfg, d.imported.Rules) {
		if len(list) == maxTests || i == maxCandidates || len(covered) == cfg.Rules.Len() {
			break
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := e.settle(cfg); err != nil {
			return nil, err
		}
		fresh := ""
		for _, id := range e.fired {
			if !covered[id] && fresh == "" {
				fresh = id
			}
			covered[id] = true
		}
		if fresh == "" {
			continue
		}
		e.name = "imported: " + fresh
		list = append(list, e)
	}
	return list, nil
}

var (
	patternPart = regexp.MustCompile("(title|body|text|head|base) (?:matches `([^`]+)`)")
	globPart    = regexp.MustCompile(`(?:any_file|all_files|matches_glob)\(([^()]*)\)`)
	branchPart  = regexp.MustCompile("pr\\.(head|base) matches `([^`]+)`")
	repoPart    = regexp.MustCompile(`repo\.full_name\)? (?:==|contains|startsWith) "([a-z0-9._/-]+)"`)
	labelPart   = regexp.MustCompile(`(not )?label\(("(?:[^"\\]|\\.)*")\)`)
	brokenLine  = regexp.MustCompile("`\\s*\\+ `") // between the parts of a long pattern
	textPart    = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
)

// candidates returns examples on which imported rules may fire. They use the events, labels,
// patterns and globs in the text of the rules.
func candidates(cfg *config.Config, text string) []example {
	var events []string
	for _, i := range rules.Infos(cfg.Rules) {
		for _, on := range i.On {
			if name, star := strings.CutSuffix(on, ".*"); star {
				on = map[string]string{"issues": "issues.opened", "issue_comment": "issue_comment.created", "pull_request": "pull_request.opened"}[name]
			}
			if !slices.Contains(events, on) {
				events = append(events, on)
			}
		}
	}
	s := samplesOf(cfg, text)
	var list []example
	for _, event := range events {
		name, activity, _ := strings.Cut(event, ".")
		key := "event: " + event
		if s.repo != "" {
			key += "\n    repo: " + s.repo
		}
		switch activity {
		case "assigned", "unassigned":
			key += "\n    assignee: hubot"
		case "milestoned", "demilestoned":
			key += "\n    milestone: v1"
		}
		switch {
		case name == "schedule":
			for _, issue := range s.old() {
				list = append(list, example{name: "x", keys: []string{key, "now: 2036-01-01T12:00:00Z"}, issue: issue})
			}
		case activity == "labeled" || activity == "unlabeled":
			for _, l := range s.labels {
				list = append(list, example{name: "x", keys: []string{key, "label: " + scalar(l)}, issue: []string{"title: It stopped"}})
			}
		case name == "pull_request":
			for _, f := range s.files {
				list = append(list, example{name: "x", keys: []string{key, "pr: {files: [" + scalar(f) + "]}"}, issue: []string{"title: Change a file"}})
			}
			for _, b := range s.branches {
				list = append(list, example{name: "x", keys: []string{key, "pr: {" + b + "}"}, issue: []string{"title: Change a file"}})
			}
			if activity == "closed" {
				key += "\n    pr: {merged: true}"
			}
			fallthrough
		default:
			for _, t := range s.texts {
				list = append(list, example{name: "x", keys: []string{key}, issue: issueFields(strings.Join(strings.Fields(t), " "), t, nil)})
			}
			for _, l := range s.labels {
				list = append(list, example{name: "x", keys: []string{key}, issue: issueFields("It stopped", "After a day.", []string{l})})
			}
		}
	}
	return list
}

// samples are the sample values that the proposed tests use.
type samples struct {
	labels, files, branches, texts []string

	sets [][]string // sets of labels that one rule requires together
	repo string     // empty: the default one
}

func samplesOf(cfg *config.Config, text string) samples {
	var s samples
	add := func(list *[]string, value string) {
		if value != "" && len(value) < 200 && !slices.Contains(*list, value) && !strings.ContainsFunc(value, noText) && len(*list) < 100 {
			*list = append(*list, value)
		}
	}
	for _, u := range cfg.Rules.Labels() {
		if !u.Glob {
			add(&s.labels, u.Label)
		}
	}
	for _, m := range globPart.FindAllStringSubmatch(text, -1) {
		for _, quoted := range textPart.FindAllString(m[1], -1) {
			if glob, err := strconv.Unquote(quoted); err == nil {
				add(&s.files, fileOf(glob))
			}
		}
	}
	for _, m := range branchPart.FindAllStringSubmatch(text, -1) {
		if v := sentence(m[2]); v != "" {
			add(&s.branches, m[1]+": "+scalar(v))
		}
	}
	text = brokenLine.ReplaceAllString(text, "")
	for rule := range strings.SplitSeq(text, "  - id: ") {
		var all []string
		for _, m := range patternPart.FindAllStringSubmatch(rule, -1) {
			if one := sentence(m[2]); one != "" && !slices.Contains(all, one) {
				all = append(all, one)
				add(&s.texts, one)
			}
		}
		var set []string
		for _, m := range labelPart.FindAllStringSubmatch(rule, -1) {
			if l, err := strconv.Unquote(m[2]); err == nil && m[1] == "" && !slices.Contains(set, l) {
				set = append(set, l)
			}
		}
		if len(set) > 1 {
			s.sets = append(s.sets, set)
		}
		if len(all) > 1 {
			add(&s.texts, strings.Join(all, " ")) // for conditions that require all patterns
		}
	}
	if m := repoPart.FindStringSubmatch(text); m != nil {
		if s.repo = m[1]; strings.HasSuffix(s.repo, "/") {
			s.repo += "hello"
		} else if !strings.Contains(s.repo, "/") {
			s.repo = ""
		}
	}
	return s
}

// old returns issues and pull requests of long ago, without a label and with some.
func (s samples) old() [][]string {
	var list [][]string
	for _, kind := range []string{"", "pull_request: true"} {
		sets := append([][]string{nil}, s.sets...)
		for _, l := range s.labels {
			sets = append(sets, []string{l})
		}
		for _, set := range sets {
			issue := issueFields("It stopped", "", set)
			if kind != "" {
				issue = append(issue, kind)
			}
			list = append(list, issue)
		}
	}
	return list
}

// fileOf returns a path that a glob matches.
func fileOf(glob string) string {
	s := strings.ReplaceAll(glob, "**/", "")
	s = strings.ReplaceAll(s, "**", "file")
	return strings.ReplaceAll(s, "*", "file")
}

// sentence returns a short text that a pattern matches, or "" if none was found.
func sentence(pattern string) string {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return ""
	}
	s := matched(re, 0)
	whole, err := regexp.Compile(pattern)
	if err != nil || !whole.MatchString(s) || strings.ContainsFunc(s, noText) {
		return ""
	}
	return s
}

func noText(c rune) bool { return c != '\n' && unprintable(c) }

// matched returns a text that matches a part of a pattern.
func matched(re *syntax.Regexp, depth int) string {
	const deepest, longest = 50, 200
	if depth > deepest {
		return ""
	}
	var b strings.Builder
	switch re.Op {
	case syntax.OpLiteral:
		return string(re.Rune)
	case syntax.OpCharClass:
		for i := 0; i+1 < len(re.Rune); i += 2 {
			for _, c := range []rune{'a', 'e', '1', '-', ' ', re.Rune[i]} {
				if re.Rune[i] <= c && c <= re.Rune[i+1] {
					return string(c)
				}
			}
		}
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return "a"
	case syntax.OpCapture, syntax.OpPlus:
		return matched(re.Sub[0], depth+1)
	case syntax.OpRepeat:
		for range min(re.Min, longest) {
			b.WriteString(matched(re.Sub[0], depth+1))
		}
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			b.WriteString(matched(sub, depth+1))
		}
	case syntax.OpAlternate:
		return matched(re.Sub[0], depth+1)
	}
	if b.Len() > longest {
		return b.String()[:longest]
	}
	return b.String()
}
