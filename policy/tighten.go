package policy

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/text"
)

// A Section is the policy in one configuration file. Nil means that the field is absent, which is
// different from a zero or an empty list: [Tighten] then uses the other file's value or the
// default. The tags are the names of the fields in configuration files and in a [Loosening].
type Section struct {
	AllowClose    *bool          `yaml:"allow_close"`
	Actions       []string       `yaml:"actions"`
	Limits        map[string]int `yaml:"limits"`
	Labels        *Labels        `yaml:"labels"`
	CreateLabels  *bool          `yaml:"create_labels"`
	UnknownAction string         `yaml:"unknown_action"` // UnknownStop or UnknownReject; empty: absent
	CommentLength *int           `yaml:"comment_length"`
	Mentions      []string       `yaml:"mentions"`
	Links         []string       `yaml:"links"`

	CommentInterval *time.Duration `yaml:"comment_interval"`       // 0: no limit
	MaxComments     *int           `yaml:"max_comments_per_issue"` // 0: no limit
	MaxWrites       *int           `yaml:"max_writes_per_hour"`    // 0: no limit
	ShadowPeriod    *time.Duration `yaml:"shadow_period"`
	MaxScanned      *int           `yaml:"max_scanned_issues"`
	JudgeAfter      *time.Duration `yaml:"judge_after"`
	JudgeReads      *int           `yaml:"judge_reads"`

	Automation    Automation     `yaml:"automation"` // a level or AutomationEarned; empty: absent
	Earn          *EarnSection   `yaml:"earn"`
	Approve       []string       `yaml:"approve"`
	Suggestions   Suggestions    `yaml:"suggestions"` // empty: absent
	SuggestionTTL *time.Duration `yaml:"suggestion_ttl"`

	AgentMay []string `yaml:"-"` // named "agent_may" in a Loosening
}

// An EarnSection is [Earn] in one configuration file. Nil and empty fields are absent.
type EarnSection struct {
	Bound    *float64                    `yaml:"bound"`
	Of       *int                        `yaml:"of"`
	Trust    []string                    `yaml:"trust"`
	Distrust []string                    `yaml:"distrust"`
	Reset    map[string]time.Time        `yaml:"reset"`
	Evidence string                      `yaml:"evidence"`
	Actions  map[string]ThresholdSection `yaml:",inline"`
}

// A ThresholdSection is a [Threshold] in one configuration file. Nil means absent.
type ThresholdSection struct {
	Bound *float64 `yaml:"bound"`
	Of    *int     `yaml:"of"`
}

// earn returns the section as a part of a policy.
func (s *EarnSection) earn() Earn {
	if s == nil {
		return Earn{}
	}
	e := Earn{Bound: valueOf(s.Bound), Of: valueOf(s.Of), Trust: s.Trust, Distrust: s.Distrust, Reset: s.Reset, Evidence: s.Evidence}
	for _, action := range slices.Sorted(maps.Keys(s.Actions)) {
		if e.Actions == nil {
			e.Actions = map[string]Threshold{}
		}
		e.Actions[action] = Threshold{valueOf(s.Actions[action].Bound), valueOf(s.Actions[action].Of)}
	}
	return e
}

// The values of [Section.UnknownAction].
const (
	UnknownStop   = "stop"   // carry out the actions before the unknown one
	UnknownReject = "reject" // refuse the whole plan
)

// Policy returns the policy that results from this section alone.
func (s Section) Policy() Policy {
	level := s.Automation
	if level == AutomationEarned {
		level = ""
	}
	return Policy{
		AllowClose: valueOf(s.AllowClose), Actions: s.Actions, AgentMay: s.AgentMay, Limits: s.Limits,
		Labels: valueOf(s.Labels), CreateLabels: valueOf(s.CreateLabels), RejectUnknown: s.UnknownAction == UnknownReject,
		CommentLength: valueOf(s.CommentLength), Mentions: s.Mentions, Links: s.Links,
		CommentInterval: asLimit(s.CommentInterval), MaxComments: asLimit(s.MaxComments), MaxWrites: asLimit(s.MaxWrites),
		ShadowPeriod: valueOf(s.ShadowPeriod), MaxScanned: asLimit(s.MaxScanned),
		JudgeAfter: valueOf(s.JudgeAfter), JudgeReads: valueOf(s.JudgeReads),
		Earned: s.Automation == AutomationEarned, Earn: s.Earn.earn(),
		Automation: level, Approve: s.Approve, Suggestions: s.Suggestions, SuggestionTTL: valueOf(s.SuggestionTTL),
	}
}

