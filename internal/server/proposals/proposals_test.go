package proposals_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/org/foreman-action/internal/server/proposals"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/triage"
)

// A counted agenda counts its calls. It fails as a whole, or for the record of one issue.
type counted struct {
	memory.Agenda
	lists, loads int
	err          error
	broken       int
}

func (c *counted) Pending(ctx context.Context, repo string) ([]memory.Due, bool, error) {
	c.lists++
	if c.err != nil {
		return nil, false, c.err
	}
	return c.Agenda.Pending(ctx, repo)
}

func (c *counted) Load(ctx context.Context, repo string, issue int) (memory.Record, error) {
	c.loads++
	if issue == c.broken {
		return memory.Record{}, memory.ErrBroken
	}
	return c.Agenda.Load(ctx, repo, issue)
}

// propose adds a proposal that was made now, and whose comment was posted.
func propose(t *testing.T, s memory.Store, ref triage.Ref, id string, posted int64) {
	t.Helper()
	item, err := protocol.NewAction(protocol.ActionAddLabel, map[string]any{"label": id})
	if err != nil {
		t.Fatal(err)
	}
	_, err = memory.Update(t.Context(), s, ref.Owner+"/"+ref.Repo, ref.Number, func(r *memory.Record) error {
		r.ProposalComment = posted
		if _, ok := r.Propose(memory.Proposal{ID: id, At: time.Now(), Expires: time.Now().Add(48 * time.Hour), Action: item, Carrier: triage.CarrierComment}); !ok {
			return errors.New("there is no room")
		}
		if posted != 0 {
			r.ProposalsShown = r.LastProposal
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestList checks the order, what is left out, and that calls share one result.
func TestList(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := &counted{Agenda: memory.New(), broken: 9}
		for i, one := range []struct {
			repo  string
			issue int
		}{{"two", 7}, {"one", 3}, {"one", 9}, {"two", 7}, {"other", 1}} {
			propose(t, a.Agenda, triage.Ref{Owner: "o", Repo: one.repo, Number: one.issue}, fmt.Sprint("p", i), 1)
			time.Sleep(time.Minute)
		}
		l := proposals.NewList(a, []string{"o/one", "o/two", "O/Two"}, nil)
		names := func() string {
			list, err := l.All(t.Context())
			if err != nil {
				t.Error(err)
			}
			var out []string
			for _, w := range list {
				out = append(out, fmt.Sprintf("%s#%d %s", w.Repo, w.Issue, w.ID))
			}
			return fmt.Sprint(out)
		}
		if got, want := names(), "[o/two#7 p0 o/one#3 p1 o/two#7 p3]"; got != want || a.lists != 2 || a.loads != 3 {
			t.Errorf("got %s with %d lists and %d loads, want %s", got, a.lists, a.loads, want)
		}
		propose(t, a.Agenda, triage.Ref{Owner: "o", Repo: "one", Number: 4}, "p5", 1)
		names()
		if a.lists != 2 {
			t.Errorf("%d lists: a second call reads again", a.lists)
		}
		time.Sleep(6 * time.Second)
		if got, want := names(), "[o/two#7 p0 o/one#3 p1 o/two#7 p3 o/one#4 p5]"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		time.Sleep(6 * time.Second)
		a.err = errors.New("the disk smokes")
		if _, err := l.All(t.Context()); !errors.Is(err, a.err) {
			t.Errorf("got %v", err)
		}
	})
}

// TestKeeper checks for which issues work is requested, and when.
func TestKeeper(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := &counted{Agenda: memory.New()}
		start := time.Now()
		propose(t, a.Agenda, triage.Ref{Owner: "o", Repo: "r", Number: 7}, "posted", 1)
		propose(t, a.Agenda, triage.Ref{Owner: "o", Repo: "r", Number: 8}, "missing", 0)
		var mu sync.Mutex // guards got and failures
		var got []string
		failures := 1
		requested := func() []string {
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(got)
		}
		k, err := proposals.NewKeeper(proposals.Options{Agenda: a, Repos: []string{"o/r", "O/R"}, Take: func(_ context.Context, repo string, issue int, dedup string) error {
			mu.Lock()
			defer mu.Unlock()
			if failures--; failures == 0 {
				return errors.New("the queue is away")
			}
			if line := fmt.Sprintf("%s#%d %s", repo, issue, dedup); !slices.Contains(got, line) {
				got = append(got, line)
			}
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			k.Run(ctx)
		}()
		time.Sleep(14 * time.Minute)
		if got := requested(); len(got) != 0 {
			t.Errorf("got %q at once", got)
		}
		time.Sleep(20 * time.Minute)
		day := start.UTC().Format(time.DateOnly)
		if got, want := requested(), []string{"o/r#8 proposals:o/r#8:" + day}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		time.Sleep(48 * time.Hour)
		if got, last := requested(), fmt.Sprintf("o/r#7 proposals:o/r#7:%s", start.Add(48*time.Hour).UTC().Format(time.DateOnly)); !slices.Contains(got, last) || len(got) != 4 {
			t.Errorf("got %q, want also %q, and #8 once a day", got, last)
		}
		if h := k.Health(); !h.OK || h.Loop != "proposals" {
			t.Errorf("got %+v", h)
		}
		stop()
		<-done
	})
	if _, err := proposals.NewKeeper(proposals.Options{}); err == nil {
		t.Error("a keeper without an agenda: no error")
	}
}
