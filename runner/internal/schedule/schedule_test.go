package schedule_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner/internal/history"
	"github.com/org/foreman-action/runner/internal/schedule"
	"github.com/org/foreman-action/triage"
)

func TestMerge(t *testing.T) {
	t.Parallel()
	issue := func(n int, labels ...string) triage.Issue { return triage.Issue{Number: n, Labels: labels} }
	searches := schedule.Searches([]string{"one", "two", "none", "is:open -label:a", "is:open label:a"})
	list := schedule.Merge(nil, searches[0], []triage.Issue{issue(3), issue(1)})
	list = schedule.Merge(list, searches[1], []triage.Issue{issue(2), issue(3)})
	list = schedule.Merge(list, searches[2], nil)
	list = schedule.Merge(list, searches[3], []triage.Issue{issue(4, "b", "A"), issue(1), issue(5)})
	want := []schedule.Candidate{
		{Issue: issue(3), Scans: []string{"one", "two"}},
		{Issue: issue(1), Scans: []string{"one", "is:open -label:a"}},
		{Issue: issue(2), Scans: []string{"two"}},
		{Issue: issue(4, "b", "A"), Scans: []string{"is:open label:a"}},
		{Issue: issue(5), Scans: []string{"is:open -label:a"}},
	}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestSearches checks that scans which together find all issues are combined into one search, and
// that each scan still gets only its own issues.
func TestSearches(t *testing.T) {
	t.Parallel()
	bug := triage.Issue{Number: 1, Labels: []string{"Needs Info", "bug"}}
	plain := triage.Issue{Number: 2, Labels: []string{"docs"}}
	tests := []struct {
		name     string
		scans    []string
		searches []string
		bug      []string // the scans that find the issue bug, if every search returns it
		plain    []string
	}{
		{"none", nil, nil, nil, nil},
		{"one", []string{"is:open label:bug"}, []string{"is:open label:bug"}, []string{"is:open label:bug"}, []string{"is:open label:bug"}},
		{
			"with a label and without", []string{"is:open -label:bug", "is:open label:bug"}, []string{"is:open"},
			[]string{"is:open label:bug"}, []string{"is:open -label:bug"},
		},
		{
			"a phrase is no label", []string{`is:open "label:bug"`, "is:open -label:bug"}, []string{`is:open "label:bug"`, "is:open -label:bug"},
			[]string{`is:open "label:bug"`, "is:open -label:bug"}, []string{`is:open "label:bug"`, "is:open -label:bug"},
		},
		{
			"in other words", []string{`label:"needs info" is:open`, `is:Open   -label:"NEEDS INFO"`}, []string{"is:open"},
			[]string{`label:"needs info" is:open`}, []string{`is:Open   -label:"NEEDS INFO"`},
		},
		{
			"a third one within them", []string{"label:stale is:pr", "-label:stale is:pr", "is:pr -label:stale label:bug", "is:issue label:bug"},
			[]string{"is:pr", "is:issue label:bug"},
			[]string{"-label:stale is:pr", "is:pr -label:stale label:bug", "is:issue label:bug"}, []string{"-label:stale is:pr", "is:issue label:bug"},
		},
		{
			"a label in common", []string{"label:docs -label:x", "label:docs label:x"}, []string{"label:docs"},
			[]string{"label:docs -label:x"}, []string{"label:docs -label:x"},
		},
		{
			"two labels", []string{"label:a label:b", "-label:a -label:b"}, []string{"label:a label:b", "-label:a -label:b"},
			[]string{"label:a label:b", "-label:a -label:b"}, []string{"label:a label:b", "-label:a -label:b"},
		},
		{
			"another kind", []string{"is:issue label:a", "is:pr -label:a"}, []string{"is:issue label:a", "is:pr -label:a"},
			[]string{"is:issue label:a", "is:pr -label:a"}, []string{"is:issue label:a", "is:pr -label:a"},
		},
		{
			"alternatives", []string{"label:a OR is:open", "-label:a OR is:open"}, []string{"label:a OR is:open", "-label:a OR is:open"},
			[]string{"label:a OR is:open", "-label:a OR is:open"}, []string{"label:a OR is:open", "-label:a OR is:open"},
		},
		{
			"one of two labels", []string{"label:a,b", "-label:a,b"}, []string{"label:a,b", "-label:a,b"},
			[]string{"label:a,b", "-label:a,b"}, []string{"label:a,b", "-label:a,b"},
		},
	}
	for _, tt := range tests {
		searches := schedule.Searches(tt.scans)
		var queries []string
		var list []schedule.Candidate
		for _, s := range searches {
			queries = append(queries, s.Query)
			list = schedule.Merge(list, s, []triage.Issue{bug, plain})
		}
		if diff := cmp.Diff(tt.searches, queries); diff != "" {
			t.Errorf("%s: searches (-want +got):\n%s", tt.name, diff)
		}
		for _, one := range []struct {
			issue triage.Issue
			want  []string
		}{{bug, tt.bug}, {plain, tt.plain}} {
			var got []string
			for _, c := range list {
				if c.Issue.Number == one.issue.Number {
					got = c.Scans
				}
			}
			if diff := cmp.Diff(one.want, got); diff != "" {
				t.Errorf("%s: scans of #%d (-want +got):\n%s", tt.name, one.issue.Number, diff)
			}
		}
	}
}

// TestAfter checks how a search continues after a cursor.
func TestAfter(t *testing.T) {
	t.Parallel()
	c := memory.Cursor{Issue: 7, Created: time.Date(2026, 4, 10, 23, 30, 0, 0, time.UTC)}
	for query, want := range map[string]string{
		"is:open":                        "is:open created:>=2026-04-10",
		"is:open created:<2026-01-01":    "is:open created:<2026-01-01",
		"is:open -Created:>2026-01-01 x": "is:open -Created:>2026-01-01 x",
	} {
		if got := (schedule.Search{Query: query}).After(c); got != want {
			t.Errorf("%s: got %q, want %q", query, got, want)
		}
	}
}

// TestWithout checks which labels are excluded from a search.
func TestWithout(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		scans  []string
		exempt map[string][]string
		want   []string
	}{
		{"one", []string{"is:open"}, map[string][]string{"is:open": {"Pinned", "in progress"}}, []string{`is:open -label:"Pinned" -label:"in progress"`}},
		{"excluded already", []string{"is:open -label:pinned"}, map[string][]string{"is:open -label:pinned": {"Pinned"}}, []string{"is:open -label:pinned"}},
		{"not the whole name", []string{"is:open"}, map[string][]string{"is:open": {"a,b", `a"b`, `a\b`, "é", "c"}}, []string{`is:open -label:"c"`}},
		{"alternatives", []string{"is:open OR is:closed"}, map[string][]string{"is:open OR is:closed": {"a"}}, []string{"is:open OR is:closed"}},
		{"long", []string{"is:open"}, map[string][]string{"is:open": {strings.Repeat("x", 200), "c"}}, []string{`is:open -label:"c"`}},
		{
			"one search for two scans", []string{"is:open label:stale", "is:open -label:stale"},
			map[string][]string{"is:open label:stale": {"a", "b"}, "is:open -label:stale": {"B", "c"}}, []string{`is:open -label:"b"`},
		},
	}
	for _, tt := range tests {
		var queries []string
		for _, s := range schedule.Searches(tt.scans) {
			s.Without(func(query string) []string { return tt.exempt[query] })
			queries = append(queries, s.Query)
			if found := schedule.Merge(nil, s, []triage.Issue{{Number: 1}}); len(found) != 1 && len(tt.scans) == 1 {
				t.Errorf("%s: the scan does not find an issue of its search", tt.name)
			}
		}
		if diff := cmp.Diff(tt.want, queries); diff != "" {
			t.Errorf("%s: searches (-want +got):\n%s", tt.name, diff)
		}
	}
}

