package config

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/policy"
)

// A tightener joins what a repository says to what the file that it extends says. Where
// both say something the stricter counts, and what would loosen gets a warning; where
// one says nothing, the other counts.
type tightener struct {
	ours map[string]place // of the repository's own sections
	by   string           // the file that is extended
}

// warn tells which value counts in place of the one at a place.
func (t tightener) warn(at place, name string, counts any) {
	at.f.Warnf(at.n, "%s: %v counts, as %s says; a file that extends it can only tighten it", name, counts, t.by)
}

func (t tightener) mode(theirs, mine *string) Mode {
	switch {
	case mine == nil && theirs == nil:
		return ""
	case mine == nil:
		return Mode(*theirs)
	case theirs != nil && *theirs == string(ModeShadow) && *mine != *theirs:
		t.warn(t.ours["mode"], "mode", *theirs)
		return ModeShadow
	}
	return Mode(*mine)
}

func (t tightener) policy(theirs, mine policySection) policy.Policy {
	off := func(a, b bool) bool { return !a && b }
	p := policySection{
		AllowClose:      tighter(t, "allow_close", [2]*bool{theirs.AllowClose, mine.AllowClose}, off),
		CreateLabels:    tighter(t, "create_labels", [2]*bool{theirs.CreateLabels, mine.CreateLabels}, off),
		CommentLength:   tighter(t, "comment_length", [2]*int{theirs.CommentLength, mine.CommentLength}, fewer),
		CommentInterval: tighter(t, "comment_interval", [2]*time.Duration{theirs.CommentInterval, mine.CommentInterval}, func(a, b time.Duration) bool { return a > b }),
		MaxComments:     tighter(t, "max_comments_per_issue", [2]*int{theirs.MaxComments, mine.MaxComments}, fewer),
		MaxWrites:       tighter(t, "max_writes_per_hour", [2]*int{theirs.MaxWrites, mine.MaxWrites}, fewer),
		MaxScanned:      tighter(t, "max_scanned_issues", [2]*int{theirs.MaxScanned, mine.MaxScanned}, fewer),
		UnknownAction:   mine.UnknownAction,
		Limits:          t.limits(theirs.Limits, mine.Limits),
		ShadowPeriod:    cmp.Or(mine.ShadowPeriod, theirs.ShadowPeriod),
	}
	at := t.ours["policy"]
	p.Actions = t.list("policy.actions", at.child("actions"), theirs.Actions, mine.Actions)
	p.Mentions = t.list("policy.mentions", at.child("mentions"), theirs.Mentions, mine.Mentions)
	p.Links = t.list("policy.links", at.child("links"), theirs.Links, mine.Links)
	if theirs.UnknownAction == "reject" && mine.UnknownAction == "stop" {
		t.warn(at.child("unknown_action"), "policy.unknown_action", theirs.UnknownAction)
	}
	if theirs.UnknownAction == "reject" || p.UnknownAction == "" {
		p.UnknownAction = theirs.UnknownAction
	}
	out := p.policy()
	out.Labels = t.labels(theirs.Labels, mine.Labels)
	return out
}

// fewer compares limits that 0 takes away.
func fewer(a, b int) bool {
	if b == 0 {
		b = math.MaxInt
	}
	return a != 0 && a < b
}

// tighter returns the stricter of a value of the file that is extended and one of the
// repository's own.
func tighter[T any](t tightener, key string, both [2]*T, stricter func(a, b T) bool) *T {
	theirs, mine := both[0], both[1]
	switch {
	case mine == nil:
		return theirs
	case theirs == nil || !stricter(*theirs, *mine):
		return mine
	}
	t.warn(t.ours["policy"].child(key), "policy."+key, *theirs)
	return theirs
}

func (t tightener) limits(theirs, mine map[string]int) map[string]int {
	if theirs == nil {
		return mine
	}
	out := maps.Clone(theirs)
	for _, name := range sortedKeys(mine) {
		n, ok := theirs[name]
		if ok && n < mine[name] {
			t.warn(t.ours["limits"].child(name), "limits."+name, n)
			continue
		}
		out[name] = mine[name]
	}
	return out
}

func (t tightener) labels(theirs, mine *labelSection) policy.Labels {
	var out policy.Labels
	if mine != nil {
		out.Allow, out.Deny = mine.Allow, mine.Deny
	}
	if theirs == nil {
		return out
	}
	for _, glob := range theirs.Deny {
		if !slices.Contains(out.Deny, glob) {
			out.Deny = append(slices.Clip(out.Deny), glob)
		}
	}
	if out.Allow == nil || theirs.Allow == nil {
		out.Allow = t.list("labels.allow", place{}, theirs.Allow, out.Allow)
		return out
	}
	// What two lists of globs both match is no list of globs.
	t.list("labels.allow", t.ours["labels"].child("allow"), theirs.Allow, out.Allow)
	out.Within = theirs.Allow
	return out
}

// list returns what two lists of names or globs have in common; nil is no list. at is
// the place of mine. Globs that only overlap have nothing in common.
func (t tightener) list(name string, at place, theirs, mine []string) []string {
	switch {
	case theirs == nil:
		return mine
	case mine == nil:
		return theirs
	}
	out := []string{}
	for i, m := range mine {
		if covered(theirs, m) {
			out = append(out, m)
			continue
		}
		n := at.n
		if i < len(n.Content) {
			n = n.Content[i]
		}
		at.f.Warnf(n, "%s: %q allows more than %s, and only what both allow counts", name, text.Quote(m), t.by)
	}
	for _, g := range theirs {
		if covered(mine, g) && !slices.Contains(out, g) {
			out = append(out, g)
		}
	}
	return out
}

// covered reports whether one of the globs surely matches all that another matches.
func covered(globs []string, other string) bool {
	return slices.ContainsFunc(globs, func(g string) bool {
		if text.Fold(g) == text.Fold(other) {
			return true
		}
		// Without classes and escapes the signs of one pattern match those of the other.
		return !strings.ContainsAny(g, `?[\`) && !strings.ContainsAny(other, `[\`) && policy.MatchGlob(g, other)
	})
}
