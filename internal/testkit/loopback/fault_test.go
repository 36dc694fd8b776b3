package loopback_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/testkit/loopback"
)

const path = "/repos/o/r/comments"

// A counter is a server that counts its POST requests.
type counter struct {
	*loopback.Server
	made atomic.Int32
}

func start(t *testing.T) *counter {
	t.Helper()
	c := &counter{}
	c.Server = loopback.New(t, loopback.Options{Handler: func(r *http.Request, _ loopback.Call) loopback.Answer {
		if r.Method == http.MethodPost {
			c.made.Add(1)
			return loopback.Answer{Status: http.StatusCreated, Body: []byte("made")}
		}
		return loopback.Answer{}
	}})
	return c
}

// send sends a request such as "GET /x" on a new connection. It returns the status of the answer,
// or 0 if the connection was closed.
func (c *counter) send(t *testing.T, what string) int {
	t.Helper()
	method, path, _ := strings.Cut(what, " ")
	req, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), method, c.URL+path, strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	req.Close = true
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

// log returns a line for each request: method, status and "cut".
func (c *counter) log() []string {
	var lines []string
	for _, call := range c.Calls() {
		line := fmt.Sprint(call.Method, " ", call.Status)
		if call.Cut {
			line += " cut"
		}
		lines = append(lines, line)
	}
	return lines
}

func TestFaultsHitTheirCalls(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		fault loopback.Fault
		want  []int // statuses of five requests
		made  int32 // number of served requests
	}{
		{"every one", loopback.Fault{Status: 500}, []int{500, 500, 500, 500, 500}, 0},
		{"the third", loopback.Fault{Nth: 3, Status: 500}, []int{201, 201, 500, 201, 201}, 4},
		{"the first two", loopback.Fault{Times: 2, Status: 500}, []int{500, 500, 201, 201, 201}, 3},
		{"two from the second on", loopback.Fault{Nth: 2, Times: 2, Status: 500}, []int{201, 500, 500, 201, 201}, 3},
		{"all from the fourth on", loopback.Fault{Nth: 4, Times: -1, Status: 500}, []int{201, 201, 201, 500, 500}, 3},
		{"by method", loopback.Fault{Method: "POST", Nth: 1, Status: 418}, []int{418, 201, 201, 201, 201}, 4},
		{"another method", loopback.Fault{Method: "GET", Status: 500}, []int{201, 201, 201, 201, 201}, 5},
		{"by path", loopback.Fault{Path: "/repos/*/*/comments", Nth: 5, Status: 500}, []int{201, 201, 201, 201, 500}, 4},
		{"another path", loopback.Fault{Path: "/repos/*/comments", Status: 500}, []int{201, 201, 201, 201, 201}, 5},
		{"by query", loopback.Fault{Query: "comp=block", Status: 500}, []int{500, 500, 500, 500, 500}, 0},
		{"another query", loopback.Fault{Query: "comp=list", Status: 500}, []int{201, 201, 201, 201, 201}, 5},
		{"cut before", loopback.Fault{Nth: 2, CutBefore: true}, []int{201, 0, 201, 201, 201}, 4},
		{"two cut from the second on", loopback.Fault{CutBefore: true, Nth: 2, Times: 2}, []int{201, 0, 0, 201, 201}, 3},
		{"cut after", loopback.Fault{Nth: 2, CutAfter: true}, []int{201, 0, 201, 201, 201}, 5},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			s.Fault(tt.fault)
			var got []int
			for range 5 {
				got = append(got, s.send(t, "POST "+path+"?comp=block"))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("statuses (-want +got):\n%s", diff)
			}
			if made := s.made.Load(); made != tt.made {
				t.Errorf("got %d served, want %d", made, tt.made)
			}
		})
	}
}

