package hosttest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/runner/internal/outcome"
	"github.com/org/foreman-action/triage"
)

func writePromises() []promise {
	list := []promise{
		{"comments are posted and replaced", issues, small, postComment},
		{"several labels are removed by one write, or by none", issues, small, removeSeveral},
		{"a comment is hidden", issues, small, hideComment},
		{"reactions to a comment", search, small, reactToComment},
		{"who can be assigned", issues, small, acceptedAssignees},
		{"reviews are requested", repository, small, requestReviews},
		{"absent comments are not found", issues, small, absentComments},
		{"refusals", issues, small, refusals},
		{"effects of the memory are errors", issues, small, memoryEffects},
		{"nothing to write", issues, small, nothingToWrite},
	}
	for _, s := range steps() {
		list = append(list, promise{"write " + s.name, issues, small, s.verify})
	}
	return list
}

// A step is a list of effects on issue 7, with the state and the newest event after the last one.
type step struct {
	name  string
	do    []effect.Effect
	want  func(*triage.Issue)  // sets the fields that the effects change
	event triage.TimelineEvent // Kind and what it names
}

func steps() []step {
	labels := func(want ...string) func(*triage.Issue) {
		return func(i *triage.Issue) { i.Labels = want }
	}
	return []step{
		{"labels", []effect.Effect{effect.AddLabels{Names: []string{"bug"}}}, labels("bug"), triage.TimelineEvent{Kind: "labeled", Label: "bug"}},
		{"a label in the repository's spelling", []effect.Effect{effect.AddLabels{Names: []string{"kind/FEATURE"}}}, labels("Kind/Feature"), triage.TimelineEvent{Kind: "labeled", Label: "Kind/Feature"}},
		{"a label with unusual characters", []effect.Effect{effect.AddLabels{Names: []string{"what? 100%"}}}, labels("what? 100%"), triage.TimelineEvent{Kind: "labeled", Label: "what? 100%"}},
		{"a label less", []effect.Effect{effect.AddLabels{Names: []string{"bug", "Kind/Feature"}}, effect.RemoveLabels{Names: []string{"BUG"}}}, labels("Kind/Feature"), triage.TimelineEvent{Kind: "unlabeled", Label: "bug"}},
		{"close", []effect.Effect{effect.Close{}}, closedAs("completed"), triage.TimelineEvent{Kind: "closed", Reason: "completed"}},
		{"close as not planned", []effect.Effect{effect.Close{Reason: "not_planned"}}, closedAs("not_planned"), triage.TimelineEvent{Kind: "closed", Reason: "not_planned"}},
		{"close for another reason", []effect.Effect{effect.Close{Reason: "not_planned"}, effect.Close{Reason: "completed"}}, closedAs("completed"), triage.TimelineEvent{Kind: "closed", Reason: "completed"}},
		{"close as a duplicate", []effect.Effect{effect.MarkDuplicate{Of: 11}}, closedAs("duplicate"), triage.TimelineEvent{Kind: "closed", Reason: "duplicate"}},
		{"reopen", []effect.Effect{effect.Close{}, effect.Reopen{}}, func(i *triage.Issue) { i.State, i.ClosedAt = "open", time.Time{} }, triage.TimelineEvent{Kind: "reopened"}},
		{"an assignee", []effect.Effect{effect.Assign{Logins: []string{"bob"}}}, func(i *triage.Issue) { i.Assignees = []string{"bob"} }, triage.TimelineEvent{Kind: "assigned", Assignee: "bob"}},
		{"an assignee less", []effect.Effect{effect.Assign{Logins: []string{"alice", "bob"}}, effect.Unassign{Logins: []string{"ALICE"}}}, func(i *triage.Issue) { i.Assignees = []string{"bob"} }, triage.TimelineEvent{Kind: "unassigned", Assignee: "alice"}},
		{"a milestone", []effect.Effect{effect.SetMilestone{Title: "v2"}}, func(i *triage.Issue) { i.Milestone = "V2" }, triage.TimelineEvent{Kind: "milestoned", Milestone: "V2"}},
		{"no milestone", []effect.Effect{effect.SetMilestone{Title: "v1"}, effect.SetMilestone{}}, func(i *triage.Issue) { i.Milestone = "" }, triage.TimelineEvent{Kind: "demilestoned", Milestone: "v1"}},
		{"a type", []effect.Effect{effect.SetType{Name: "bug"}}, func(i *triage.Issue) { i.Type = "Bug" }, triage.TimelineEvent{Kind: "issue_type_added", IssueType: "Bug"}},
		{"a lock", []effect.Effect{effect.Lock{Reason: "spam"}}, func(i *triage.Issue) { i.Locked = true }, triage.TimelineEvent{Kind: "locked", Reason: "spam"}},
		{"a lock without a reason", []effect.Effect{effect.Lock{}}, func(i *triage.Issue) { i.Locked = true }, triage.TimelineEvent{Kind: "locked"}},
		{"no lock", []effect.Effect{effect.Lock{}, effect.Unlock{}}, func(i *triage.Issue) { i.Locked = false }, triage.TimelineEvent{Kind: "unlocked"}},
		{"a reaction", []effect.Effect{effect.React{Content: "-1"}}, func(i *triage.Issue) { i.Reactions.ThumbsDown = 3 }, triage.TimelineEvent{}},
	}
}

