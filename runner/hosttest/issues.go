package hosttest

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/triage"
)

func issuePromises() []promise {
	return []promise{
		{"an issue with its JSON", issues, small, issueJSON},
		{"absent issues are gone", issues, small, absentIssues},
		{"a context that has ended stops reads", issues, small, endedReads},
		{"comments oldest first", issues, small, commentsInOrder},
		{"comments since a time", issues, small, commentsSince},
		{"comments until one", issues, long(250), commentsUntil},
		{"too many comments", issues, long(2300), commentsTruncated},
		{"one comment", issues, small, oneComment},
		{"a timeline of 500 events", issues, long(500), timelineWhole},
		{"a timeline of 730 events", issues, long(730), timelineParts},
		{"a timeline of 2,300 events", issues, long(2300), timelineBound},
		{"concurrent use", issues, small, concurrent},
	}
}

func issueJSON(c *check) {
	s, err := c.Issues.Issue(c.Context(), at(7))
	if !c.ok("Issue 7", err) {
		return
	}
	want := s.Issue
	want.Number, want.Title, want.Body, want.Author, want.CreatedAt = 7, "It crashes", "at <start>\r\n\u2028", "alice", start
	want.State, want.PullRequest = "open", false
	c.same("Issue 7", s.Issue, want)
	if len(s.Raw) > 0 {
		parsed, err := triage.ParseIssue(s.Raw)
		if c.ok("Issue 7: ParseIssue of its Raw", err) && c.same("Issue 7, parsed from its Raw", parsed.Issue, s.Issue) && !reflect.DeepEqual(parsed.Issue, s.Issue) {
			c.errorf("Issue 7: want its fields in the form of ParseIssue; a list is nil instead of empty, or the other way round, or a time has another zone")
		}
	}
	got := c.issue(8)
	want = got
	want.Number, want.PullRequest = 8, true
	c.same("Issue 8", got, want)
}

func absentIssues(c *check) {
	calls := []func(triage.Ref) (string, error){
		func(ref triage.Ref) (string, error) {
			_, err := c.Issues.Issue(c.Context(), ref)
			return "Issue", err
		},
		func(ref triage.Ref) (string, error) {
			_, err := c.Issues.Comments(c.Context(), ref, time.Time{}, nil)
			return "Comments", err
		},
		func(ref triage.Ref) (string, error) {
			_, err := c.Issues.Timeline(c.Context(), ref)
			return "Timeline", err
		},
	}
	for _, e := range []effect.Effect{effect.AddLabels{Names: []string{"bug"}}, effect.Comment{Body: "x"}, effect.Close{}, effect.Lock{}} {
		calls = append(calls, func(ref triage.Ref) (string, error) {
			_, err := c.Issues.Write(c.Context(), ref, e)
			return writing(e), err
		})
	}
	each(c, calls, func(call func(triage.Ref) (string, error)) {
		for _, ref := range []triage.Ref{at(99), {Owner: owner, Repo: "absent", Number: 7}} {
			name, err := call(ref)
			c.wantError(name+" of "+ref.String(), err, triage.ErrGone, triage.ErrUncertain)
		}
	})
}

func endedReads(c *check) {
	ctx, cancel := context.WithCancel(c.Context())
	cancel()
	_, err := c.Issues.Issue(ctx, at(7))
	c.wantError("Issue", err, context.Canceled)
	_, err = c.Issues.Comments(ctx, at(7), time.Time{}, nil)
	c.wantError("Comments", err, context.Canceled)
	_, err = c.Issues.Timeline(ctx, at(7))
	c.wantError("Timeline", err, context.Canceled)
}

// bodies returns the texts of comments.
func bodies(list []triage.Comment) []string {
	var out []string
	for _, c := range list {
		out = append(out, c.Body)
	}
	return out
}

func (c *check) comments(number int) []triage.Comment {
	list, err := c.Issues.Comments(c.Context(), at(number), time.Time{}, nil)
	c.ok("Comments", err)
	return list
}

