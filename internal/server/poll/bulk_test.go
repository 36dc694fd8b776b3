package poll

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/org/foreman-action/triage"
)

// TestBulk checks what happens if more issues change within the overlap than one poll reads, for
// example by an import. The poller must still find later changes, and later polls must be short
// again.
func TestBulk(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"after the first poll", "before it"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStory(t, "ignore mona")
			if name == "after the first poll" {
				s.poll()
			}
			for n := range 20 {
				s.step(fmt.Sprintf("many 60 %d", 1+60*n))
				s.step("pass 1s")
			}
			s.step("pass 1m")
			if name == "before it" {
				s.poll()
			}
			s.step("issue 5000 nora")
			s.step("pass 1m")
			var made []string
			for range 4 {
				s.poll()
				made = append(made, s.made...)
			}
			if want := []string{"opened #5000 added"}; !slices.Equal(made, want) {
				t.Errorf("got the tasks %q, want %q", made, want)
			}
			if wait := s.kept.poller.poll(s.Context()); wait != s.o.Interval {
				t.Errorf("the next poll is after %s, want %s", wait, s.o.Interval)
			}
		})
	}
}

// TestNoRoom checks polls while the maximum number of issues is postponed, and an event of one more
// issue cannot become a task. The polls fail, but drop postponed issues that no longer exist. Then
// there is room again.
func TestNoRoom(t *testing.T) {
	t.Parallel()
	s := newStory(t, "")
	for _, line := range []string{"issue 1 nora", "pass 1m", "poll", "finish"} {
		s.step(line)
	}
	data, err := s.kept.Cursor(t.Context(), repo)
	if err != nil {
		t.Fatal(err)
	}
	c, err := decodeCursor(data)
	if err != nil {
		t.Fatal(err)
	}
	for n := range maxPostponed {
		c.postpone(n+2, postponed{}) // they were deleted meanwhile
	}
	if data, err = json.Marshal(c); err != nil {
		t.Fatal(err)
	}
	if err := s.kept.SaveCursor(t.Context(), repo, data); err != nil {
		t.Fatal(err)
	}
	take := s.o.Take
	s.o.Take = func(context.Context, triage.Delivery, string) (bool, error) {
		return false, errors.New("it is too large")
	}
	s.restart()
	s.step("issue 600 nora")
	s.step("pass 1m")
	s.poll()
	s.poll()
	if h := s.kept.poller.health; h.Err != "" || h.Waiting != 1 {
		t.Errorf("got %d that wait, and %s", h.Waiting, h.Err)
	}
	s.o.Take = take
	s.restart()
	s.step("pass 1m")
	s.poll()
	if want := []string{"opened #600 added"}; !slices.Equal(s.made, want) {
		t.Errorf("got the tasks %q, want %q", s.made, want)
	}
}
