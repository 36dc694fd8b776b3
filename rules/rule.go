package rules

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/rules/internal/action"
	"github.com/org/foreman-action/rules/internal/events"
	"github.com/org/foreman-action/rules/internal/expression"
	"github.com/org/foreman-action/rules/internal/symbols"
	"github.com/org/foreman-action/triage"
)

// A rule is one compiled rule.
type rule struct {
	id      string
	file    *yamlfile.File
	node    *yaml.Node // its id
	on      []string
	when    *expression.Expression // nil: always
	actions []action.Action
	stop    bool
	// override is true when the rule's actions may undo changes by people.
	override bool
	// together is true when all actions of the rule are carried out, or none.
	together bool
	// undo is true when the rule's actions are reverted while its condition is false.
	undo  bool
	scans []scan // the searches for the issues of a scheduled run

	once    sync.Once // fills digests
	digests []string  // results of digest, one for each action, and one for the reversals
}

// A scan is a search query with its place in the file.
type scan struct {
	query string
	node  *yaml.Node
}

// ruleKeys are the keys of a rule in the file.
type ruleKeys struct {
	ID   *yaml.Node `mistaken:"name,title"              yaml:"id,required"`
	On   *yaml.Node `mistaken:"event,events"            yaml:"on"`
	When *yaml.Node `mistaken:"if,condition"            yaml:"when"`
	Then *yaml.Node `mistaken:"do,actions,action,steps" yaml:"then,required"`
	Stop bool       `yaml:"stop"`

	OverrideHumans bool       `yaml:"override_humans"`
	Together       bool       `yaml:"together"`
	ElseUndo       bool       `yaml:"else_undo"`
	Scan           *yaml.Node `mistaken:"query,search" yaml:"scan"`
}

const maxID = 64 // characters

var idPattern = text.Regexp(`^[a-z0-9][a-z0-9_-]*$`)

// compileRule compiles one item of "rules". Mistakes are recorded in f.
func compileRule(c *expression.Compiler, specs []protocol.ActionSpec, f *yamlfile.File, n *yaml.Node) *rule {
	var keys ruleKeys
	f.Decode(withoutIntent(f, n), &keys)
	r := &rule{file: f, node: n, on: events.Decode(f, keys.On), stop: keys.Stop, override: keys.OverrideHumans, together: keys.Together, undo: keys.ElseUndo}
	if keys.On != nil {
		c = c.WithEvents(r.on)
	}
	if keys.ID != nil {
		r.id, r.node = decodeID(f, keys.ID), keys.ID
	}
	if keys.When != nil {
		r.when = compileCondition(c, f, keys.When)
	}
	if keys.Then != nil {
		r.actions = action.Compile(c, specs, f, keys.Then)
	}
	r.decodeScans(keys.Scan)
	r.checkComments()
	r.checkEscalate()
	r.checkPulls()
	r.checkUndo()
	return r
}

// withoutIntent returns the node of a rule without the keys that belong beside the parameters of an
// action, which it records as mistakes.
func withoutIntent(f *yamlfile.File, n *yaml.Node) *yaml.Node {
	if n.Kind != yaml.MappingNode || !slices.ContainsFunc(n.Content, func(k *yaml.Node) bool { return action.Misplaced(k.Value) != "" }) {
		return n
	}
	out := *n
	out.Content = nil
	for key, value := range yamlfile.Pairs(n) {
		if hint := action.Misplaced(key.Value); hint != "" {
			f.Problemf(key, "unknown key %q%s", key.Value, hint)
			continue
		}
		out.Content = append(out.Content, key, value)
	}
	return &out
}

func decodeID(f *yamlfile.File, n *yaml.Node) string {
	var id string
	if !f.DecodeKey("id", n, &id) {
		return ""
	}
	if !idPattern().MatchString(id) || len(id) > maxID {
		f.Problemf(n, "id: want at most %d of a-z, 0-9, - and _, the first a letter or a digit, got %q", maxID, id)
		return ""
	}
	return id
}