// valueOf returns the value of a pointer, or the zero value for nil.
func valueOf[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}

// asLimit converts a limit of a section to a limit of a [Policy]. In a section 0 means no limit; in
// a Policy a negative number does, and 0 means the default.
func asLimit[N int | time.Duration](n *N) N {
	switch {
	case n == nil:
		return 0
	case *n == 0:
		return -1
	}
	return *n
}

// A Loosening is a value that is ignored, because it would permit more than the other policy of
// [Tighten] does.
type Loosening struct {
	// Field is the name of the field, as in the tags of [Section]. For an entry of a mapping it has
	// both keys, such as "limits.comment". Other examples: "allow_close", "labels.allow",
	// "agent_may".
	Field string
	// Counts is the value that is used instead. It is empty for a list, where only the items that
	// both lists permit are used.
	Counts string
	// Item is the entry of the list that would permit more, and Index its position.
	Item  string
	Index int
}

// Tighten merges the policy mine with the policy theirs, such as an organisation's, which mine must
// not loosen. If both contain a value, the stricter one is used; if one does not, the other's value
// is used. The Loosenings are the values of mine that are ignored, in a fixed order.
func Tighten(theirs, mine Section) (Policy, []Loosening) {
	var t tightening
	s := Section{
		AllowClose:      pair[bool]{"allow_close", theirs.AllowClose, mine.AllowClose}.stricter(&t, forbids),
		CreateLabels:    pair[bool]{"create_labels", theirs.CreateLabels, mine.CreateLabels}.stricter(&t, forbids),
		CommentLength:   pair[int]{"comment_length", theirs.CommentLength, mine.CommentLength}.stricter(&t, fewer),
		CommentInterval: pair[time.Duration]{"comment_interval", theirs.CommentInterval, mine.CommentInterval}.stricter(&t, longer),
		MaxComments:     pair[int]{"max_comments_per_issue", theirs.MaxComments, mine.MaxComments}.stricter(&t, fewer),
		MaxWrites:       pair[int]{"max_writes_per_hour", theirs.MaxWrites, mine.MaxWrites}.stricter(&t, fewer),
		MaxScanned:      pair[int]{"max_scanned_issues", theirs.MaxScanned, mine.MaxScanned}.stricter(&t, fewer),
		Limits:          t.limits(theirs.Limits, mine.Limits),
		Actions:         t.list("actions", theirs.Actions, mine.Actions, coversGlob),
		Mentions:        t.list("mentions", theirs.Mentions, mine.Mentions, coversGlob),
		Links:           t.list("links", theirs.Links, mine.Links, coversHost),
		UnknownAction:   t.unknownAction(theirs.UnknownAction, mine.UnknownAction),
		Labels:          t.labels(valueOf(theirs.Labels), valueOf(mine.Labels)),
		AgentMay:        t.list("agent_may", theirs.AgentMay, mine.AgentMay, coversGlob),
		Automation:      t.automation(theirs.Automation, mine.Automation),
		Earn:            t.earn(theirs, mine),
		Approve:         union(mine.Approve, theirs.Approve),

		// None of these has a stricter value.
		JudgeAfter:    cmp.Or(mine.JudgeAfter, theirs.JudgeAfter),
		JudgeReads:    cmp.Or(mine.JudgeReads, theirs.JudgeReads),
		ShadowPeriod:  cmp.Or(mine.ShadowPeriod, theirs.ShadowPeriod),
		Suggestions:   cmp.Or(mine.Suggestions, theirs.Suggestions),
		SuggestionTTL: cmp.Or(mine.SuggestionTTL, theirs.SuggestionTTL),
	}
	p := s.Policy()
	p.Earned = earned(theirs) || earned(mine)
	return p, t.found
}

// A tightening collects the ignored values.
type tightening struct{ found []Loosening }

// A pair is one field of both policies.
type pair[T any] struct {
	field        string
	theirs, mine *T
}

// stricter returns the stricter value, and records mine as a Loosening if it is not the stricter
// one.
func (p pair[T]) stricter(t *tightening, tighter func(a, b T) bool) *T {
	switch {
	case p.mine == nil:
		return p.theirs
	case p.theirs == nil || !tighter(*p.theirs, *p.mine):
		return p.mine
	}
	t.found = append(t.found, Loosening{Field: p.field, Counts: fmt.Sprint(*p.theirs)})
	return p.theirs
}