func closedAs(reason string) func(*triage.Issue) {
	return func(i *triage.Issue) {
		i.State, i.StateReason = "closed", reason
		if i.ClosedAt.IsZero() {
			i.ClosedAt = time.Now() // any time will do
		}
	}
}

// writing returns the name of a call of Write.
func writing(e effect.Effect) string { return fmt.Sprintf("Write %s %+v", effect.TypeOf(e), e) }

// verify carries the effects out, and repeats the last one, which changes nothing.
func (s step) verify(c *check) {
	before, err := c.Issues.Timeline(c.Context(), at(7))
	if !c.ok("Timeline", err) {
		return
	}
	for _, e := range s.do {
		if _, err := c.Issues.Write(c.Context(), at(7), e); !c.ok(writing(e), err) {
			return
		}
	}
	first, err := c.Issues.Timeline(c.Context(), at(7))
	last := s.do[len(s.do)-1]
	if !s.holds(c, "after "+writing(last)) || !c.ok("Timeline", err) {
		return
	}
	if _, err := c.Issues.Write(c.Context(), at(7), last); !c.ok(writing(last)+" again", err) {
		return
	}
	again, err := c.Issues.Timeline(c.Context(), at(7))
	s.holds(c, "after "+writing(last)+" again")
	if c.ok("Timeline", err) && len(again.Events) != len(first.Events) {
		c.errorf("after %s again: got %d more events, want none", writing(last), len(again.Events)-len(first.Events))
	}
	if s.event.Kind == "" || len(first.Events) <= len(before.Events) {
		if s.event.Kind != "" {
			c.errorf("Timeline: %s left no event", writing(last))
		}
		return
	}
	got := first.Events[len(first.Events)-1]
	want := s.event
	want.ID, want.At, want.Actor, want.ActorType, want.Intends = got.ID, got.At, got.Actor, got.ActorType, got.Intends
	if got != want || !strings.EqualFold(got.Actor, c.Login) || got.At.IsZero() {
		c.errorf("Timeline: got the event %+v, want %+v of %s", got, want, c.Login)
	}
}

// holds reports the fields of issue 7 that differ from those that the step wants.
func (s step) holds(c *check, when string) bool {
	got := c.issue(7)
	want := got
	s.want(&want)
	return c.same(when, got, want)
}

func postComment(c *check) {
	const body = "<!-- x -->\nhello <b> & \u2028 ✓"
	w, err := c.Issues.Write(c.Context(), at(7), effect.Comment{Body: body})
	if !c.ok("Write of a comment", err) {
		return
	}
	made := w.Comment
	if made.ID == 0 || made.Body != body || !strings.EqualFold(made.Author, c.Login) || made.URL == "" || made.CreatedAt.IsZero() {
		c.errorf("Write of a comment: got %+v, want its id, text, page and time, and the author %s", made, c.Login)
	}
	w, err = c.Issues.Write(c.Context(), at(7), effect.Comment{Body: "second text", ID: made.ID})
	if c.ok("Write of a comment with its ID", err) && (w.Comment.ID != made.ID || w.Comment.Body != "second text") {
		c.errorf("Write of a comment with its ID: got %+v", w.Comment)
	}
	if got, want := bodies(c.comments(7)), []string{"first", "second", "third", "second text"}; !slices.Equal(got, want) {
		c.errorf("Comments: got %q, want %q", got, want)
	}
	t, err := c.Issues.Timeline(c.Context(), at(7))
	if !c.ok("Timeline", err) {
		return
	}
	if n := len(t.Events); n == 0 || t.Events[n-1].Kind != "commented" || t.Events[n-1].Body != "second text" || t.Events[n-1].ID != made.ID {
		c.errorf("Timeline: got %+v, want the comment at its end", t.Events)
	}
}

