package starter

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/othertools"
	"github.com/org/foreman-action/internal/rulesource"
	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/rules/ruletest"
)

// maxTests bounds the tests of imported rules.
const maxTests = 25

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
	lines := append([]string{"  - name: " + scalar(e.name)}, e.keys...)
	lines = append(lines, "issue:")
	for _, field := range e.issue {
		lines = append(lines, "  "+field)
	}
	lines = append(lines, "expect:")
	for _, field := range append([]string{"fired: [" + strings.Join(e.fired, ", ") + "]"}, e.expect...) {
		lines = append(lines, "  "+field)
	}
	return strings.Join(lines, "\n    ") + "\n"
}

// fields returns the fields that have a value, which follows its key in list.
func fields(list ...string) []string {
	var out []string
	for pair := range slices.Chunk(list, 2) {
		if pair[1] != "" {
			out = append(out, pair[0]+": "+pair[1])
		}
	}
	return out
}

// issueFields returns the fields of an issue.
func issueFields(title, body string, labels []string) []string {
	return fields("title", scalar(title), "body", optional(body), "labels", flow(labels))
}

// optional returns a text for fields: "" stays empty.
func optional(s string) string {
	if s == "" {
		return ""
	}
	return scalar(s)
}

// flow returns texts as a YAML list on one line; "" if there are none.
func flow(texts []string) string {
	if len(texts) == 0 {
		return ""
	}
	items := make([]string, len(texts))
	for i, s := range texts {
		items[i] = scalar(s)
	}
	return "[" + strings.Join(items, ", ") + "]"
}

// tests returns the tests of a draft: the examples of our rules and of the imported ones, and a test
// with an ordinary issue. cfg is the draft's configuration without tests.
func tests(ctx context.Context, cfg *config.Config, d draft) ([]example, error) {
	var list []example
	for _, p := range d.own {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		e := p.example()
		if err := e.settle(ctx, cfg); err != nil {
			return nil, err
		}
		if len(e.fired) == 1 {
			e.expect = p.expectations()
		}
		list = append(list, e)
	}
	more, err := importedTests(ctx, cfg, d.imported.Examples)
	if err != nil {
		return nil, err
	}
	ordinary := example{name: "an ordinary issue", issue: issueFields("The window is too small", "It opens on half of the screen.", nil)}
	if err := ordinary.settle(ctx, cfg); err != nil {
		return nil, err
	}
	return append(append(list, more...), ordinary), nil
}

// example returns the test of a rule, before it is settled.
func (p proposed) example() example {
	return example{name: p.test, issue: issueFields(p.title, p.body, nil)}
}

// expectations returns the expectations of a rule's test, other than the rules that fire.
func (p proposed) expectations() []string {
	var comments, escalated string
	if p.comments {
		comments = "1"
	}
	if p.escalate {
		escalated = "true"
	}
	return fields("labels", flow(p.after), "comments", comments, "escalated", escalated)
}

// settle evaluates the example and records which rules fire.
func (e *example) settle(ctx context.Context, cfg *config.Config) error {
	e.fired, e.expect = nil, nil
	f, err := yamlfile.Parse("example", []byte("tests:\n"+e.text()))
	if err != nil {
		return fmt.Errorf("write a test of the proposed rules: %w", err)
	}
	parsed, err := ruletest.Parse(rules.Source(rulesource.New(rulesource.Parts{File: f, Tests: yamlfile.Child(f.Root(), "tests")})))
	if err != nil {
		return fmt.Errorf("write a test of the proposed rules: %w", err)
	}
	e.fired = run(ctx, cfg, parsed[0]).Fired
	return nil
}

// run runs a test as "foreman rules test" does.
func run(ctx context.Context, cfg *config.Config, t ruletest.Test) ruletest.Result {
	return ruletest.Run(ctx, cfg.Rules, t, cfg.Policy)
}

// importedTests returns the tests of imported rules: the events that their importer knows, if the
// rule fires on it.
func importedTests(ctx context.Context, cfg *config.Config, list []othertools.Example) ([]example, error) {
	var out []example
	covered := map[string]bool{}
	for _, one := range list {
		if len(out) == maxTests {
			break
		}
		if covered[one.Rule] {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		e := eventOf(one)
		if err := e.settle(ctx, cfg); err != nil {
			return nil, err
		}
		if !slices.Contains(e.fired, one.Rule) {
			continue
		}
		for _, id := range e.fired {
			covered[id] = true
		}
		out = append(out, e)
	}
	return out, nil
}

// eventOf returns the test for an event that an importer knows.
func eventOf(e othertools.Example) example {
	var now, merged string
	if e.Old {
		now = "2036-01-01T12:00:00Z"
	}
	if e.Event == "pull_request.closed" {
		merged = "true"
	}
	pull := fields("base", optional(e.Base), "files", flow(e.Files), "head", optional(e.Head), "merged", merged)
	out := example{name: "imported: " + e.Rule, keys: fields("event", e.Event, "repo", e.Repo, "now", now, "label", optional(e.Label))}
	title := "It stopped"
	if len(pull) > 0 {
		title = "Change a file"
		out.keys = append(out.keys, "pr:")
		for _, field := range pull {
			out.keys = append(out.keys, "  "+field)
		}
	}
	if out.issue = issueFields(cmp.Or(strings.Join(strings.Fields(strings.Join(e.Title, " ")), " "), title), strings.Join(e.Body, " "), e.Labels); e.Pull && !strings.HasPrefix(e.Event, "pull_request.") {
		out.issue = append(out.issue, "pull_request: true")
	}
	return out
}