func TestTheFirstFaultCountsAndAllCount(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Fault(loopback.Fault{Nth: 1, Status: 500})
	s.Fault(loopback.Fault{Nth: 2, Status: 502, Header: map[string]string{"Retry-After": "1"}, Body: "x"})
	got := []int{s.send(t, "GET "+path), s.send(t, "GET "+path), s.send(t, "GET "+path)}
	if diff := cmp.Diff([]int{500, 502, 200}, got); diff != "" {
		t.Errorf("statuses (-want +got):\n%s", diff)
	}
	s.Fault(loopback.Fault{Status: 500})
	s.CutAt(0)
	s.ClearFaults()
	if got := s.send(t, "GET "+path); got != 200 {
		t.Errorf("after ClearFaults: got %d, want 200", got)
	}
}

func TestCutAt(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.CutAt(2)
	for range 4 {
		s.send(t, "POST "+path)
	}
	want := []string{"POST 201", "POST 201", "POST 0 cut", "POST 0 cut"}
	if diff := cmp.Diff(want, s.log()); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
	s.CutAt(-1)
	if got := s.send(t, "GET "+path); got != 200 {
		t.Errorf("after CutAt(-1): got %d, want 200", got)
	}
}

func TestHold(t *testing.T) {
	t.Parallel()
	s := start(t)
	reached, hold := make(chan struct{}), make(chan struct{})
	s.Fault(loopback.Fault{Method: "POST", Reached: reached, Hold: hold})
	var wg sync.WaitGroup
	wg.Go(func() { s.send(t, "POST "+path) })
	<-reached
	// Other requests are served meanwhile, and the POST request is not served yet.
	if got := s.send(t, "GET "+path); got != 200 || s.made.Load() != 0 {
		t.Errorf("while one is held: got %d and %d served, want 200 and none", got, s.made.Load())
	}
	close(hold)
	wg.Wait()
	want := []string{"POST 201", "GET 200"}
	if diff := cmp.Diff(want, s.log()); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
}

func TestCloseLetsGoOfHeldCalls(t *testing.T) {
	t.Parallel()
	s := start(t)
	reached := make(chan struct{})
	s.Fault(loopback.Fault{Reached: reached, Hold: make(chan struct{})})
	var wg sync.WaitGroup
	status := -1
	wg.Go(func() { status = s.send(t, "POST "+path) })
	<-reached
	s.Close()
	wg.Wait()
	if status != 0 || s.made.Load() != 0 {
		t.Errorf("got status %d and %d served, want a closed connection and none", status, s.made.Load())
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	open, never := make(chan struct{}), make(chan struct{})
	close(open)
	tests := []struct {
		name   string
		answer loopback.Answer
		status int    // 0: no answer
		body   string // the part that can be read
		broken bool
	}{
		{"zero", loopback.Answer{}, 200, "", false},
		{"status and body", loopback.Answer{Status: 404, Body: []byte("none")}, 404, "none", false},
		{"open gates", loopback.Answer{Body: []byte("1234"), Hold: open, HoldBody: open}, 200, "1234", false},
		{"no byte", loopback.Answer{Body: []byte("1234"), Cut: loopback.BeforeHeaders}, 0, "", true},
		{"half a body", loopback.Answer{Body: []byte("1234"), Cut: loopback.InBody}, 200, "12", true},
		{"a held answer", loopback.Answer{Body: []byte("1234"), Hold: never}, 0, "", true},
		{"half a held body", loopback.Answer{Body: []byte("1234"), HoldBody: never}, 200, "12", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			reached := make(chan struct{})
			s := loopback.New(t, loopback.Options{Handler: func(*http.Request, loopback.Call) loopback.Answer { return tt.answer }})
			s.Fault(loopback.Fault{Reached: reached})
			go func() {
				<-reached
				if tt.answer.Hold == never || tt.answer.HoldBody == never {
					s.Close()
				}
			}()
			status, body := 0, ""
			resp, err := http.Get(s.URL)
			if err == nil {
				var data []byte
				data, err = io.ReadAll(resp.Body)
				status, body = resp.StatusCode, string(data)
				_ = resp.Body.Close()
			}
			if status != tt.status || body != tt.body || (err != nil) != tt.broken {
				t.Errorf("got status %d, body %q, error %v; want %d, %q, broken %v", status, body, err, tt.status, tt.body, tt.broken)
			}
		})
	}
}