func removeSeveral(c *check) {
	if _, err := c.Issues.Write(c.Context(), at(7), effect.AddLabels{Names: []string{"bug", "Kind/Feature", "what? 100%"}}); !c.ok("Write of labels", err) {
		return
	}
	i := c.issue(7)
	e := effect.RemoveLabels{Names: []string{"bug", "Kind/Feature"}, Issue: i.NodeID}
	for _, name := range e.Names {
		for _, l := range i.LabelIDs {
			if l.Name == name {
				e.IDs = append(e.IDs, l.ID)
			}
		}
	}
	_, err := c.Issues.Write(c.Context(), at(7), e)
	left := c.issue(7).Labels
	if err == nil && !slices.Equal(left, []string{"what? 100%"}) {
		c.errorf("Write that removes two of three labels: got %q", left)
	}
	if err != nil && len(left) != 3 {
		c.errorf("Write that removes two of three labels: got the error %v, and the labels %q; want no change with an error", err, left)
	}
	for _, listed := range []error{triage.ErrGone, triage.ErrNotFound, triage.ErrTruncated, triage.ErrLimited, triage.ErrUncertain} {
		if errors.Is(err, listed) {
			c.errorf("Write that removes two of three labels: got the error %v, want one that does not match %q", err, listed)
		}
	}
}

func hideComment(c *check) {
	list := c.comments(7)
	if len(list) == 0 {
		return
	}
	_, err := c.Issues.Write(c.Context(), at(7), effect.HideComment{ID: "absent"})
	c.wantError("Write that hides an absent comment", err, triage.ErrNotFound, triage.ErrGone)
	for range 2 {
		if _, err := c.Issues.Write(c.Context(), at(7), effect.HideComment{ID: list[0].NodeID}); !c.ok("Write that hides a comment", err) {
			return
		}
	}
	for k, one := range c.comments(7) {
		if one.Hidden != (k == 0) {
			c.errorf("Comments: comment %d has Hidden %t", k, one.Hidden)
		}
	}
}

func reactToComment(c *check) {
	list := c.comments(7)
	if len(list) == 0 {
		return
	}
	for range 2 {
		if _, err := c.Issues.Write(c.Context(), at(7), effect.React{Content: "eyes", Comment: list[1].ID}); !c.ok("Write of a reaction", err) {
			return
		}
	}
	for id, want := range map[int64]int{list[0].ID: 0, list[1].ID: 1, 0: 0} {
		got, err := c.Search.Reactions(c.Context(), at(7), id, "eyes")
		if c.ok("Reactions", err) && len(got) != want {
			c.errorf("Reactions to comment %d: got %d, want %d", id, len(got), want)
		}
	}
}

func acceptedAssignees(c *check) {
	w, err := c.Issues.Write(c.Context(), at(7), effect.Assign{Logins: []string{"Bob", "absent-account", "alice"}})
	if !c.ok("Write of assignees", err) {
		return
	}
	if got := outcome.NamesOf(w.Accepted); len(got) != 2 || !got.Has("bob") || !got.Has("alice") {
		c.errorf("Write of assignees: it accepts %q, want bob and alice", w.Accepted)
	}
	if got := outcome.NamesOf(c.issue(7).Assignees); len(got) != 2 || !got.Has("bob") || !got.Has("alice") {
		c.errorf("Issue: got the assignees %q, want bob and alice", c.issue(7).Assignees)
	}
}