// forbids reports whether the switch a is stricter than b: a forbids what b permits.
func forbids(a, b bool) bool { return !a && b }

// longer reports whether the interval a is stricter than b; 0 means no limit.
func longer(a, b time.Duration) bool { return a > b }

// fewer reports whether the maximum a is stricter than b; 0 means no limit.
func fewer(a, b int) bool {
	if b == 0 {
		b = math.MaxInt
	}
	return a != 0 && a < b
}

func (t *tightening) limits(theirs, mine map[string]int) map[string]int {
	if theirs == nil {
		return mine
	}
	out := maps.Clone(theirs)
	for _, name := range slices.Sorted(maps.Keys(mine)) {
		n, ok := theirs[name]
		if ok && n < mine[name] {
			t.found = append(t.found, Loosening{Field: "limits." + name, Counts: fmt.Sprint(n)})
			continue
		}
		out[name] = mine[name]
	}
	return out
}

func (t *tightening) unknownAction(theirs, mine string) string {
	switch {
	case mine == "":
		return theirs
	case theirs != UnknownReject:
		return mine
	}
	if mine == UnknownStop {
		t.found = append(t.found, Loosening{Field: "unknown_action", Counts: theirs})
	}
	return theirs
}

// automation returns the stricter level. Absent means AutomationFull, which is the loosest one. If one of
// the policies demands that actions are earned, the result is the level of the other one.
func (t *tightening) automation(theirs, mine Automation) Automation {
	switch {
	case mine == AutomationEarned && theirs == AutomationEarned:
		return ""
	case mine == AutomationEarned:
		return theirs
	case theirs == AutomationEarned:
		if mine == AutomationFull { // the loosest level: it asks for less than theirs
			t.found = append(t.found, Loosening{Field: "automation", Counts: string(theirs)})
		}
		return mine
	case mine == "":
		return theirs
	case theirs == "" || !theirs.tighter(mine):
		return mine
	}
	t.found = append(t.found, Loosening{Field: "automation", Counts: string(theirs)})
	return theirs
}

// union returns the elements of a, and those of b that a does not have.
func union(a, b []string) []string {
	for _, e := range b {
		if !slices.Contains(a, e) {
			a = append(slices.Clip(a), e)
		}
	}
	return a
}

func (t *tightening) labels(theirs, mine Labels) *Labels {
	out := Labels{Allow: t.list("labels.allow", theirs.Allow, mine.Allow, text.MatchLabel), Deny: union(mine.Deny, theirs.Deny)}
	if mine.Allow != nil && theirs.Allow != nil {
		// The intersection of two lists of globs cannot be written as one list, so both are kept.
		out.Allow, out.Within = mine.Allow, theirs.Allow
	}
	return &out
}

// list returns the elements of each list that the other list covers. A nil list is absent: the
// result is the other one. If two globs only overlap, such as "a*" and "*b", neither is covered.
func (t *tightening) list(field string, theirs, mine []string, covers covering) []string {
	switch {
	case theirs == nil:
		return mine
	case mine == nil:
		return theirs
	}
	out := []string{}
	for i, m := range mine {
		if covered(theirs, m, covers) {
			out = append(out, m)
			continue
		}
		t.found = append(t.found, Loosening{Field: field, Item: m, Index: i})
	}
	for _, g := range theirs {
		if covered(mine, g, covers) && !slices.Contains(out, g) {
			out = append(out, g)
		}
	}
	return out
}

// A covering reports whether a glob certainly matches every name that the glob other matches. It may
// return false for a glob that does. [text.MatchLabel] is one: a "*" in its pattern also matches a
// "*" in other.
type covering func(glob, other string) bool

// covered reports whether one of globs covers other.
func covered(globs []string, other string, covers covering) bool {
	return slices.ContainsFunc(globs, func(g string) bool { return covers(g, other) })
}

// coversGlob is a covering of globs as [Match] reads them.
func coversGlob(glob, other string) bool {
	if text.Fold(glob) == text.Fold(other) {
		return true
	}
	// other is matched as if it were a name: a "*" in glob also matches "*" and "?" in other.
	// Classes, escapes and a "?" in glob would give wrong results.
	return !strings.ContainsAny(glob, text.Wildcards) && !strings.ContainsAny(other, `[\`) && matchGlob(glob, other)
}

// coversHost is a covering of globs for hosts.
func coversHost(glob, other string) bool { return coversGlob(hostGlob(glob), hostGlob(other)) }
