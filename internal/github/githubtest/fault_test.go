package githubtest_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/github/githubtest"
)

func TestFaultsHitTheirCalls(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		fault githubtest.Fault
		want  []int // statuses of five comments
		made  int   // comments there in the end
	}{
		{"every one", githubtest.Fault{Status: 500}, []int{500, 500, 500, 500, 500}, 0},
		{"the third", githubtest.Fault{Nth: 3, Status: 500}, []int{201, 201, 500, 201, 201}, 4},
		{"the first two", githubtest.Fault{Times: 2, Status: 500}, []int{500, 500, 201, 201, 201}, 3},
		{"two from the second on", githubtest.Fault{Nth: 2, Times: 2, Status: 500}, []int{201, 500, 500, 201, 201}, 3},
		{"all from the fourth on", githubtest.Fault{Nth: 4, Times: -1, Status: 500}, []int{201, 201, 201, 500, 500}, 3},
		{"by method", githubtest.Fault{Method: "POST", Nth: 1, Status: 418}, []int{418, 201, 201, 201, 201}, 4},
		{"another method", githubtest.Fault{Method: "GET", Status: 500}, []int{201, 201, 201, 201, 201}, 5},
		{"by path", githubtest.Fault{Path: "/repos/*/*/issues/7/comments", Nth: 5, Status: 500}, []int{201, 201, 201, 201, 500}, 4},
		{"another path", githubtest.Fault{Path: "/repos/*/labels", Status: 500}, []int{201, 201, 201, 201, 201}, 5},
		{"cut before", githubtest.Fault{Nth: 2, CutBefore: true}, []int{201, 0, 201, 201, 201}, 4},
		{"cut after", githubtest.Fault{Nth: 2, CutAfter: true}, []int{201, 0, 201, 201, 201}, 5},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := furnished(t)
			s.Fault(tt.fault)
			var got []int
			for n := range 5 {
				got = append(got, send(t, s, "POST "+issuePath+"/comments", fmt.Sprintf(`{"body":"%d"}`, n)))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("statuses (-want +got):\n%s", diff)
			}
			if made := len(s.Issue("octo/hello", 7).Comments); made != tt.made {
				t.Errorf("got %d comments, want %d", made, tt.made)
			}
		})
	}
}

func TestTheFirstFaultCountsAndAllCount(t *testing.T) {
	t.Parallel()
	s := furnished(t)
	s.Fault(githubtest.Fault{Nth: 1, Status: 500})
	s.Fault(githubtest.Fault{Nth: 2, Status: 502, Header: map[string]string{"Retry-After": "1"}, Body: "x"})
	got := []int{send(t, s, "GET "+issuePath, ""), send(t, s, "GET "+issuePath, ""), send(t, s, "GET "+issuePath, "")}
	if diff := cmp.Diff([]int{500, 502, 200}, got); diff != "" {
		t.Errorf("statuses (-want +got):\n%s", diff)
	}
	s.Fault(githubtest.Fault{Status: 500})
	s.CutAt(0)
	s.ClearFaults()
	if got := send(t, s, "GET "+issuePath, ""); got != 200 {
		t.Errorf("after ClearFaults: got %d, want 200", got)
	}
}

func TestCutAt(t *testing.T) {
	t.Parallel()
	s := furnished(t)
	s.CutAt(2)
	for range 4 {
		send(t, s, "POST "+issuePath+"/comments", `{"body":"x"}`)
	}
	want := []string{
		"POST " + issuePath + "/comments 201", "POST " + issuePath + "/comments 201",
		"POST " + issuePath + "/comments cut", "POST " + issuePath + "/comments cut",
	}
	if diff := cmp.Diff(want, s.Log()); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
	s.CutAt(-1)
	if got := send(t, s, "GET "+issuePath, ""); got != 200 {
		t.Errorf("after CutAt(-1): got %d, want 200", got)
	}
}

func TestHold(t *testing.T) {
	t.Parallel()
	s := furnished(t)
	reached, hold := make(chan struct{}), make(chan struct{})
	s.Fault(githubtest.Fault{Method: "POST", Reached: reached, Hold: hold})
	var wg sync.WaitGroup
	wg.Go(func() { send(t, s, "POST "+issuePath+"/comments", `{"body":"x"}`) })
	<-reached
	// The others are served meanwhile, and nothing was done yet.
	if got := send(t, s, "GET "+issuePath, ""); got != 200 || len(s.Issue("octo/hello", 7).Comments) != 0 {
		t.Errorf("while one is held: got %d and %v, want 200 and no comment", got, s.Issue("octo/hello", 7).Comments)
	}
	close(hold)
	wg.Wait()
	want := []string{"POST " + issuePath + "/comments 201", "GET " + issuePath + " 200"}
	if diff := cmp.Diff(want, s.Log()); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
}

func TestCloseLetsGoOfHeldCalls(t *testing.T) {
	t.Parallel()
	s := furnished(t)
	reached := make(chan struct{})
	s.Fault(githubtest.Fault{Reached: reached, Hold: make(chan struct{})})
	var wg sync.WaitGroup
	wg.Go(func() { send(t, s, "PATCH "+issuePath, `{"state":"closed"}`) })
	<-reached
	s.Close()
	wg.Wait()
	if got := s.Issue("octo/hello", 7).State; got != "open" {
		t.Errorf("got state %q, want open", got)
	}
}
