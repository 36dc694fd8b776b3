package ruletest

import (
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/rulesource"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/rules/internal/events"
	"github.com/org/foreman-action/triage"
)

// A Test is an item of "tests" in a file: an event and the expected result. It is immutable.
type Test struct {
	Name string // unique in its file
	File string
	Line int // the line of its name

	facts  facts.Facts
	past   bool              // the test has the key past
	by     map[string]string // the rule that added a label earlier, by the label in lower case
	fired  []string          // expected to fire; empty when the test does not say
	expect []expectation
}

// testKeys are the keys of a test in the file. All but name and expect are optional.
type testKeys struct {
	Name      *yaml.Node `mistaken:"id,title"                   yaml:"name,required"`
	Event     *yaml.Node `mistaken:"on"                         yaml:"event"`
	Now       *yaml.Node `mistaken:"time"                       yaml:"now"`
	Repo      *yaml.Node `mistaken:"repository"                 yaml:"repo"`
	Issue     *yaml.Node `yaml:"issue"`
	Actor     *yaml.Node `mistaken:"sender,user"                yaml:"actor"`
	Comment   *yaml.Node `yaml:"comment"`
	Label     *yaml.Node `yaml:"label"`
	Assignee  *yaml.Node `yaml:"assignee"`
	Milestone *yaml.Node `yaml:"milestone"`
	Pull      *yaml.Node `mistaken:"pull_request,pull"          yaml:"pr"`
	Author    *yaml.Node `yaml:"author"`
	Contrib   *yaml.Node `yaml:"contrib"`
	Memory    *yaml.Node `yaml:"memory"`
	Past      *yaml.Node `mistaken:"timeline,history"           yaml:"past"`
	Functions *yaml.Node `mistaken:"funcs,function,results"     yaml:"functions"`
	Expect    *yaml.Node `mistaken:"want,expected,then,expects" yaml:"expect,required"`
}

const (
	maxTests    = 2000 // of all files together
	maxTestName = 200  // characters
)

// Parse returns the tests of all sources, in order, without those that have mistakes. The error is a
// [rules.Problems] with all mistakes of the sources, including those of rules that [rules.Compile]
// has found.
func Parse(sources ...rules.Source) ([]Test, error) {
	parts := make([]rulesource.Parts, 0, len(sources))
	for _, s := range sources {
		parts = append(parts, rulesource.Source(s).Parts())
	}
	return parse(idsOf(parts), parts), mistakes(parts)
}

// mistakes returns the mistakes of all files, each file once.
func mistakes(parts []rulesource.Parts) error {
	var files []*yamlfile.File
	for _, p := range parts {
		if p.File != nil && !slices.Contains(files, p.File) {
			files = append(files, p.File)
		}
	}
	return yamlfile.Err(files...)
}

func parse(ids []string, parts []rulesource.Parts) []Test {
	var list []Test
	var own rulesource.Own
	for _, src := range parts {
		if src.Own != nil {
			own.Funcs, own.Actions = slices.Concat(own.Funcs, src.Own.Funcs), slices.Concat(own.Actions, src.Own.Actions)
		}
	}
	for _, src := range parts {
		d := decoder{f: src.File, fields: fieldDecoder{f: src.File}, now: testNow(), repo: testRepo(), kind: "test", ids: ids, own: own}
		if src.File == nil || src.Tests == nil {
			continue
		}
		if src.Tests.Kind != yaml.SequenceNode {
			d.f.Problemf(src.Tests, "tests: want a list of tests, got %s", yamlfile.Kind(src.Tests))
			continue
		}
		first := map[string]int{}
		for _, n := range src.Tests.Content {
			if len(list) == maxTests {
				d.f.Problemf(n, "more than %d tests", maxTests)
				return list
			}
			if t, ok := d.test(n, first); ok {
				list = append(list, t)
			}
		}
	}
	return list
}

// idsOf returns the ids of all rules as written, including rules with mistakes.
func idsOf(parts []rulesource.Parts) []string {
	ids := []string{}
	for _, src := range parts {
		if src.Rules == nil {
			continue
		}
		for _, rule := range src.Rules.Content {
			for i := 0; i+1 < len(rule.Content) && rule.Kind == yaml.MappingNode; i += 2 {
				if rule.Content[i].Value == "id" {
					ids = append(ids, rule.Content[i+1].Value)
				}
			}
		}
	}
	return ids
}

// A decoder reads the tests of one file, or a case.
type decoder struct {
	f      *yamlfile.File
	fields fieldDecoder
	now    time.Time   // the default time
	repo   triage.Repo // the default repository
	kind   string      // what messages call an item: test or case
	ids    []string    // the ids of all rules; nil: unknown
	own    rulesource.Own
	node   *yaml.Node // the current test
}

// test reads one test. first maps the names of earlier tests to their lines.
func (d decoder) test(n *yaml.Node, first map[string]int) (Test, bool) {
	var keys testKeys
	d.node = n
	before := d.f.ErrorCount()
	d.f.Decode(n, &keys)
	t := Test{File: d.f.Name(), Line: n.Line}
	if keys.Name != nil && d.f.DecodeKey("name", keys.Name, &t.Name) {
		t.Line = keys.Name.Line
		line, twice := first[t.Name]
		switch {
		case strings.TrimSpace(t.Name) == "" || strings.Contains(t.Name, "\n") || utf8.RuneCountInString(t.Name) > maxTestName:
			d.f.Problemf(keys.Name, "name: want one line of at most %d characters", maxTestName)
		case twice:
			d.f.Problemf(keys.Name, "the name %q is used twice; the first is in line %d", text.Shorten(t.Name, text.Quoted), line)
		default:
			first[t.Name] = t.Line
		}
	}
	t.facts, t.by, t.past = d.facts(keys), d.by(keys.Memory), keys.Past != nil
	if keys.Expect != nil {
		t.expect, t.fired = expectDecoder{d.f, d.ids, d.own.Actions}.expect(keys.Expect)
	}
	return t, d.f.ErrorCount() == before
}