// checkUnique rejects an id that another rule has. first maps the ids of earlier rules to the
// rules.
func (r *rule) checkUnique(first map[string]*rule) {
	if r.id == "" {
		return
	}
	if other := first[r.id]; other != nil {
		r.file.Problemf(r.node, "the id %s is used twice; the first is at %s:%d", r.id, other.file.Name(), other.node.Line)
		return
	}
	first[r.id] = r
}

// checkComments rejects comment actions of a rule whose "on" has a wildcard, such as issues.*.
func (r *rule) checkComments() {
	i := slices.IndexFunc(r.on, func(on string) bool { return strings.HasSuffix(on, ".*") })
	if i < 0 {
		return
	}
	for _, a := range r.actions {
		if a.Spec().Posts() {
			r.file.Problemf(a.Node, "a comment in answer to %s would follow every edit and label; name the events in on", r.on[i])
		}
	}
}

// takesPulls reports whether the rule may decide on a pull request. Events of issue_comment occur
// on issues and on pull requests, so they count unless the condition excludes pull requests.
func (r *rule) takesPulls() bool {
	if r.when != nil && r.when.OnlyIssues() {
		return false
	}
	return slices.ContainsFunc(r.on, func(on string) bool {
		return strings.HasPrefix(on, triage.EventPullRequest+".") || strings.HasPrefix(on, triage.EventIssueComment+".")
	}) || slices.ContainsFunc(r.scans, func(s scan) bool { return text.FindsPulls(s.query) })
}

// checkPulls warns of actions that only pull requests can have, in a rule that decides on none.
func (r *rule) checkPulls() {
	for _, a := range r.actions {
		if a.Spec().PullsOnly && !r.takesPulls() {
			r.file.Warnf(a.Node, "%s works only on pull requests, and the rule listens to no event of them", a.Name())
		}
	}
}

// checkEscalate warns of actions next to escalate, which never take effect.
func (r *rule) checkEscalate() {
	i := slices.IndexFunc(r.actions, func(a action.Action) bool { return a.Name() == action.Escalate })
	if i >= 0 && len(r.actions) > 1 {
		r.file.Warnf(r.actions[i].Node, "escalate leaves the issue to a human and nothing is written; the other actions of this rule are not carried out")
	}
}

// checkUndo refuses "else_undo" in a rule without a condition.
func (r *rule) checkUndo() {
	if r.undo && r.when == nil && r.file.ErrorCount() == 0 {
		r.file.Problemf(r.node, "else_undo reverts the changes of the rule when its condition is false, but the rule has no condition (when)")
	}
}

const (
	maxScan  = 256 // characters, the limit of GitHub's search
	maxScans = 5   // searches of a rule
)

// decodeScans reads the value of "scan": a query, or a list of queries. A rule has "scan" exactly
// when it listens to the event schedule.
func (r *rule) decodeScans(n *yaml.Node) {
	listens := slices.Contains(r.on, events.Schedule)
	switch {
	case n == nil && listens:
		r.file.Problemf(r.node, "a rule that listens to %s needs scan, the search that finds its issues, such as \"is:open label:needs-info\"", events.Schedule)
		return
	case n == nil:
		return
	case !listens:
		r.file.Problemf(n, "scan is for rules that listen to %s", events.Schedule)
		return
	}
	items := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		items = n.Content
	}
	if len(items) == 0 || len(items) > maxScans {
		r.file.Problemf(n, "scan: want one search, or a list of at most %d", maxScans)
	}
	for _, item := range items {
		s := scan{node: item}
		if r.file.DecodeKey("scan", item, &s.query) && s.check(r.file) {
			r.scans = append(r.scans, s)
		}
	}
}

