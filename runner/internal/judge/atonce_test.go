package judge_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/runner/internal/history"
	"github.com/org/foreman-action/runner/internal/judge"
	"github.com/org/foreman-action/triage"
)

// TestContradicts lets an event of an issue undo the label of the record, and checks which timelines confirm it.
func TestContradicts(t *testing.T) {
	t.Parallel()
	at := func(hour int) time.Time { return start.Add(time.Duration(hour) * time.Hour) }
	event := func(hour int, actor, kind, label string) triage.TimelineEvent {
		e := triage.TimelineEvent{At: at(hour), Actor: actor, ActorType: "User", Kind: kind, Label: label}
		if actor == bot {
			e.ActorType = "Bot"
		}
		return e
	}
	ours := event(10, bot, "labeled", "bug")
	tests := []struct {
		name     string
		event    triage.TimelineEvent
		timeline []triage.TimelineEvent
		member   bool // the author belongs to the repository
		want     string
	}{
		{"taken off", event(11, "mona", "unlabeled", "BUG"), []triage.TimelineEvent{ours, event(11, "mona", "unlabeled", "bug")}, false, "undone"},
		{"the timeline lacks the event", event(11, "mona", "unlabeled", "bug"), []triage.TimelineEvent{ours}, false, "undone"},
		{"put on again since", event(11, "mona", "unlabeled", "bug"), []triage.TimelineEvent{ours, event(11, "mona", "unlabeled", "bug"), event(12, "zoe", "labeled", "bug")}, false, "undone"},
		{"another label", event(11, "mona", "unlabeled", "docs"), nil, false, "no contradiction"},
		{"put on", event(11, "mona", "labeled", "bug"), nil, false, "no contradiction"},
		{"a program", event(11, "other[bot]", "unlabeled", "bug"), []triage.TimelineEvent{ours}, false, "nothing"},
		{"the author", event(11, "ann", "unlabeled", "bug"), []triage.TimelineEvent{ours}, false, "nothing"},
		{"an author who is a member", event(11, "ann", "unlabeled", "bug"), []triage.TimelineEvent{ours}, true, "undone"},
		{"the author, and then a person", event(13, "mona", "unlabeled", "bug"), []triage.TimelineEvent{ours, event(11, "ann", "unlabeled", "bug"), event(12, "mona", "labeled", "bug")}, false, "nothing"},
		{"before we added it", event(9, "mona", "unlabeled", "bug"), []triage.TimelineEvent{event(8, "zoe", "labeled", "bug"), event(9, "mona", "unlabeled", "bug"), ours}, false, "nothing"},
		{"no timeline", event(11, "mona", "unlabeled", "bug"), nil, false, "undone"},
	}
	for _, tt := range tests {
		r := memory.Record{Issue: 7}
		r.Put(labelled("task", at(10)))
		c, ok := judge.Contradicts(r, tt.event)
		got := "no contradiction"
		if ok {
			h := history.History{Bot: bot, Issue: triage.Issue{Number: 7, Author: "ann", Association: "NONE", Labels: []string{"bug"}}}
			if tt.member {
				h.Issue.Association = "MEMBER"
			}
			h.Events, h.Complete = tt.timeline, true
			got = "nothing"
			for _, f := range c.Undone(h, 14*24*time.Hour, at(20)) {
				got = string(f.Outcome)
				if f.Issue != 7 || f.Author != "ann" || f.Name != "crash" || !f.Acted.Equal(at(10)) || !f.At.Equal(at(20)) || f.Key.Value != "bug" {
					t.Errorf("%s: got %+v", tt.name, f)
				}
			}
		}
		if got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}

// TestDecided checks which outcomes people's answers and the command undo decide, and that the first action of a
// pair on an issue is the one that counts.
func TestDecided(t *testing.T) {
	t.Parallel()
	undo := func(hour int, action, value string) memory.Task {
		task := labelled(fmt.Sprint("undo", hour), start.Add(time.Duration(hour)*time.Hour))
		task.Actions[0].Type, task.Actions[0].Values, task.Actions[0].Rule, task.Actions[0].Pair = action, []string{value}, "/undo", ""
		return task
	}
	added := func(hour int) memory.Task {
		return labelled(fmt.Sprint("task", hour), start.Add(time.Duration(hour)*time.Hour))
	}
	type proposal struct {
		made, ended int
		state       memory.ProposalState
		by          string
	}
	tests := []struct {
		name     string
		tasks    []memory.Task
		proposed []proposal
		want     string
	}{
		{"applied", []memory.Task{added(1)}, nil, ""},
		{"undone", []memory.Task{added(1), undo(2, "remove_label", "bug")}, nil, "undone 1"},
		{"undone in the same second", []memory.Task{added(1), undo(1, "remove_label", "bug")}, nil, "undone 1"},
		{"another label undone", []memory.Task{added(1), undo(2, "remove_label", "docs")}, nil, ""},
		{"something undone before", []memory.Task{undo(1, "remove_label", "bug"), added(2)}, nil, ""},
		{"not by an undo", []memory.Task{added(1), undo(2, "add_label", "bug")}, nil, ""},
		{"accepted", nil, []proposal{{1, 2, memory.Accepted, "mona"}}, "accepted 2"},
		{"accepted by the author", nil, []proposal{{1, 2, memory.Accepted, "Ann"}}, ""},
		{"rejected by the author", nil, []proposal{{1, 2, memory.Rejected, "ann"}}, "rejected 2"},
		{"expired", nil, []proposal{{1, 2, memory.Expired, ""}}, ""},
		{"accepted and carried out", []memory.Task{added(2)}, []proposal{{1, 2, memory.Accepted, "mona"}}, "accepted 2"},
		{"accepted and undone", []memory.Task{added(2), undo(3, "remove_label", "bug")}, []proposal{{1, 2, memory.Accepted, "mona"}}, "undone 2"},
		{"rejected, and later accepted", nil, []proposal{{1, 2, memory.Rejected, "mona"}, {3, 4, memory.Accepted, "mona"}}, "rejected 2"},
		{"applied before it was proposed", []memory.Task{added(1)}, []proposal{{2, 3, memory.Accepted, "mona"}}, ""},
	}
	for _, tt := range tests {
		r := memory.Record{Issue: 7}
		for _, task := range tt.tasks {
			r.Put(task)
		}
		for i, p := range tt.proposed {
			propose(t, &r, memory.Proposal{
				ID: fmt.Sprint(i), At: start.Add(time.Duration(p.made) * time.Hour), Ended: start.Add(time.Duration(p.ended) * time.Hour), State: p.state, By: p.by,
			})
		}
		var got []string
		for _, f := range judge.Decided(r, triage.Issue{Number: 7, Author: "ann"}, start.AddDate(0, 0, 1)) {
			got = append(got, fmt.Sprintf("%s %.0f", f.Outcome, f.Acted.Sub(start).Hours()))
		}
		if slices.Sort(got); strings.Join(got, ", ") != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}
