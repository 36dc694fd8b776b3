package runner

import (
	"testing"
	"time"

	"github.com/org/foreman-action/triage"
)

// TestUnchanged compares events of a timeline with the issue in an event.
func TestUnchanged(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	event := func(kind string, set func(*triage.TimelineEvent)) triage.TimelineEvent {
		e := triage.TimelineEvent{Kind: kind, At: at, ID: 9, Actor: "ann"}
		if set != nil {
			set(&e)
		}
		return e
	}
	label := func(name string) func(*triage.TimelineEvent) {
		return func(e *triage.TimelineEvent) { e.Label = name }
	}
	assignee := func(name string) func(*triage.TimelineEvent) {
		return func(e *triage.TimelineEvent) { e.Assignee = name }
	}
	milestone := func(name string) func(*triage.TimelineEvent) {
		return func(e *triage.TimelineEvent) { e.Milestone = name }
	}
	kindOf := func(name string) func(*triage.TimelineEvent) {
		return func(e *triage.TimelineEvent) { e.IssueType = name }
	}
	comment := func(id int64) func(*triage.TimelineEvent) {
		return func(e *triage.TimelineEvent) { e.ID = id }
	}
	issue := triage.Issue{
		State: "open", Labels: []string{"Bug"}, Assignees: []string{"ann"}, Milestone: "v1", Type: "Bug", CreatedAt: at.Add(-time.Hour), UpdatedAt: at,
	}
	bare := triage.Issue{State: "closed", Locked: true, CreatedAt: at.Add(-time.Hour), UpdatedAt: at}
	tests := []struct {
		name  string
		issue triage.Issue
		event triage.TimelineEvent
		want  bool
	}{
		{"label that it has", issue, event("labeled", label("bug")), true},
		{"label that it lacks", issue, event("labeled", label("docs")), false},
		{"label removed", issue, event("unlabeled", label("docs")), true},
		{"label removed that it has", issue, event("unlabeled", label("BUG")), false},
		{"assigned", issue, event("assigned", assignee("Ann")), true},
		{"assigned to another", issue, event("assigned", assignee("bob")), false},
		{"unassigned", issue, event("unassigned", assignee("bob")), true},
		{"unassigned that it has", issue, event("unassigned", assignee("ann")), false},
		{"milestone", issue, event("milestoned", milestone("v1")), true},
		{"other milestone", issue, event("milestoned", milestone("v2")), false},
		{"milestone removed", issue, event("demilestoned", milestone("v0")), false},
		{"milestone removed, has none", bare, event("demilestoned", milestone("v0")), true},
		{"type", issue, event("issue_type_added", kindOf("bug")), true},
		{"other type", issue, event("issue_type_changed", kindOf("Task")), false},
		{"type removed", issue, event("issue_type_removed", kindOf("Bug")), false},
		{"type removed, has none", bare, event("issue_type_removed", kindOf("Bug")), true},
		{"closed", issue, event("closed", nil), false},
		{"closed, is closed", bare, event("closed", nil), true},
		{"reopened", issue, event("reopened", nil), true},
		{"reopened, is closed", bare, event("reopened", nil), false},
		{"locked", issue, event("locked", nil), false},
		{"locked, is locked", bare, event("locked", nil), true},
		{"unlocked", issue, event("unlocked", nil), true},
		{"unlocked, is locked", bare, event("unlocked", nil), false},
		{"the comment of the event", issue, event("commented", comment(5)), true},
		{"another comment", issue, event("commented", comment(6)), false},
		{"renamed", issue, event("renamed", nil), false},
		{"transferred", issue, event("transferred", nil), false},
		{"a kind of tomorrow", issue, event("teleported", nil), false},
		{"mentioned", issue, event("mentioned", nil), true},
		{"referenced", issue, event("cross-referenced", nil), true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := triage.Delivery{Event: triage.Event{Name: triage.EventIssueComment, Action: "created", Comment: triage.Comment{ID: 5}, At: at.Add(-time.Second)}, Issue: &tt.issue}
			first := triage.TimelineEvent{Kind: "closed", At: at.Add(-time.Minute)}
			for _, age := range []struct {
				at   time.Duration
				want bool
			}{{0, tt.want}, {time.Minute, tt.want}, {-time.Second, true}} {
				e := tt.event
				e.At = at.Add(age.at)
				if got := unchanged(d, triage.Timeline{Events: []triage.TimelineEvent{first, e}, Complete: true}); got != age.want {
					t.Errorf("%s after the event: got %t, want %t", age.at, got, age.want)
				}
			}
		})
	}
}

// TestUnchangedCut checks that a timeline without its oldest events proves something only if it reaches back to
// the event.
func TestUnchangedCut(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	d := triage.Delivery{Event: triage.Event{Name: triage.EventIssues, Action: "edited", At: at}, Issue: &triage.Issue{State: "open", UpdatedAt: at}}
	for _, tt := range []struct {
		oldest time.Duration
		want   bool
	}{{-time.Second, true}, {0, false}, {time.Second, false}} {
		e := triage.TimelineEvent{Kind: "mentioned", At: at.Add(tt.oldest)}
		if got := unchanged(d, triage.Timeline{Events: []triage.TimelineEvent{e}}); got != tt.want {
			t.Errorf("oldest event %s after the event: got %t, want %t", tt.oldest, got, tt.want)
		}
	}
	if unchanged(d, triage.Timeline{}) {
		t.Error("a timeline without events that is not complete proves nothing")
	}
}

// TestUntouched changes one field of an issue that was just opened.
func TestUntouched(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	was := triage.Issue{State: "open", Labels: []string{"form"}, Assignees: []string{"ann"}, CreatedAt: at, UpdatedAt: at}
	tests := []struct {
		name string
		now  func(*triage.Issue)
		want bool
	}{
		{"nothing", func(*triage.Issue) {}, true},
		{"time", func(i *triage.Issue) { i.UpdatedAt = at.Add(time.Second) }, false},
		{"no times", func(i *triage.Issue) { i.CreatedAt, i.UpdatedAt = time.Time{}, time.Time{} }, false},
		{"comments", func(i *triage.Issue) { i.Comments = 1 }, false},
		{"state", func(i *triage.Issue) { i.State = "closed" }, false},
		{"lock", func(i *triage.Issue) { i.Locked = true }, false},
		{"milestone", func(i *triage.Issue) { i.Milestone = "v1" }, false},
		{"type", func(i *triage.Issue) { i.Type = "Bug" }, false},
		{"labels", func(i *triage.Issue) { i.Labels = nil }, false},
		{"assignees", func(i *triage.Issue) { i.Assignees = []string{"bob"} }, false},
	}
	for _, tt := range tests {
		now := was
		tt.now(&now)
		if got := untouched(was, now); got != tt.want {
			t.Errorf("%s: got %t, want %t", tt.name, got, tt.want)
		}
	}
	later := was
	later.UpdatedAt = at.Add(time.Minute)
	if untouched(later, later) {
		t.Error("the event came after a change")
	}
}