// TestListed checks that a list of the open issues replaces searches for kinds and labels, and no
// others.
func TestListed(t *testing.T) {
	t.Parallel()
	list := []triage.Issue{
		{Number: 3, Labels: []string{"Needs Info"}},
		{Number: 1, Labels: []string{"bug", "docs"}},
		{Number: 4, PullRequest: true, Labels: []string{"bug"}},
		{Number: 2, PullRequest: true},
	}
	tests := []struct {
		query string
		want  string // the numbers of the issues; empty: the list cannot replace the search
	}{
		{"is:open", "[3 1]"},
		{"is:Open is:issue", "[3 1]"},
		{"state:open type:issue label:BUG", "[1]"},
		{"label:bug is:open -label:docs", "[]"},
		{`is:open -label:"needs info"`, "[1]"},
		{"is:open is:pr", "[4 2]"},
		{"is:pull-request is:open label:bug", "[4]"},
		{"type:pr -label:bug is:open", "[2]"},
		{"is:issue", ""},
		{"is:closed", ""},
		{"-is:open", ""},
		{"is:open is:issue is:pr", ""},
		{`"is:open"`, ""},
		{`is:open "label:bug"`, ""},
		{"is:open label:bug,docs", ""},
		{"is:open label:b*", ""},
		{"is:open crash", ""},
		{"is:open no:assignee", ""},
		{"is:open updated:<2026-01-01", ""},
		{"is:open OR label:bug", ""},
		{"is:open (is:pr)", ""},
		{"is:open -is:pr", ""},
		{`is:open label:"bug`, ""},
		{"", ""},
	}
	for _, tt := range tests {
		s := schedule.Searches([]string{tt.query})[0]
		got := ""
		if s.Listed() {
			numbers := []int{}
			for _, i := range s.Among(list) {
				numbers = append(numbers, i.Number)
			}
			got = fmt.Sprint(numbers)
		}
		if got != tt.want {
			t.Errorf("%q: got %s, want %s", tt.query, got, tt.want)
		}
	}
}