func requestReviews(c *check) {
	for range 2 {
		if _, err := c.Issues.Write(c.Context(), at(8), effect.RequestReview{Users: []string{"bob"}, Teams: []string{"docs"}}); !c.ok("Write of a request", err) {
			return
		}
	}
	_, err := c.Issues.Write(c.Context(), at(8), effect.RequestReview{Users: []string{"alice", "absent-account"}})
	c.wantRefused("Write of a request to an absent account", err)
	p, err := c.Repository.Pull(c.Context(), at(8))
	if c.ok("Pull", err) && (!slices.Equal(p.RequestedReviewers, []string{"bob"}) || !slices.Equal(p.RequestedTeams, []string{"docs"})) {
		c.errorf("Pull: it waits for reviews of %q and the teams %q, want bob and docs", p.RequestedReviewers, p.RequestedTeams)
	}
	t, err := c.Issues.Timeline(c.Context(), at(8))
	if !c.ok("Timeline", err) {
		return
	}
	var got []string
	for _, e := range t.Events {
		if e.Kind == "review_requested" {
			got = append(got, e.Reviewer)
		}
	}
	if want := []string{"bob", effect.TeamName("docs")}; !slices.Equal(got, want) {
		c.errorf("Timeline: got requests to %q, want %q", got, want)
	}
}

func absentComments(c *check) {
	each(c, []effect.Effect{effect.Comment{Body: "x", ID: 987654321}, effect.React{Content: "+1", Comment: 987654321}}, func(e effect.Effect) {
		_, err := c.Issues.Write(c.Context(), at(7), e)
		c.wantError(writing(e), err, triage.ErrNotFound, triage.ErrGone, triage.ErrUncertain)
	})
}

// wantRefused reports an error that is no RefusedError.
func (c *check) wantRefused(call string, err error) {
	if errors.Is(err, errors.ErrUnsupported) {
		c.skip = err.Error()
		return
	}
	if _, ok := errors.AsType[*triage.RefusedError](err); !ok || errors.Is(err, triage.ErrUncertain) {
		c.errorf("%s: got the error %v, want a RefusedError", call, err)
	}
}

func refusals(c *check) {
	before := c.issue(7)
	each(c, []effect.Effect{
		effect.SetMilestone{Title: "absent"}, effect.SetType{Name: "absent"}, effect.MarkDuplicate{Of: 99}, effect.MarkDuplicate{Of: 8},
	}, func(e effect.Effect) {
		_, err := c.Issues.Write(c.Context(), at(7), e)
		c.wantRefused(writing(e), err)
	})
	c.unchanged("refused writes", before)
}

// unchanged reports a change of issue 7 after some calls.
func (c *check) unchanged(after string, before triage.Issue) {
	got := c.issue(7)
	before.UpdatedAt = got.UpdatedAt
	c.same("after "+after+", which must change nothing", got, before)
}

func memoryEffects(c *check) {
	before := c.issue(7)
	for _, e := range []effect.Effect{effect.NeverAgain{Labels: []string{"bug"}}, effect.AllowAgain{Label: "bug"}, effect.KeepOpen{Rule: "r"}} {
		if _, err := c.Issues.Write(c.Context(), at(7), e); err == nil || errors.Is(err, triage.ErrUncertain) {
			c.errorf("%s: got the error %v, want one that does not match ErrUncertain", writing(e), err)
		}
	}
	c.unchanged("effects of the memory", before)
}

func nothingToWrite(c *check) {
	before := c.issue(7)
	each(c, []effect.Effect{
		effect.AddLabels{}, effect.RemoveLabels{}, effect.Assign{}, effect.Unassign{}, effect.RemoveLabels{Names: []string{"bug"}},
		effect.Unassign{Logins: []string{"bob"}}, effect.Reopen{}, effect.Unlock{}, effect.SetMilestone{},
	}, func(e effect.Effect) {
		_, err := c.Issues.Write(c.Context(), at(7), e)
		c.ok(writing(e), err)
	})
	c.unchanged("writes of what holds already", before)
}

func guardPromises() []promise {
	return []promise{
		{"the gate is passed before each write", issues, small, gatePassed},
		{"a gate stops each write", issues, small, gateStops},
		{"reads do not pass the gate", issues, small, gateIgnored},
		{"a context that has ended stops writes", issues, small, endedWrites},
		{"a lost answer is uncertain, and the write not repeated", issues, func() Repo {
			r := small()
			r.LoseAnswers = true
			return r
		}, lostAnswer},
	}
}

// A change is an effect that changes issue 7 after another one, which may be nil.
type change struct{ after, do effect.Effect }

