package memorytest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/triage"
)

// RunAgenda runs the tests of the methods that memory.Agenda adds to memory.Store. open returns
// an empty store, as in [Run].
func RunAgenda(t *testing.T, open func(t *testing.T) memory.Agenda) {
	t.Helper()
	runSuite(t, open, []subtest[memory.Agenda]{
		{"empty", agendaEmpty},
		{"order", agendaOrder},
		{"follows the record", agendaFollows},
		{"proposals", agendaProposals},
		{"of one repository", agendaIsolation},
		{"round trip", agendaRoundTrip},
		{"new tasks", agendaActed},
		{"cancelled", agendaCancelled},
	})
}

// closing returns a scheduled close that is due on a day of May 2026.
func closing(rule string, day int) memory.ScheduledClose {
	due := time.Date(2026, 5, day, 8, 30, 0, 0, time.UTC)
	return memory.ScheduledClose{
		At: due.Add(-72 * time.Hour), Due: due, Reason: "not_planned", Veto: []string{"comment"}, Rule: rule,
		Task: "a3f8c2d1-4b5e-4f6a-8c9d-0e1f2a3b4c5d",
	}
}

// change alters a record and saves it.
func change(t *testing.T, s memory.Agenda, repo string, issue int, alter func(*memory.Record)) {
	t.Helper()
	_, err := memory.Update(t.Context(), s, repo, issue, func(r *memory.Record) error { alter(r); return nil })
	if err != nil {
		t.Fatal(err)
	}
}

// pending formats the list of a store with a line for each issue, such as "7 05-01".
func pending(t *testing.T, s memory.Agenda, repo string) string {
	t.Helper()
	list, complete, err := s.Pending(t.Context(), repo)
	if err != nil || !complete {
		t.Fatalf("Pending of %s: got complete %t and error %v", repo, complete, err)
	}
	var lines []string
	for _, d := range list {
		lines = append(lines, fmt.Sprintf("%d %s", d.Issue, d.At.UTC().Format("01-02")))
	}
	return strings.Join(lines, "\n")
}

func wantPending(t *testing.T, s memory.Agenda, repo string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(strings.Join(want, "\n"), pending(t, s, repo)); diff != "" {
		t.Errorf("pending of %s (-want +got):\n%s", repo, diff)
	}
}

func agendaEmpty(t *testing.T, s memory.Agenda) {
	wantPending(t, s, "org/repo")
	save(t, s, Sample("org/repo", 7))
	wantPending(t, s, "org/repo")
}

func agendaOrder(t *testing.T, s memory.Agenda) {
	for issue, day := range map[int]int{7: 3, 71: 1, 8: 2} {
		change(t, s, "org/repo", issue, func(r *memory.Record) { r.Plan(closing("old", day)) })
	}
	change(t, s, "org/repo", 9, func(r *memory.Record) { r.Forbid("bug") })
	wantPending(t, s, "Org/Repo", "71 05-01", "8 05-02", "7 05-03")
}

// agendaFollows changes one record repeatedly, also back to an earlier state.
func agendaFollows(t *testing.T, s memory.Agenda) {
	plan := func(rule string, day int) func(*memory.Record) {
		return func(r *memory.Record) { r.Plan(closing(rule, day)) }
	}
	drop := func(rule string) func(*memory.Record) { return func(r *memory.Record) { r.Drop(rule) } }
	for i, step := range []struct {
		alter func(*memory.Record)
		want  string
	}{
		{plan("a", 5), "7 05-05"},
		{plan("a", 9), "7 05-05"},
		{plan("b", 2), "7 05-02"},
		{func(r *memory.Record) { r.Put(memory.Task{ID: "1", By: "rules"}) }, "7 05-02"},
		{drop("b"), "7 05-05"},
		{drop("a"), ""},
		{drop("a"), ""},
		{plan("a", 5), "7 05-05"},
		{plan("b", 7), "7 05-05"},
		{func(r *memory.Record) { r.Veto("a") }, "7 05-07"},
		{plan("a", 1), "7 05-07"},
		{drop("b"), ""},
		{drop("a"), ""},
	} {
		change(t, s, "org/repo", 7, step.alter)
		if got := pending(t, s, "org/repo"); got != step.want {
			t.Fatalf("step %d: got %q, want %q", i, got, step.want)
		}
	}
}