func commentsInOrder(c *check) {
	list := c.comments(7)
	if got, want := bodies(list), []string{"first", "second", "third"}; !slices.Equal(got, want) {
		c.errorf("Comments: got %q, want %q", got, want)
	}
	for _, one := range list {
		if one.ID == 0 || one.Author == "" || one.CreatedAt.IsZero() || one.Hidden {
			c.errorf("Comments: got %+v, want the id, the author and the time of a visible comment", one)
		}
	}
}

func commentsSince(c *check) {
	all := c.comments(7)
	if len(all) == 0 {
		return
	}
	last := all[len(all)-1]
	got, err := c.Issues.Comments(c.Context(), at(7), last.CreatedAt, nil)
	if c.ok("Comments", err) && !slices.Contains(bodies(got), last.Body) {
		c.errorf("Comments since the time of the last one: got %q, want the last one in it", bodies(got))
	}
	got, err = c.Issues.Comments(c.Context(), at(7), last.CreatedAt.Add(24*time.Hour), nil)
	if c.ok("Comments", err) && len(got) > 0 {
		c.errorf("Comments since a later time: got %q, want none", bodies(got))
	}
}

// numbered reports whether comments are those from some number to last, without a gap.
func numbered(list []triage.Comment, last int) (from int, ok bool) {
	from = last - len(list) + 1
	for k, one := range list {
		if one.Body != fmt.Sprint(from+k) {
			return from, false
		}
	}
	return from, true
}

func commentsUntil(c *check) {
	list, err := c.Issues.Comments(c.Context(), at(7), time.Time{}, nil)
	if from, ok := numbered(list, 250); c.ok("Comments", err) && (!ok || from != 1) {
		c.errorf("Comments: got %d comments, want 1 to 250 in order", len(list))
	}
	list, err = c.Issues.Comments(c.Context(), at(7), time.Time{}, func(one triage.Comment) bool { return one.Body == "249" })
	if from, ok := numbered(list, 250); c.ok("Comments until 249", err) && (!ok || from > 249) {
		c.errorf("Comments until 249: got %d comments, want all from 249 to 250 in order", len(list))
	}
	seen := []string{}
	_, err = c.Issues.Comments(c.Context(), at(7), time.Time{}, func(one triage.Comment) bool {
		seen = append(seen, one.Body)
		return one.Body == "250"
	})
	if c.ok("Comments until the newest", err) && slices.Contains(seen, "120") {
		c.errorf("Comments until the newest: it goes on to comment 120, want it to stop near the newest one")
	}
}

func commentsTruncated(c *check) {
	list, err := c.Issues.Comments(c.Context(), at(7), time.Time{}, nil)
	c.wantError("Comments of 2,300", err, triage.ErrTruncated)
	if from, ok := numbered(list, 2300); !ok || from > 2300-1800 {
		c.errorf("Comments of 2,300: got %d comments, want the newest ones in order, at least 1,800", len(list))
	}
	list, err = c.Issues.Comments(c.Context(), at(7), time.Time{}, func(one triage.Comment) bool { return one.Body == "2200" })
	if from, ok := numbered(list, 2300); c.ok("Comments until 2200", err) && (!ok || from > 2200) {
		c.errorf("Comments until 2200: got %d comments, want all from 2200 to 2300", len(list))
	}
}

func oneComment(c *check) {
	for _, want := range c.comments(7) {
		got, err := c.Issues.Comment(c.Context(), at(7), want.ID)
		if c.ok("Comment", err) && (got.ID != want.ID || got.Body != want.Body || got.Author != want.Author) {
			c.errorf("Comment: got %+v, want %+v", got, want)
		}
	}
	ids := map[string]int64{"an absent comment": 987654321}
	for _, other := range c.comments(11) {
		ids["a comment of another issue"] = other.ID
	}
	for what, id := range ids {
		_, err := c.Issues.Comment(c.Context(), at(7), id)
		c.wantError("Comment: "+what, err, triage.ErrNotFound, triage.ErrGone)
	}
}

// said returns the comments in a timeline, and reports other events.
func (c *check) said(call string, t triage.Timeline) []triage.Comment {
	var list []triage.Comment
	for k, e := range t.Events {
		if e.Kind != "commented" || e.Actor != "alice" || e.At.IsZero() {
			c.errorf("%s: got the event %+v, want only comments by alice", call, e)
			return nil
		}
		if k > 0 && e.At.Before(t.Events[k-1].At) {
			c.errorf("%s: the events are not sorted by time", call)
		}
		list = append(list, triage.Comment{Body: e.Body})
	}
	return list
}