// facts reads the event of a test.
func (d decoder) facts(keys testKeys) facts.Facts {
	f := facts.Facts{Now: d.now, Repo: d.repo}
	if keys.Now != nil {
		d.fields.moment("now", keys.Now, &f.Now)
	}
	if keys.Repo != nil {
		d.repository(keys.Repo, &f.Repo)
	}
	f.Event = d.event(keys.Event)
	d.subject("label", keys.Label, &f.Event.Label, f.Event)
	d.subject("assignee", keys.Assignee, &f.Event.Assignee, f.Event)
	d.subject("milestone", keys.Milestone, &f.Event.Milestone, f.Event)
	var known facts.Known
	f.Issue = defaultIssue(f, d.now)
	f.Issue.PullRequest = f.Issue.PullRequest || keys.Pull != nil && mayBePull(f.Event)
	d.fields.fill("issue", keys.Issue, slotsOf(reflect.ValueOf(&f.Issue).Elem()))
	if !given(keys.Issue, "updated_at") {
		f.Issue.UpdatedAt = defaultUpdate(f)
	}
	if !given(keys.Issue, "closed_at") && f.Issue.State == "closed" {
		f.Issue.ClosedAt = f.Issue.UpdatedAt
	}
	d.pull(keys.Pull, &f, &known)
	if !given(keys.Issue, "url") {
		f.Issue.URL = defaultURL(f)
	}
	switch {
	case f.Event.Name == "issue_comment":
		author := f.Issue.Author
		if n := yamlfile.Child(keys.Comment, "author"); n != nil {
			author = n.Value
		}
		f.Event.Comment = defaultComment(f, author)
		d.fields.fill("comment", keys.Comment, slotsOf(reflect.ValueOf(&f.Event.Comment).Elem()))
	case keys.Comment != nil:
		d.f.Problemf(keys.Comment, "comment: only the events of issue_comment have one; the number of comments is issue.comments")
	}
	login := subjectOf(f).Login
	if n := yamlfile.Child(keys.Actor, "login"); n != nil {
		login = n.Value
	}
	f.Actor = defaultActor(f, login)
	d.actor(keys.Actor, &f, &known)
	known.Scored = defaultContrib()
	d.lookups(keys, f, &known)
	f.Lookup = known
	f.Results = d.results(keys.Functions)
	return f
}

// lookups reads the results of look-ups, without those about the pull request and the actor.
func (d decoder) lookups(keys testKeys, f facts.Facts, known *facts.Known) {
	d.fields.fill("author", keys.Author, lookedUpSlots("author", known))
	d.fields.fill("contrib", keys.Contrib, lookedUpSlots("contrib", known))
	d.fields.fill("memory", keys.Memory, lookedUpSlots("memory", known), "by")
	known.History.Changes = d.past(keys.Past, f)
}

// testRepo returns the default repository of a test.
func testRepo() triage.Repo { return triage.Repo{Owner: "octo-org", Name: "hello"} }

// testNow returns the default time of a test.
func testNow() time.Time { return time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC) }

// event reads the name of the event.
func (d decoder) event(n *yaml.Node) triage.Event {
	key := "issues.opened"
	if n != nil && d.f.DecodeKey("event", n, &key) {
		several := slices.Contains(events.Keys(), key+".*")
		if several || strings.HasSuffix(key, ".*") {
			d.f.Problemf(n, "event: a %s is about one activity, such as %s", d.kind, events.FirstOf(events.Keys(), strings.TrimSuffix(key, ".*")))
		} else {
			events.Check(d.f, n, "event", key)
		}
	}
	name, action, _ := strings.Cut(key, ".")
	return triage.Event{Name: name, Action: action}
}

// subject reads the label, assignee or milestone of an event. It is required for events that have
// one.
func (d decoder) subject(key string, n *yaml.Node, out *string, e triage.Event) {
	has := map[string][]string{
		"label": {"labeled", "unlabeled"}, "assignee": {"assigned", "unassigned"}, "milestone": {"milestoned", "demilestoned"},
	}[key]
	wanted := slices.Contains(has, e.Action)
	switch {
	case n == nil && wanted:
		d.f.Problemf(d.node, "a %s of %s.%s needs %s", d.kind, e.Name, e.Action, key)
	case n != nil && !wanted:
		d.f.Problemf(n, "%s: only %s have one; the values of the issue itself belong under issue", key, strings.Join(has, " and "))
	case n != nil:
		d.f.DecodeKey(key, n, out)
	}
}

func (d decoder) repository(n *yaml.Node, out *triage.Repo) {
	var name string
	if !d.f.DecodeKey("repo", n, &name) {
		return
	}
	owner, repo, ok := strings.Cut(name, "/")
	if !ok || owner == "" || repo == "" || strings.Contains(repo, "/") {
		d.f.Problemf(n, "repo: want owner/name, got %q", text.Shorten(name, text.Quoted))
		return
	}
	*out = triage.Repo{Owner: owner, Name: repo}
}
