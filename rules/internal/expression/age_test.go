package expression

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/rules/internal/symbols"
	"github.com/org/foreman-action/triage"
)

// A timelineOnly lookup returns a timeline, and counts the requests for it.
type timelineOnly struct {
	facts.Known
	asked *int
}

func (p timelineOnly) Timeline(context.Context) (facts.Timeline, error) {
	*p.asked++
	return p.History, nil
}

// TestAges checks that ages are compared by the issue's own times where these decide, and otherwise
// by the timeline. The issue was opened 30 days ago and last changed 10 days ago. 20 days ago a
// person was active and the label bug was added.
func TestAges(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 4, 30, 12, 0, 0, 0, time.UTC)
	ago := func(days int) time.Time { return now.AddDate(0, 0, -days) }
	known := facts.Known{History: facts.Timeline{Changes: []facts.Change{
		{Kind: "labeled", Label: "bug", Login: "mona", Human: true, At: ago(20)}, {Kind: "commented", Login: "robot[bot]", At: ago(10)},
	}}}
	tests := []struct {
		src   string
		want  bool
		asked int // requests for the timeline with ByTimes; without ByTimes it is always requested
	}{
		{`idle() > duration("5d")`, true, 0},
		{`idle() >= duration("10d")`, true, 0},
		{`idle() < duration("10d")`, false, 0},
		{`idle() <= duration("9d")`, false, 0},
		{`idle() > duration("30d")`, false, 0},
		{`idle() >= duration("31d")`, false, 0},
		{`idle() < duration("31d")`, true, 0},
		{`idle() <= duration("30d")`, true, 0},
		{`duration("5d") < idle()`, true, 0},
		{`duration("31d") <= idle()`, false, 0},
		{`not (duration("10d") > idle()) and duration("30d") >= idle()`, true, 0},
		{`idle() > duration("15d")`, true, 1},
		{`idle() > duration("10d")`, true, 1},
		{`idle() > duration("25d")`, false, 1},
		{`idle() <= duration("25d")`, true, 1},
		{`duration("25d") > idle()`, true, 1},
		{`idle() == duration("480h")`, true, 1},
		{`label_age("BUG") > duration("5d")`, true, 0},
		{`duration("31d") < label_age("bug")`, false, 0},
		{`label_age("bug") > duration("15d")`, true, 1},
		{`label_age("bug") < duration("15d")`, false, 1},
		{`label_age("none") > duration("1h")`, false, 0},
		{`label_age("none") < duration("1h")`, true, 0},
		{`idle() <= label_age("bug")`, true, 2},
		{`idle() > duration("5d") ? label_age("bug") < duration("40d") : false`, true, 0},
		{`any(issue.labels, idle() > duration(# == "bug" ? "5d" : "6d"))`, true, 0},
	}
	for _, tt := range tests {
		t.Run(tt.src, func(t *testing.T) {
			t.Parallel()
			x, err := NewCompiler(symbols.New()).compile(tt.src, Bool)
			if err != nil {
				t.Fatal(err)
			}
			for _, byTimes := range []bool{true, false} {
				asked := 0
				v := NewEvaluation(t.Context(), facts.Facts{
					Now: now, Lookup: timelineOnly{known, &asked}, ByTimes: byTimes,
					Issue: triage.Issue{Labels: []string{"bug"}, CreatedAt: ago(30), UpdatedAt: ago(10)},
				})
				got, err := eval(&v.machine, x, v.env)
				if err != nil || got != tt.want || byTimes && asked != tt.asked {
					t.Errorf("by times %t: got %v, %v, asked %d times, want %t, %d times", byTimes, got, err, asked, tt.want, tt.asked)
				}
			}
		})
	}
}