// check records the mistakes of a query. ok is false when it is empty, too long, or not one line.
func (s scan) check(f *yamlfile.File) (ok bool) {
	if strings.TrimSpace(s.query) == "" || len([]rune(s.query)) > maxScan || strings.ContainsAny(s.query, "\r\n") {
		f.Problemf(s.node, "scan: want one line of at most %d characters, as GitHub's issue search takes it", maxScan)
		return false
	}
	kinds := map[string]bool{}
	for word := range strings.FieldsSeq(s.query) {
		name, value, ok := strings.Cut(strings.ToLower(strings.TrimLeft(word, "-(")), ":")
		if ok && slices.Contains([]string{"repo", "org", "user"}, name) {
			f.Problemf(s.node, "scan: leave out %s; only issues of this repository are looked for", text.Shorten(word, text.Quoted))
		}
		if (name == "is" || name == "type") && !strings.HasPrefix(word, "-") {
			kinds[map[string]string{"issue": "issue", "pr": "pull", "pull-request": "pull"}[value]] = true
		}
	}
	if kinds["issue"] && kinds["pull"] && !strings.Contains(s.query, " OR ") {
		f.Problemf(s.node, "scan: GitHub's search finds issues or pull requests; for both, write a list: [\"is:issue …\", \"is:pr …\"]")
	}
	return true
}

// compileCondition compiles the value of "when".
func compileCondition(c *expression.Compiler, f *yamlfile.File, n *yaml.Node) *expression.Expression {
	switch {
	case n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null":
		f.Problemf(n, "when has no value; give it one or leave it out")
		return nil
	case n.Kind == yaml.MappingNode && n.Style&yaml.FlowStyle != 0:
		f.Problemf(n, "when: want a condition, got a mapping; write it without {{ }}")
		return nil
	case n.Kind == yaml.SequenceNode && n.Style&yaml.FlowStyle == 0:
		f.Problemf(n, "when: want a condition, got a list; write one condition, joined by and or or")
		return nil
	case n.Kind != yaml.ScalarNode:
		f.Problemf(n, "when: want a condition, got %s; quote the whole value, or put it on its own line under \"|\"", yamlfile.Kind(n))
		return nil
	}
	if !expression.CheckComment(f, n) {
		return nil
	}
	if n.Style&yaml.FoldedStyle != 0 {
		f.Warnf(n, "a folded block (>) loses the lines of the condition; write | so that mistakes show their place")
	}
	return c.Compile(expression.Source{File: f, Node: n, Text: n.Value}, expression.Bool)
}

// listens reports whether the rule listens to event e. For a scheduled run, one of its scans must
// have found the issue, too.
func (r *rule) listens(f *facts.Facts, e events.Event) bool {
	if f.Event.Name == events.Schedule && !slices.ContainsFunc(r.scans, func(s scan) bool { return s.found(f) }) {
		return false
	}
	return events.Listens(r.on, e)
}

// reversals is the index of the digest of a rule's reversals (else_undo).
const reversals = -1

// digest returns the digest of the rule with one of its actions, by its index, or with its [reversals]: 16
// hexadecimal digits. Rules that do the same in the same cases have the same digest, whatever their ids and
// places, and however they are written.
func (r *rule) digest(names *symbols.Table, index int) string {
	r.once.Do(func() { // most rules are for other events
		on := slices.Compact(slices.Sorted(slices.Values(r.on)))
		scans := make([]string, 0, len(r.scans))
		for _, s := range r.scans {
			scans = append(scans, s.query)
		}
		slices.Sort(scans)
		b := fmt.Appendf(nil, "foreman rule 1\non %q\nscan %q\nwhen ", on, slices.Compact(scans))
		if r.when != nil {
			b = r.when.AppendCanonical(b, names)
		}
		b = append(b, "\nthen "...)
		sum := func(entry []byte) {
			full := sha256.Sum256(entry)
			r.digests = append(r.digests, hex.EncodeToString(full[:digestBytes]))
		}
		for _, a := range r.actions {
			sum(a.AppendCanonical(slices.Clip(b), names))
		}
		sum(append(slices.Clip(b), "else_undo"...))
	})
	if index == reversals {
		index = len(r.digests) - 1
	}
	return r.digests[index]
}

// digestBytes is how many bytes of a sum a digest has.
const digestBytes = 8

// found reports whether the scan found the issue of a scheduled run. If a person named the issue,
// there was no search: then the scan only distinguishes issues from pull requests.
func (s scan) found(f *facts.Facts) bool {
	if f.Scans != nil {
		return slices.Contains(f.Scans, s.query)
	}
	return strings.Contains(s.query, " OR ") || text.FindsPulls(s.query) == f.Issue.PullRequest
}