func TestStale(t *testing.T) {
	t.Parallel()
	found := schedule.Candidate{Issue: triage.Issue{State: "open", Title: "t", Labels: []string{"Bug", "docs"}}}
	tests := []struct {
		name string
		now  triage.Issue
		want string
	}{
		{"the same", triage.Issue{State: "open", Labels: []string{"Bug", "docs"}}, ""},
		{"another order, case and title", triage.Issue{State: "open", Title: "u", Labels: []string{"docs", "bug"}}, ""},
		{"closed", triage.Issue{State: "closed", Labels: []string{"Bug", "docs"}}, "it is closed by now"},
		{"a label less", triage.Issue{State: "open", Labels: []string{"Bug"}}, "it has other labels by now"},
		{"a label more", triage.Issue{State: "open", Labels: []string{"Bug", "docs", "x"}}, "it has other labels by now"},
		{"another label", triage.Issue{State: "open", Labels: []string{"Bug", "x"}}, "it has other labels by now"},
	}
	for _, tt := range tests {
		if got := found.Stale(tt.now); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

var noon = time.Date(2026, 4, 10, 12, 0, 0, 0, time.UTC)

func rulesOf(list []memory.ScheduledClose) string {
	var ids []string
	for _, c := range list {
		ids = append(ids, c.Rule)
	}
	return strings.Join(ids, " ")
}

func TestDue(t *testing.T) {
	t.Parallel()
	r := memory.Record{Closings: []memory.ScheduledClose{
		{Rule: "past", Due: noon.Add(-time.Hour)}, {Rule: "now", Due: noon}, {Rule: "vetoed", Due: noon, Vetoed: true},
		{Rule: "soon", Due: noon.Add(1)}, {Rule: "", Due: noon.Add(-time.Hour)},
	}}
	before := slices.Clone(r.Closings)
	open, due := schedule.Due(r, noon)
	if rulesOf(open) != "past now soon " || rulesOf(due) != "past now " {
		t.Errorf("got open %q, due %q", rulesOf(open), rulesOf(due))
	}
	if !cmp.Equal(before, r.Closings) {
		t.Errorf("the record was changed: %v", r.Closings)
	}
	schedule.Forget(&r, due)
	if rulesOf(r.Closings) != "vetoed soon" {
		t.Errorf("got %q left", rulesOf(r.Closings))
	}
}

func TestClose(t *testing.T) {
	t.Parallel()
	for _, reason := range []string{"", "not_planned"} {
		d, err := schedule.Close("task", "rules", triage.Source{Rule: "r"}, memory.ScheduledClose{At: noon, Reason: reason})
		if err != nil {
			t.Fatal(err)
		}
		got, ok, _ := d.Message.Actions[0].Text("reason")
		if got != reason || ok != (reason != "") || len(d.Message.Actions) != 1 || d.Message.Actions[0].Type != protocol.ActionCloseIssue {
			t.Errorf("got %v", d.Message.Actions)
		}
		if d.Message.TaskID != "task" || d.Message.Decision != protocol.Close || d.By != "rules" || d.Source(0).Rule != "r" ||
			d.Message.Rationale != "the close was scheduled on 2026-04-10 and not vetoed" {
			t.Errorf("got %+v", d)
		}
	}
}

// event returns an event of a timeline that happened the given number of minutes before noon.
func event(id int64, before int, actor, kind, body string) triage.TimelineEvent {
	return triage.TimelineEvent{ID: id, At: noon.Add(-time.Duration(before) * time.Minute), Actor: actor, ActorType: "User", Kind: kind, Body: body}
}

func historyOf(complete bool, events ...triage.TimelineEvent) history.History {
	return history.History{Timeline: triage.Timeline{Events: events, Complete: complete}, Bot: "hubot[bot]"}
}

func TestClosedUnrecorded(t *testing.T) {
	t.Parallel()
	due := []memory.ScheduledClose{{Rule: "r", Due: noon.Add(-30 * time.Minute)}, {Rule: "s", Due: noon.Add(-2 * time.Hour)}}
	recorded := func(minute int, typ string, result triage.State) memory.Record {
		return memory.Record{Tasks: []memory.Task{{At: noon.Add(-time.Duration(minute) * time.Minute), Actions: []memory.Action{{Type: typ, Result: result, Values: []string{"x"}}}}}}
	}
	ours := event(1, 20, "hubot[bot]", "closed", "")
	tests := []struct {
		name   string
		events []triage.TimelineEvent
		record memory.Record
		want   string // id of the rule; "-": none
	}{
		{"ours", []triage.TimelineEvent{ours}, memory.Record{}, "r"},
		{"before the first was due", []triage.TimelineEvent{event(1, 60, "hubot[bot]", "closed", "")}, memory.Record{}, "s"},
		{"before any was due", []triage.TimelineEvent{event(1, 180, "hubot[bot]", "closed", "")}, memory.Record{}, "-"},
		{"a person's", []triage.TimelineEvent{event(1, 20, "mona", "closed", "")}, memory.Record{}, "-"},
		{"ours, then a person's", []triage.TimelineEvent{ours, event(2, 10, "mona", "closed", "")}, memory.Record{}, "-"},
		{"never closed", nil, memory.Record{}, "-"},
		{"recorded", []triage.TimelineEvent{ours}, recorded(20, "close_issue", triage.Done), "-"},
		{"recorded as a duplicate", []triage.TimelineEvent{ours}, recorded(35, "mark_duplicate", triage.Done), "-"},
		{"another close long before", []triage.TimelineEvent{ours}, recorded(36, "close_issue", triage.Done), "r"},
		{"a close that failed", []triage.TimelineEvent{ours}, recorded(20, "close_issue", triage.Failed), "r"},
		{"a label", []triage.TimelineEvent{ours}, recorded(20, "add_label", triage.Done), "r"},
	}
	for _, tt := range tests {
		c, at, ok := schedule.ClosedUnrecorded(historyOf(true, tt.events...), tt.record, due)
		if ok != (tt.want != "-") || ok && (c.Rule != tt.want || !at.Equal(tt.events[0].At)) {
			t.Errorf("%s: got %q, %v, want %q", tt.name, c.Rule, ok, tt.want)
		}
	}
}

// TestVetoed checks for vetoes against a close that task t decided half an hour before noon.
// Reactions are written as "comment: login minutes", with "!" for an error.
func TestVetoed(t *testing.T) {
	t.Parallel()
	comment := func(id int64, before int, task string) triage.TimelineEvent {
		return event(id, before, "hubot[bot]", "commented", "x\n\n"+history.Marker{Task: task}.String())
	}
	edited := comment(5, 60, "other")
	edited.Edited = noon.Add(-10 * time.Minute)
	person := func(login string, before int) []triage.Reaction {
		return []triage.Reaction{{Actor: login, ActorType: "User", At: noon.Add(-time.Duration(before) * time.Minute)}}
	}
	program := []triage.Reaction{{Actor: "other", ActorType: "Bot", At: noon}}
	broken := errors.New("broken")
	tests := []struct {
		name      string
		veto      string
		complete  bool
		events    []triage.TimelineEvent
		reactions map[int64][]triage.Reaction
		errs      map[int64]error
		want      string // a part of the reason; empty: no veto
		err       bool
		asked     string // ids of the comments whose reactions were read
	}{
		{"nothing", "comment reopen thumbs_down", true, nil, nil, nil, "", false, "0"},
		{"no veto", "", true, []triage.TimelineEvent{event(1, 10, "mona", "commented", "no!")}, nil, nil, "", false, ""},
		{"comment", "comment", true, []triage.TimelineEvent{event(1, 10, "mona", "commented", "no!")}, nil, nil, "mona commented on 2026-04-10", false, ""},
		{"comment before", "comment", true, []triage.TimelineEvent{event(1, 40, "mona", "commented", "no!")}, nil, nil, "", false, ""},
		{"only a question", "comment", true, []triage.TimelineEvent{event(1, 10, "mona", "commented", "/foreman why")}, nil, nil, "", false, ""},
		{"comment of a program", "comment", true, []triage.TimelineEvent{event(1, 10, "x[bot]", "commented", "no!")}, nil, nil, "", false, ""},
		{"reopened", "comment reopen", true, []triage.TimelineEvent{event(1, 10, "mona", "reopened", "")}, nil, nil, "mona reopened it", false, ""},
		{"reopened, and comments count alone", "comment", true, []triage.TimelineEvent{event(1, 10, "mona", "reopened", "")}, nil, nil, "", false, ""},
		{"too long to decide", "comment", false, []triage.TimelineEvent{event(1, 30, "mona", "labeled", "")}, nil, nil, "too long to decide", false, ""},
		{"long, and long enough", "comment", false, []triage.TimelineEvent{event(1, 31, "mona", "labeled", "")}, nil, nil, "", false, ""},
		{"no end", "comment", false, nil, nil, nil, "too long to decide", false, ""},
		{"thumbs down", "thumbs_down", true, nil, map[int64][]triage.Reaction{0: person("mona", 10)}, nil, "mona reacted with -1 on 2026-04-10", false, "0"},
		{"thumbs down before", "thumbs_down", true, nil, map[int64][]triage.Reaction{0: person("mona", 40)}, nil, "", false, "0"},
		{"thumbs down in that second", "thumbs_down", true, nil, map[int64][]triage.Reaction{0: person("mona", 30)}, nil, "mona reacted", false, "0"},
		{"thumbs down of a program", "thumbs_down", true, nil, map[int64][]triage.Reaction{0: program}, nil, "", false, "0"},
		{"thumbs down of ours", "thumbs_down", true, nil, map[int64][]triage.Reaction{0: person("HuBot[bot]", 10)}, nil, "", false, "0"},
		{"thumbs down of a deleted account", "thumbs_down", true, nil, map[int64][]triage.Reaction{0: person("", 10)}, nil, "somebody reacted", false, "0"},
		{"on the notice, at any time", "thumbs_down", true, []triage.TimelineEvent{comment(4, 60, "t")}, map[int64][]triage.Reaction{4: person("mona", 50)}, nil, "mona reacted", false, "0 4"},
		{"on a later comment of ours", "thumbs_down", true, []triage.TimelineEvent{comment(4, 20, "other")}, map[int64][]triage.Reaction{4: person("mona", 10)}, nil, "mona reacted", false, "0 4"},
		{"on an older comment of ours", "thumbs_down", true, []triage.TimelineEvent{comment(4, 60, "other")}, map[int64][]triage.Reaction{4: person("mona", 10)}, nil, "", false, "0"},
		{"on one that was written anew", "thumbs_down", true, []triage.TimelineEvent{edited}, map[int64][]triage.Reaction{5: person("mona", 5)}, nil, "mona reacted", false, "0 5"},
		{"on one that was written anew, before", "thumbs_down", true, []triage.TimelineEvent{edited}, map[int64][]triage.Reaction{5: person("mona", 50)}, nil, "", false, "0 5"},
		{"on a person's comment", "thumbs_down", true, []triage.TimelineEvent{event(6, 10, "mona", "commented", "x")}, map[int64][]triage.Reaction{6: person("mona", 5)}, nil, "", false, "0"},
		{"too many", "thumbs_down", true, nil, nil, map[int64]error{0: triage.ErrTruncated}, "too many reactions", false, "0"},
		{"comment deleted", "thumbs_down", true, []triage.TimelineEvent{comment(4, 20, "t")}, nil, map[int64]error{4: triage.ErrNotFound}, "", false, "0 4"},
		{"issue not found", "thumbs_down", true, nil, nil, map[int64]error{0: triage.ErrNotFound}, "", true, "0"},
		{"broken", "thumbs_down comment", true, []triage.TimelineEvent{event(1, 10, "mona", "commented", "no!")}, nil, map[int64]error{0: broken}, "", true, "0"},
		{"unknown veto", "prayer", true, []triage.TimelineEvent{event(1, 10, "mona", "commented", "no!")}, nil, nil, "", false, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var asked []string
			c := memory.ScheduledClose{At: noon.Add(-30 * time.Minute), Task: "t", Veto: strings.Fields(tt.veto)}
			got, err := schedule.Vetoed(t.Context(), historyOf(tt.complete, tt.events...), c, func(_ context.Context, comment int64) ([]triage.Reaction, error) {
				asked = append(asked, fmt.Sprint(comment))
				return tt.reactions[comment], tt.errs[comment]
			})
			if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) || (err != nil) != tt.err {
				t.Errorf("got %q, %v, want %q", got, err, tt.want)
			}
			if list := strings.Join(asked, " "); list != tt.asked {
				t.Errorf("read the reactions to %q, want %q", list, tt.asked)
			}
		})
	}
}
