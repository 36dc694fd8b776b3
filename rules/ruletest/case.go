package ruletest

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/triage"
)

// A CaseSpec describes an event on which somebody tries rules.
type CaseSpec struct {
	// Name is the name of the file with Source, for mistakes.
	Name string
	// Source is YAML with the keys of a test; name and expect are not used. It may be empty.
	Source []byte
	// Fields replace values of Source.
	Fields []Field
	// Event is an event that was received. Then the case only has values that the event does not
	// contain. Nil: the case describes the event.
	Event *triage.Delivery
	Repo  triage.Repo // the default repository; zero: octo-org/hello
	// Now is the default time, at which the issue was opened. If the case has a time, the issue was
	// opened when that of a test was.
	Now time.Time
}

// A Field is a value of a case that is not in its file.
type Field struct {
	Name  string // its keys in a test, such as "issue.title"
	Value any    // a string, a []string, an int or a bool
	From  string // where it comes from, such as "--title"; mistakes name it as the file
}

// A Case is an event with the supplied results of look-ups.
type Case struct {
	Event  triage.Delivery
	Lookup facts.Supplied
	Now    time.Time
}

// ParseCase reads a case. Omitted values of the event have the defaults of a test, except that a case
// with a comment is about issue_comment.created, and one with fields of a pull request about
// pull_request.opened. Results of look-ups have no defaults, because they decide which rules fire: the
// case has those that are supplied, and those of an issue that was just opened. The error is a
// [rules.Problems] with all mistakes.
func ParseCase(spec CaseSpec) (Case, error) {
	f, err := yamlfile.Parse(spec.Name, spec.Source)
	if err != nil {
		return Case{}, err
	}
	c := caseDecoder{spec: spec, decoder: decoder{
		f: f, fields: fieldDecoder{f: f, long: true}, now: spec.Now.UTC(), repo: spec.Repo, kind: "case", node: f.Root(),
	}}
	if c.repo == (triage.Repo{}) {
		c.repo = testRepo()
	}
	out := c.parse()
	return out, placed(f.Err(), spec)
}

// placed returns the mistakes of a case with those in fields placed there.
func placed(err error, spec CaseSpec) error {
	list, ok := errors.AsType[rules.Problems](err)
	if !ok {
		return err
	}
	list = slices.Clone(list)
	for i := range list {
		p := &list[i]
		switch {
		case p.Line < 0:
			field := spec.Fields[-p.Line-1]
			p.File, p.Line, p.Column, p.Source = field.From, 0, 0, ""
			p.Message = strings.TrimPrefix(p.Message, field.Name+": ")
		case len(spec.Source) == 0:
			p.Line, p.Column = 0, 0
		}
	}
	yamlfile.Sort(list)
	return list
}

// A caseDecoder reads a case.
type caseDecoder struct {
	decoder
	spec CaseSpec
	root *yaml.Node // the mapping with the fields
}

func (c *caseDecoder) parse() Case {
	c.root = c.mapping(c.f.Root())
	for i, field := range c.spec.Fields {
		c.set(strings.Split(field.Name, "."), fieldNode(field.Value, -i-1))
	}
	var keys testKeys
	if c.spec.Event == nil {
		c.setDefaults()
	}
	if yamlfile.Child(c.root, "now") != nil {
		c.now = testNow() // when the issue of a test was opened
	}
	c.decode(&keys)
	var f facts.Facts
	var known facts.Known
	if c.spec.Event == nil {
		f = c.facts(keys)
		known, _ = f.Lookup.(facts.Known)
	} else {
		f = facts.Of(*c.spec.Event, c.now)
		c.extra(keys, &f, &known)
	}
	f.Lookup = nil
	out := Case{Now: f.Now, Lookup: c.supplied(keys, f, known)}
	if out.Event = deliveryOf(f, known); c.spec.Event != nil {
		out.Event = *c.spec.Event
	} else if n := yamlfile.Child(keys.Actor, "association"); n != nil && facts.Of(out.Event, out.Now).Actor.Association != f.Actor.Association {
		c.f.Problemf(n, "actor.association: the actor wrote the issue or the comment, so set issue.association or comment.association")
	}
	return out
}

