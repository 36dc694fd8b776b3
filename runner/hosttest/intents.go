package hosttest

import (
	"fmt"
	"slices"

	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/triage"
)

func intentPromises() []promise {
	return []promise{
		{"zero intents are none", issues, small, zeroIntents},
		{"intents change nothing else", issues, small, writeIntents},
		{"intents are shown", issues, showing, writeIntents},
		{"proposals are held", issues, showing, holdProposals},
	}
}

// showing returns the repository of small on a host that shows intents.
func showing() Repo {
	r := small()
	r.Intents = true
	return r
}

// intends reports whether events of a kind can have an intent.
func intends(kind string) bool {
	return slices.Contains([]string{
		"labeled", "unlabeled", "assigned", "unassigned", "closed", "reopened", "issue_type_added", "issue_type_changed", "issue_type_removed",
	}, kind)
}

// intended returns the effects that can have an intent, with this one.
func intended(in effect.Intent) []effect.Effect {
	return []effect.Effect{
		effect.AddLabels{Names: []string{"bug"}, Intents: []effect.Intent{in}},
		effect.Assign{Logins: []string{"bob"}, Intents: []effect.Intent{in}},
		effect.SetType{Name: "Bug", Intent: in},
	}
}

// has reports whether an issue has all names of an effect of [intended].
func has(i triage.Issue, e effect.Effect) bool {
	list := append(append([]string{i.Type}, i.Labels...), i.Assignees...)
	for _, name := range effect.Values(e) {
		if !slices.Contains(list, name) {
			return false
		}
	}
	return true
}

// events returns the events of issue 7. It reports those with an intent that cannot have one, and
// events of which only some show that the host has intents.
func (c *check) events() []triage.TimelineEvent {
	t, err := c.Issues.Timeline(c.Context(), at(7))
	c.ok("Timeline", err)
	shown := map[string]bool{}
	for _, e := range t.Events {
		before, seen := shown[e.Kind]
		switch shown[e.Kind] = e.Intends; {
		case e.Intended && !e.Intends:
			c.errorf("Timeline: the event %+v is Intended, want it to be one that Intends", e)
		case e.Intends && !intends(e.Kind):
			c.errorf("Timeline: the event %+v Intends, which its kind cannot", e)
		case seen && e.Intends != before:
			c.errorf("Timeline: some events of the kind %s are ones that Intends, and others are not", e.Kind)
		}
	}
	return t.Events
}

// shows adds a label to issue 7, and reports whether its event shows that the host has intents.
func (c *check) shows() (shows, ok bool) {
	e := effect.AddLabels{Names: []string{"Kind/Feature"}}
	if _, err := c.Issues.Write(c.Context(), at(7), e); !c.ok(writing(e), err) {
		return false, false
	}
	list := c.events()
	if len(list) == 0 {
		c.errorf("Timeline: %s left no event", writing(e))
		return false, false
	}
	last := list[len(list)-1]
	if last.Intended {
		c.errorf("Timeline: the event %+v is Intended, and it was written without an intent", last)
	}
	return last.Intends, true
}

func zeroIntents(c *check) {
	each(c, intended(effect.Intent{}), func(e effect.Effect) {
		w, err := c.Issues.Write(c.Context(), at(7), e)
		if !c.ok(writing(e), err) {
			return
		}
		if len(w.Held)+len(w.Overtaken) > 0 || !has(c.issue(7), e) {
			c.errorf("%s: want it written as without the intent, got %+v", writing(e), w)
		}
		if list := c.events(); len(list) == 0 || list[len(list)-1].Intended {
			c.errorf("Timeline: the newest event of %+v is Intended, and it was written without an intent", list)
		}
	})
}

func writeIntents(c *check) {
	shows, ok := c.shows()
	if !ok {
		return
	}
	each(c, intended(effect.Intent{Rationale: "rule r: always", Confidence: protocol.ConfidenceHigh}), func(e effect.Effect) {
		w, err := c.Issues.Write(c.Context(), at(7), e)
		if !c.ok(writing(e), err) {
			return
		}
		list := c.events()
		switch held := len(w.Held) > 0; {
		case held && !shows:
			c.errorf("%s: got %+v, and no event shows that the host has intents", writing(e), w)
		case held == has(c.issue(7), e):
			c.errorf("%s: got %+v, and the issue %+v; want it to have what is not held", writing(e), w, c.issue(7))
		case !held && list[len(list)-1].Intended != shows:
			c.errorf("Timeline: got the event %+v after %s, want Intended %t", list[len(list)-1], writing(e), shows)
		}
	})
}

func holdProposals(c *check) {
	shows, ok := c.shows()
	if ok && !shows {
		c.skip = "the host shows no intents"
	}
	if !ok || !shows {
		return
	}
	both := effect.AddLabels{Names: []string{"Kind/Feature", "what? 100%"}, Intents: []effect.Intent{{Suggest: true}, {Suggest: true}}}
	want := map[string]string{}
	list := append(intended(effect.Intent{Rationale: "rule r: always", Suggest: true}), both)
	for _, e := range list {
		want[writing(e)] = fmt.Sprint(effect.Values(e))
	}
	want[writing(both)] = "[what? 100%]" // the issue has the other one
	each(c, list, func(e effect.Effect) {
		before, events := c.issue(7), len(c.events())
		w, err := c.Issues.Write(c.Context(), at(7), e)
		if !c.ok(writing(e), err) {
			return
		}
		if got := fmt.Sprint(w.Held); got != want[writing(e)] {
			c.errorf("%s: it holds %s, want %s", writing(e), got, want[writing(e)])
		}
		c.unchanged("the proposal "+writing(e), before)
		if more := len(c.events()) - events; more > 0 {
			c.errorf("Timeline: got %d events of the proposal %s, want none", more, writing(e))
		}
	})
}