// changes returns an effect of each kind. Those on comments need the first comment of issue 7.
func (c *check) changes() []change {
	list := []change{
		{nil, effect.AddLabels{Names: []string{"bug"}}}, {effect.AddLabels{Names: []string{"Kind/Feature"}}, effect.RemoveLabels{Names: []string{"Kind/Feature"}}},
		{nil, effect.Comment{Body: "x"}}, {nil, effect.Close{Reason: "not_planned"}}, {effect.Close{}, effect.Reopen{}}, {nil, effect.MarkDuplicate{Of: 11}},
		{nil, effect.Assign{Logins: []string{"bob"}}}, {effect.Assign{Logins: []string{"alice"}}, effect.Unassign{Logins: []string{"alice"}}},
		{nil, effect.SetMilestone{Title: "v1"}}, {effect.SetMilestone{Title: "V2"}, effect.SetMilestone{}}, {nil, effect.SetType{Name: "Bug"}},
		{nil, effect.React{Content: "eyes"}},
	}
	if comments := c.comments(7); len(comments) > 0 {
		first := comments[0]
		list = append(list, change{nil, effect.Comment{Body: "x", ID: first.ID}}, change{nil, effect.React{Content: "eyes", Comment: first.ID}}, change{nil, effect.HideComment{ID: first.NodeID}})
	}
	return append(list, change{nil, effect.Lock{}}, change{effect.Lock{}, effect.Unlock{}})
}

// eachChange calls do with each effect that changes issue 7 and that the host supports.
func (c *check) eachChange(do func(effect.Effect)) {
	each(c, c.changes(), func(one change) {
		if one.after != nil {
			if _, err := c.Issues.Write(c.Context(), at(7), one.after); !c.ok(writing(one.after), err) {
				return
			}
		}
		do(one.do)
	})
}

func gatePassed(c *check) {
	c.eachChange(func(e effect.Effect) {
		passed := 0
		ctx := effect.WithGate(c.Context(), func(context.Context) error { passed++; return nil })
		_, err := c.Issues.Write(ctx, at(7), e)
		if c.ok(writing(e), err) && passed == 0 {
			c.errorf("%s: it does not call effect.PassGate", writing(e))
		}
	})
}

func gateStops(c *check) {
	errShut := errors.New("the gate is shut")
	ctx := effect.WithGate(c.Context(), func(context.Context) error { return errShut })
	c.stops("with a gate that is shut", func(call string, e effect.Effect) {
		_, err := c.Issues.Write(ctx, at(7), e)
		c.wantError(call, err, triage.ErrHalted, triage.ErrUncertain)
		c.wantError(call, err, errShut)
	})
}

// stops reports writes that change issue 7 or its comments although they fail.
func (c *check) stops(when string, write func(call string, e effect.Effect)) {
	c.eachChange(func(e effect.Effect) {
		call, before := writing(e)+" "+when, c.issue(7)
		comments, err := c.Issues.Comments(c.Context(), at(7), time.Time{}, nil)
		write(call, e)
		c.unchanged(call, before)
		if err != nil { // a host without comments
			return
		}
		if got := c.comments(7); !reflect.DeepEqual(got, comments) {
			c.errorf("Comments after %s: got %+v, want no change: %+v", call, got, comments)
		}
	})
}

func gateIgnored(c *check) {
	ctx := effect.WithGate(c.Context(), func(context.Context) error { return errors.New("the gate is shut") })
	_, err := c.Issues.Issue(ctx, at(7))
	c.ok("Issue with a gate that is shut", err)
	_, err = c.Issues.Comments(ctx, at(7), time.Time{}, nil)
	c.ok("Comments with a gate that is shut", err)
	_, err = c.Issues.Timeline(ctx, at(7))
	c.ok("Timeline with a gate that is shut", err)
}

func endedWrites(c *check) {
	ctx, cancel := context.WithCancel(c.Context())
	cancel()
	c.stops("with a context that has ended", func(call string, e effect.Effect) {
		_, err := c.Issues.Write(ctx, at(7), e)
		c.wantError(call, err, context.Canceled, triage.ErrUncertain)
	})
}

func lostAnswer(c *check) {
	_, err := c.Issues.Write(c.Context(), at(7), effect.Comment{Body: "once"})
	c.wantError("Write whose answer is lost", err, triage.ErrUncertain, triage.ErrHalted)
	n := 0
	for _, body := range bodies(c.comments(7)) {
		if body == "once" {
			n++
		}
	}
	if n != 1 {
		c.errorf("Write whose answer is lost: the comment was posted %d times, want once", n)
	}
}
