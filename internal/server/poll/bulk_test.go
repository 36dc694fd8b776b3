package poll

import (
	"fmt"
	"slices"
	"testing"
)

// More issues change within the overlap than are read in one turn, as in an import. What
// changes after them is found all the same, and polling comes to rest.
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
			if wait := s.kept.follower.turn(s.Context()); wait != s.o.Interval {
				t.Errorf("the next poll is after %s, want %s", wait, s.o.Interval)
			}
		})
	}
}