func timelineWhole(c *check) {
	t, err := c.Issues.Timeline(c.Context(), at(7))
	if !c.ok("Timeline", err) {
		return
	}
	if from, ok := numbered(c.said("Timeline", t), 500); !ok || from != 1 || !t.Complete {
		c.errorf("Timeline of 500 events: got %d events, complete %t; want all", len(t.Events), t.Complete)
	}
	again, err := c.Issues.Earlier(c.Context(), at(7), t)
	if c.ok("Earlier", err) && !reflect.DeepEqual(again, t) {
		c.errorf("Earlier of a complete timeline: got another one, of %d events", len(again.Events))
	}
}

// extended reads a timeline of n events to its end, and checks each part.
func (c *check) extended(n int) (t triage.Timeline, ok bool) {
	t, err := c.Issues.Timeline(c.Context(), at(7))
	if !c.ok("Timeline", err) {
		return t, false
	}
	if t.Complete && len(t.Events) < n {
		c.errorf("Timeline: it is marked as complete, and lacks %d of the %d events", n-len(t.Events), n)
		return t, false
	}
	if got := len(t.Events); t.Before <= 0 || got < 300 || got > 400 || t.Size < got {
		c.errorf("Timeline of %d events: got %d, Before %d, Size %d; want the newest 300 to 400, and a position before them", n, got, t.Before, t.Size)
		return t, false
	}
	for t.Before > 0 {
		if _, ok := numbered(c.said("Timeline", t), n); !ok {
			c.errorf("Timeline of %d events: the newest %d are not in order, or not whole", n, len(t.Events))
			return t, false
		}
		next, err := c.Issues.Earlier(c.Context(), at(7), t)
		if !c.ok("Earlier", err) {
			return t, false
		}
		if more := len(next.Events) - len(t.Events); more > 100 || next.Before >= t.Before || more == 0 && !next.Complete {
			c.errorf("Earlier: got %d more events, Before %d after %d; want up to 100 more, and an earlier position", more, next.Before, t.Before)
			return t, false
		}
		if next.Complete && len(next.Events) < n {
			c.errorf("Earlier: the timeline is marked as complete, and lacks %d of the %d events", n-len(next.Events), n)
			return t, false
		}
		t = next
	}
	if _, ok := numbered(c.said("Timeline", t), n); !ok {
		c.errorf("Earlier: the newest %d events are not in order, or not whole", len(t.Events))
	}
	return t, true
}

func timelineParts(c *check) {
	if t, ok := c.extended(730); ok && (!t.Complete || len(t.Events) != 730) {
		c.errorf("Earlier: got %d events, complete %t; want all 730", len(t.Events), t.Complete)
	}
}

func timelineBound(c *check) {
	t, ok := c.extended(2300)
	if !ok {
		return
	}
	if got := len(t.Events); t.Complete || got < 1900 || got > 2100 {
		c.errorf("Earlier: got %d of 2,300 events, complete %t; want the newest 2,000", got, t.Complete)
	}
	again, err := c.Issues.Earlier(c.Context(), at(7), t)
	if c.ok("Earlier", err) && !reflect.DeepEqual(again, t) {
		c.errorf("Earlier with Before 0: got another timeline, of %d events", len(again.Events))
	}
}

// concurrent uses the host in several goroutines.
func concurrent(c *check) {
	var wg sync.WaitGroup
	errs := make([]error, 8)
	for k := range errs {
		wg.Go(func() {
			if _, errs[k] = c.Issues.Write(c.Context(), at(7), effect.AddLabels{Names: []string{fmt.Sprint("label ", k)}}); errs[k] == nil {
				_, errs[k] = c.Issues.Issue(c.Context(), at(7))
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		c.ok("Write or Issue, in several goroutines", err)
	}
	if got := c.issue(7).Labels; len(got) != len(errs) {
		c.errorf("8 labels were added at once: got %q", got)
	}
}