// TestAgesUnknown checks that the timeline is requested where the issue's times are missing or
// inconsistent, and that the comparison fails if the timeline is not available.
func TestAgesUnknown(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 4, 30, 12, 0, 0, 0, time.UTC)
	x, err := NewCompiler(symbols.New()).compile(`idle() > duration("5d") or label_age("a") > duration("5d")`, Bool)
	if err != nil {
		t.Fatal(err)
	}
	for _, issue := range []triage.Issue{{}, {UpdatedAt: now.AddDate(0, -1, 0)}, {CreatedAt: now, UpdatedAt: now.AddDate(0, -1, 0)}} {
		asked := 0
		v := NewEvaluation(t.Context(), facts.Facts{Now: now, Lookup: timelineOnly{asked: &asked}, ByTimes: true, Issue: issue})
		if _, err := eval(&v.machine, x, v.env); err != nil || asked == 0 {
			t.Errorf("%+v: asked %d times, %v", issue, asked, err)
		}
	}
	v := NewEvaluation(t.Context(), facts.Facts{Now: now, ByTimes: true})
	if _, err := eval(&v.machine, x, v.env); err == nil || !strings.Contains(err.Error(), ErrNoLookup.Error()) {
		t.Errorf("no lookup: got %v", err)
	}
}

// TestIdleOfOldCommits checks that idle() counts from the opening of a pull request whose commits
// are older.
func TestIdleOfOldCommits(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 4, 30, 12, 0, 0, 0, time.UTC)
	known := facts.Known{History: facts.Timeline{Changes: []facts.Change{{Kind: "committed", Human: true, At: now.AddDate(-1, 0, 0)}}}}
	for _, src := range []string{
		`idle() == duration("24h")`, `idle("bots") == duration("24h")`, `last_human().login == "mona"`, `not (idle() > duration("2d"))`,
	} {
		x, err := NewCompiler(symbols.New()).compile(src, Bool)
		if err != nil {
			t.Fatal(err)
		}
		v := NewEvaluation(t.Context(), facts.Facts{
			Now: now, Lookup: known, Issue: triage.Issue{PullRequest: true, Author: "mona", CreatedAt: now.AddDate(0, 0, -1), UpdatedAt: now},
		})
		if got, err := eval(&v.machine, x, v.env); err != nil || got != true {
			t.Errorf("%s: got %v, %v", src, got, err)
		}
	}
}

// TestIdleOfComments checks that idle("comments") counts only people's comments, on the timeline and
// in the event, and that it is the age of an issue without one.
func TestIdleOfComments(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 4, 30, 12, 0, 0, 0, time.UTC)
	comment := facts.Change{Kind: "commented", Human: true, At: now.AddDate(0, 0, -5)}
	others := []facts.Change{{Kind: "labeled", Human: true, At: now.AddDate(0, 0, -2)}, {Kind: "commented", At: now.AddDate(0, 0, -1)}}
	tests := []struct {
		name  string
		past  []facts.Change
		event triage.Event
		actor string
		want  int // days
	}{
		{"a comment, then other changes", append([]facts.Change{comment}, others...), triage.Event{Name: "schedule"}, "", 5},
		{"no comment", others, triage.Event{Name: "schedule"}, "", 9},
		{"the event is a comment", others, triage.Event{Name: "issue_comment", Action: "created"}, "User", 0},
		{"the event is a program's comment", others, triage.Event{Name: "issue_comment", Action: "created"}, "Bot", 9},
		{"the event edits a comment", []facts.Change{comment}, triage.Event{Name: "issue_comment", Action: "edited"}, "User", 5},
		{"the event is no comment", []facts.Change{comment}, triage.Event{Name: "issues", Action: "labeled"}, "User", 5},
	}
	for _, tt := range tests {
		x, err := NewCompiler(symbols.New()).compile(fmt.Sprintf(`idle("comments") == duration("%dd")`, tt.want), Bool)
		if err != nil {
			t.Fatal(err)
		}
		v := NewEvaluation(t.Context(), facts.Facts{
			Now: now, Event: tt.event, Actor: triage.Actor{Login: "ann", Type: tt.actor}, Lookup: facts.Known{History: facts.Timeline{Changes: tt.past}},
			Issue: triage.Issue{Author: "mona", CreatedAt: now.AddDate(0, 0, -9), UpdatedAt: now},
		})
		if got, err := eval(&v.machine, x, v.env); err != nil || got != true {
			t.Errorf("%s: got %v, %v", tt.name, got, err)
		}
	}
}