// agendaProposals changes the proposals of one record. The store lists the issue while a proposal waits.
func agendaProposals(t *testing.T, s memory.Agenda) {
	offer := func(day int, carrier triage.Carrier) func(*memory.Record) {
		return func(r *memory.Record) {
			p := proposal(fmt.Sprint("of day ", day), `{"type":"lock"}`)
			p.At, p.Carrier = time.Date(2026, 5, day, 0, 0, 0, 0, time.UTC), carrier
			p.Expires = p.At.AddDate(0, 0, 10)
			if _, ok := r.Propose(p); !ok {
				t.Errorf("day %d: not proposed", day)
			}
		}
	}
	end := func(n int) func(*memory.Record) {
		return func(r *memory.Record) {
			r.End(n, memory.Rejected, "mona", "", time.Date(2026, 5, 9, 0, 0, 0, 0, time.UTC))
		}
	}
	for i, step := range []struct {
		alter func(*memory.Record)
		want  string
	}{
		{offer(4, triage.CarrierGitHub), "7 05-14"},
		{offer(5, triage.CarrierComment), "7 05-05"}, // the comment is missing
		{func(r *memory.Record) { r.Plan(closing("a", 3)) }, "7 05-03"},
		{func(r *memory.Record) { r.Drop("a") }, "7 05-05"},
		{func(r *memory.Record) { r.ProposalComment, r.ProposalsShown = 123, 1 }, "7 05-05"}, // it shows another one
		{func(r *memory.Record) { r.ProposalsShown = 2 }, "7 05-14"},
		{end(1), "7 05-15"},
		{func(r *memory.Record) { r.Plan(closing("a", 20)) }, "7 05-15"},
		{end(2), "7 05-20"},
		{func(r *memory.Record) { r.Drop("a") }, ""},
		{offer(8, triage.CarrierComment), "7 05-08"}, // the comment does not show it
		{func(r *memory.Record) { r.ProposalsShown = r.LastProposal }, "7 05-18"},
		{func(r *memory.Record) { r.Expire(time.Date(2026, 5, 18, 0, 0, 0, 0, time.UTC)) }, ""},
	} {
		change(t, s, "org/repo", 7, step.alter)
		if got := pending(t, s, "org/repo"); got != step.want {
			t.Fatalf("step %d: got %q, want %q", i, got, step.want)
		}
	}
}

func agendaIsolation(t *testing.T, s memory.Agenda) {
	change(t, s, "org/repo", 7, func(r *memory.Record) { r.Plan(closing("a", 1)) })
	change(t, s, "org/repo7", 1, func(r *memory.Record) { r.Plan(closing("a", 2)) })
	wantPending(t, s, "org/repo", "7 05-01")
	wantPending(t, s, "org/repo7", "1 05-02")
	if _, _, err := s.Pending(t.Context(), "org/../x"); err == nil {
		t.Error("Pending of a hostile name: got no error")
	}
}

func agendaRoundTrip(t *testing.T, s memory.Agenda) {
	want := Sample("org/repo", 7)
	want.Forbid("wontfix")
	want.Forbid("ſtale")
	want.Plan(closing("a", 1))
	want.Plan(closing("", 3))
	checkSaved(t, s, want)
}

// agendaActed lists the issues with tasks after several times. A store may list more issues than have such
// a task, and earlier times, but none that has no task at all.
func agendaActed(t *testing.T, s memory.Agenda) {
	now := time.Now().UTC().Truncate(time.Second) // artifacts and files have the time at which they are saved
	at := func(ago time.Duration) time.Time { return now.Add(-ago) }
	put := func(issue int, ago time.Duration) {
		change(t, s, "org/repo", issue, func(r *memory.Record) {
			r.Put(memory.Task{ID: fmt.Sprint(ago), At: at(ago), By: "rules"})
		})
	}
	put(7, time.Hour)
	put(8, 0)
	put(9, 3*time.Hour)
	put(9, 2*time.Minute)
	change(t, s, "org/repo", 10, func(r *memory.Record) { r.Forbid("bug") })
	change(t, s, "org/repo", memory.Repository, func(r *memory.Record) {
		r.Move(memory.Cursor{Scan: "is:open", Issue: 7, Created: now})
	})
	change(t, s, "org/repo7", 1, func(r *memory.Record) { r.Put(memory.Task{ID: "1", At: now, By: "rules"}) })
	for _, after := range []time.Time{{}, at(4 * time.Hour), at(90 * time.Minute), at(time.Second)} {
		list, complete, err := s.Acted(t.Context(), "Org/Repo", after)
		if err != nil || !complete {
			t.Fatalf("after %s: complete %t, %v", after, complete, err)
		}
		listed := map[int]time.Time{}
		for i, d := range list {
			if _, twice := listed[d.Issue]; twice || d.Issue == memory.Repository || i > 0 && d.At.Before(list[i-1].At) {
				t.Errorf("after %s: got %v", after, list)
			}
			listed[d.Issue] = d.At
			r, err := s.Load(t.Context(), "org/repo", d.Issue)
			if err != nil {
				t.Errorf("after %s: the issue %d is listed: %v", after, d.Issue, err)
			}
			if first, ok := r.FirstAfter(after); ok && d.At.After(first.Add(5*time.Minute)) && first.After(at(3*time.Minute)) {
				t.Errorf("after %s: the issue %d is listed at %s, its first task is of %s", after, d.Issue, d.At, first)
			}
		}
		for issue := 7; issue < 10; issue++ {
			r, err := s.Load(t.Context(), "org/repo", issue)
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := r.FirstAfter(after); ok && listed[issue].IsZero() && !after.IsZero() {
				t.Errorf("after %s: the issue %d is missing in %v", after, issue, list)
			}
		}
	}
	if _, _, err := s.Acted(t.Context(), "org/../x", now); err == nil {
		t.Error("a hostile name: got no error")
	}
}

func agendaCancelled(t *testing.T, s memory.Agenda) {
	ctx := canceled(t)
	if _, _, err := s.Pending(ctx, "org/repo"); !errors.Is(err, context.Canceled) {
		t.Errorf("Pending: got %v, want context.Canceled", err)
	}
	if _, _, err := s.Acted(ctx, "org/repo", time.Time{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Acted: got %v, want context.Canceled", err)
	}
}