// mapping returns a copy of the mapping of a case, which may be the only item of a list, as in "tests".
func (c *caseDecoder) mapping(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.SequenceNode && len(n.Content) == 1 {
		n = n.Content[0]
	}
	if n.Kind != yaml.MappingNode {
		c.f.Problemf(n, "want one case, a mapping with the keys of a test, got %s", yamlfile.Kind(n))
		return &yaml.Node{Kind: yaml.MappingNode, Line: n.Line, Column: n.Column}
	}
	return clone(n)
}

func clone(n *yaml.Node) *yaml.Node {
	out := *n
	out.Content = slices.Clone(n.Content)
	return &out
}

// decode reads the keys. name and expect are those of tests, and may be missing.
func (c *caseDecoder) decode(keys *testKeys) {
	for _, key := range []string{"name", "expect"} {
		if yamlfile.Child(c.root, key) == nil {
			c.set([]string{key}, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str"})
		}
	}
	c.node = c.root
	c.f.Decode(c.root, keys)
}

// set sets the value at a path of keys. A value on the way that is no mapping stays, because it is a
// mistake anyway.
func (c *caseDecoder) set(path []string, value *yaml.Node) {
	at := c.root
	for i, key := range path {
		k := keyIndex(at, key)
		if k < 0 {
			k = len(at.Content)
			at.Content = append(at.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key, Line: value.Line},
				&yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: value.Line})
		}
		if i == len(path)-1 {
			at.Content[k+1] = value
			return
		}
		if at.Content[k+1].Kind != yaml.MappingNode {
			return
		}
		at.Content[k+1] = clone(at.Content[k+1])
		at = at.Content[k+1]
	}
}

// keyIndex returns the index of a key in the content of a mapping; -1: it is not there.
func keyIndex(n *yaml.Node, key string) int {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Kind == yaml.ScalarNode && n.Content[i].Value == key {
			return i
		}
	}
	return -1
}

// fieldNode returns a value as a node. It is no YAML, so that a text has no meaning but itself.
func fieldNode(value any, line int) *yaml.Node {
	scalar := func(tag, value string) *yaml.Node {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: value, Line: line}
	}
	switch v := value.(type) {
	case []string:
		n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Line: line}
		for _, s := range v {
			n.Content = append(n.Content, fieldNode(s, line))
		}
		return n
	case int:
		return scalar("!!int", strconv.Itoa(v))
	case bool:
		return scalar("!!bool", strconv.FormatBool(v))
	case string:
		return scalar("!!str", strings.ToValidUTF8(v, "\uFFFD"))
	}
	return scalar("!!str", fmt.Sprint(value))
}

// setDefaults sets the values that follow from others: the event of a comment or a pull request, the
// label of a label event, the author of a comment, the type of a program's account.
func (c *caseDecoder) setDefaults() {
	child := func(keys ...string) *yaml.Node { return yamlfile.Child(c.root, keys...) }
	text := func(value string, of *yaml.Node) *yaml.Node {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value, Line: of.Line, Column: of.Column}
	}
	marked := child("issue", "pull_request")
	pull := marked != nil && marked.Value == "true"
	switch comment := child("comment"); {
	case child("event") != nil:
	case comment != nil:
		c.set([]string{"event"}, text(triage.EventIssueComment+".created", comment))
	case pull:
		c.set([]string{"event"}, text(triage.EventPullRequest+".opened", marked))
	case child("pr") != nil:
		c.set([]string{"event"}, text(triage.EventPullRequest+".opened", child("pr")))
	}
	if event := child("event"); event != nil {
		c.setLabel(event.Value)
	}
	for _, of := range [][2]string{{"issue", "author"}, {"actor", "login"}} {
		kind := map[string]string{"issue": "author_type", "actor": "type"}[of[0]]
		if login := child(of[:]...); login != nil && strings.HasSuffix(login.Value, "[bot]") && child(of[0], kind) == nil {
			c.set([]string{of[0], kind}, text("Bot", login))
		}
	}
	if login := child("actor", "login"); login != nil && child("comment") != nil && child("comment", "author") == nil {
		c.set([]string{"comment", "author"}, text(login.Value, login))
	}
}

// setLabel sets the label of a label event: the last label of the issue, which has no longer a label
// that is removed.
func (c *caseDecoder) setLabel(event string) {
	labels := yamlfile.Child(c.root, "issue", "labels")
	_, action, _ := strings.Cut(event, ".")
	if action != "labeled" && action != "unlabeled" || yamlfile.Child(c.root, "label") != nil ||
		labels == nil || labels.Kind != yaml.SequenceNode || len(labels.Content) == 0 {
		return
	}
	last := len(labels.Content) - 1
	c.set([]string{"label"}, labels.Content[last])
	if action == "unlabeled" {
		rest := clone(labels)
		rest.Content = rest.Content[:last]
		c.set([]string{"issue", "labels"}, rest)
	}
}

// extra reads the values that a received event does not contain.
func (c *caseDecoder) extra(keys testKeys, f *facts.Facts, known *facts.Known) {
	for key, n := range map[string]*yaml.Node{
		"event": keys.Event, "now": keys.Now, "repo": keys.Repo, "issue": keys.Issue, "comment": keys.Comment,
		"label": keys.Label, "assignee": keys.Assignee, "milestone": keys.Milestone, "functions": keys.Functions,
	} {
		if n != nil {
			c.f.Problemf(n, "%s: the event's payload has it; beside a payload, give only pr, actor.permission, author, contrib, memory and past", key)
		}
	}
	for k := range yamlfile.Pairs(keys.Actor) {
		if k.Value != "permission" {
			c.f.Problemf(k, "actor.%s: the event's payload has it", k.Value)
		}
	}
	if f.Pull != nil {
		known.PullRequest = *f.Pull
	}
	if keys.Pull != nil && !f.Issue.PullRequest && f.Pull == nil {
		c.f.Problemf(keys.Pull, "pr: the event is about an issue, and not about a pull request")
	}
	c.fields.fill("pr", keys.Pull, lookedUpSlots("pr", known))
	var permission string
	if p := yamlfile.Child(keys.Actor, "permission"); p != nil {
		c.permission(p, &permission)
		known.Permissions = map[string]string{f.Actor.Login: permission}
	}
	c.lookups(keys, *f, known)
}

// supplied returns the look-ups of a case. f has no look-ups.
func (c *caseDecoder) supplied(keys testKeys, f facts.Facts, known facts.Known) facts.Supplied {
	s := facts.Supplied{Known: known}
	for root, section := range map[string]*yaml.Node{"pr": keys.Pull, "author": keys.Author, "contrib": keys.Contrib, "memory": keys.Memory} {
		for k := range yamlfile.Pairs(section) {
			s.Names = append(s.Names, root+"."+k.Value)
		}
	}
	if keys.Past != nil {
		s.Names = append(s.Names, facts.TimelineName)
	}
	if yamlfile.Child(keys.Actor, "permission") == nil {
		s.Known.Permissions = nil
	}
	opened := f.Event.Action == "opened"
	if opened && keys.Past == nil {
		s.Known.History = facts.Opening(f.Issue)
		s.Names = append(s.Names, facts.TimelineName)
	}
	if opened && keys.Memory == nil {
		s.Names = append(s.Names, "memory")
	}
	s = c.suppliedPull(s, f, opened)
	slices.Sort(s.Names)
	return s
}

// suppliedPull adds the values of a pull request that follow from the event and from other values.
func (c *caseDecoder) suppliedPull(s facts.Supplied, f facts.Facts, opened bool) facts.Supplied {
	if !f.Issue.PullRequest && f.Pull == nil {
		return s
	}
	if f.Pull != nil {
		s.Known.PullRequest = *f.Pull
		for _, field := range facts.SpecOf(facts.PullPart).Fields {
			if c.spec.Event != nil {
				s.Names = append(s.Names, "pr."+field.Name)
			}
		}
	}
	s.Names = append(s.Names, "pr.draft")
	if f.Event.Name == triage.EventPullRequest && f.Event.Action != "closed" {
		s.Names = append(s.Names, "pr.merged")
	}
	if slices.Contains(s.Names, "pr.files") {
		s.Names = append(s.Names, "pr.changed_files")
	}
	if slices.Contains(s.Names, "pr.commit_messages") {
		s.Names = append(s.Names, "pr.commits")
	}
	if opened {
		s.Names = append(s.Names, "pr.approved_by", "pr.changes_requested_by")
	}
	return s
}

// deliveryOf returns the event of a case.
func deliveryOf(f facts.Facts, known facts.Known) triage.Delivery {
	issue := f.Issue
	d := triage.Delivery{Event: f.Event, Repo: f.Repo, Number: issue.Number, Issue: &issue, Sender: f.Actor, Fetched: f.Now}
	d.At = f.Now
	if f.Event.Name == triage.EventPullRequest {
		pull := known.PullRequest
		if f.Pull != nil {
			pull = *f.Pull
		}
		d.Pull = &pull
	}
	return d
}
