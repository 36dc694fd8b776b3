package github_test

import (
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/triage"
)

var update = flag.Bool("update", false, "rewrite the expected parts of testdata")

// quiet is an issue without any events.
var quiet = triage.Ref{Owner: "octo", Repo: "hello", Number: 11}

// TestTimeline reads every timeline of testdata/timeline: GitHub's response in "timeline.json" and
// the parsed events in "want", one per line.
func TestTimeline(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/timeline/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("got %d timelines, %v, want some", len(paths), err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			t.Parallel()
			ar, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			s := fake(t)
			s.Fault(githubtest.Fault{Status: 200, Body: string(ar.Files[0].Data)})
			c, _ := client(t, s.URL)
			timeline, err := c.Timeline(t.Context(), ref)
			if err != nil || !timeline.Complete {
				t.Fatalf("got %v, %v, want a complete timeline", timeline, err)
			}
			got := ""
			for _, e := range timeline.Events {
				got += line(e)
			}
			if *update {
				ar.Files[1].Data = []byte(got)
				if err := os.WriteFile(path, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(ar.Files[1].Data), got); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

// line prints the fields of an event that are not empty.
func line(e triage.TimelineEvent) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %d %s", e.At.Format(time.RFC3339), e.ID, e.Kind)
	for _, f := range [][2]string{
		{"actor", e.Actor}, {"type", e.ActorType}, {"label", e.Label}, {"assignee", e.Assignee}, {"milestone", e.Milestone},
		{"issue type", e.IssueType}, {"reason", e.Reason}, {"from", e.From}, {"body", e.Body}, {"url", e.URL},
	} {
		if f[1] != "" {
			fmt.Fprintf(&b, " %s=%q", f[0], f[1])
		}
	}
	for _, f := range []struct {
		name string
		is   bool
	}{{"intends", e.Intends}, {"intended", e.Intended}} {
		if f.is {
			b.WriteString(" " + f.name)
		}
	}
	return b.String() + "\n"
}

// TestTimelineIsPaged checks how many events of a timeline are read, and with how many calls.
func TestTimelineIsPaged(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		there, calls, from int // there: number of events; from: index of the first event that is read
		complete           bool
	}{
		{0, 1, 0, true}, {100, 1, 0, true}, {101, 2, 0, true}, {500, 5, 0, true}, {501, 5, 200, false}, {600, 5, 200, false}, {1234, 5, 900, false},
	} {
		t.Run(fmt.Sprint(tt.there), func(t *testing.T) {
			t.Parallel()
			s := long(t, tt.there)
			c, _ := client(t, s.URL)
			got, err := c.Timeline(t.Context(), quiet)
			if err != nil || got.Complete != tt.complete || len(s.Calls()) != tt.calls {
				t.Fatalf("got complete %t, %v in %d calls, want %t in %d", got.Complete, err, len(s.Calls()), tt.complete, tt.calls)
			}
			checkBodies(t, got, tt.from, tt.there)
			if q := s.Calls()[0].Query.Encode(); q != "page=1&per_page=100" {
				t.Errorf("got query %s, want the first page of 100", q)
			}
		})
	}
}

// TestEarlier reads a long timeline back page by page, at most the newest 20 pages.
func TestEarlier(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		there, calls, from int // there: number of events; from: index of the first event in the end
		complete           bool
	}{
		{100, 1, 0, true}, {500, 5, 0, true}, {501, 7, 0, true}, {1234, 14, 0, true}, {2000, 21, 0, true}, {2001, 21, 100, false}, {2345, 21, 400, false},
	} {
		t.Run(fmt.Sprint(tt.there), func(t *testing.T) {
			t.Parallel()
			s := long(t, tt.there)
			c, _ := client(t, s.URL)
			got, err := c.Timeline(t.Context(), quiet)
			for n := 0; err == nil && got.Before > 0; n++ {
				if want := (tt.there + 99) / 100 * 100; got.Complete || got.Size != want {
					t.Fatalf("got complete %t, size %d, want an incomplete one of about %d", got.Complete, got.Size, want)
				}
				was := len(got.Events)
				if got, err = c.Earlier(t.Context(), quiet, got); len(got.Events) != was+100 {
					t.Fatalf("got %d events after %d, %v, want 100 more", len(got.Events), was, err)
				}
			}
			if err != nil || got.Complete != tt.complete || len(s.Calls()) != tt.calls {
				t.Fatalf("got complete %t, %v in %d calls, want %t in %d", got.Complete, err, len(s.Calls()), tt.complete, tt.calls)
			}
			checkBodies(t, got, tt.from, tt.there)
			if again, err := c.Earlier(t.Context(), quiet, got); err != nil || len(again.Events) != len(got.Events) || len(s.Calls()) != tt.calls {
				t.Errorf("at its end: got %d events, %v in %d calls, want the same without a call", len(again.Events), err, len(s.Calls()))
			}
		})
	}
}

// TestEarlierMoves deletes a comment while the timeline is read, which moves later comments to
// earlier pages. None of them is missed, and none is returned twice.
func TestEarlierMoves(t *testing.T) {
	t.Parallel()
	s := long(t, 800)
	c, _ := client(t, s.URL)
	got, err := c.Timeline(t.Context(), quiet)
	if err != nil {
		t.Fatal(err)
	}
	s.Repo("octo/hello").DeleteComment(s.Issue("octo/hello", quiet.Number).Comments[50].ID)
	for err == nil && got.Before > 0 {
		got, err = c.Earlier(t.Context(), quiet, got)
	}
	if err != nil || !got.Complete {
		t.Fatalf("got complete %t, %v, want all of it", got.Complete, err)
	}
	checkBodies(t, got, 0, 800, "50")
}

// TestEarlierFails checks that a failure keeps the events that were read before it.
func TestEarlierFails(t *testing.T) {
	t.Parallel()
	s := long(t, 600)
	c, _ := client(t, s.URL)
	got, err := c.Timeline(t.Context(), quiet)
	if err != nil {
		t.Fatal(err)
	}
	s.Fault(githubtest.Fault{Status: 403, Body: `{"message":"Resource not accessible by integration"}`})
	again, err := c.Earlier(t.Context(), quiet, got)
	checkFailure(t, err, nil, "issues: read")
	if len(again.Events) != len(got.Events) || again.Before != got.Before {
		t.Errorf("got %d events, want the %d of before", len(again.Events), len(got.Events))
	}
}

// TestTimelineOldCommits checks that an incomplete timeline does not begin with commits, because
// the date of a commit does not show how far back the timeline goes.
func TestTimelineOldCommits(t *testing.T) {
	t.Parallel()
	s := long(t, 600)
	s.Repo("octo/hello").PushAs("alice", quiet.Number, time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC))
	c, _ := client(t, s.URL)
	got, err := c.Timeline(t.Context(), quiet)
	if err != nil || got.Complete || got.Events[0].Kind != "commented" {
		t.Errorf("got %v, complete %t, first %+v", err, got.Complete, got.Events[0])
	}
}

// long starts a GitHub on which the issue quiet has comments with the bodies 0, 1, 2….
func long(t *testing.T, comments int) *githubtest.Server {
	t.Helper()
	s := githubtest.New(t, githubtest.Config{SkipValidation: true, Token: token})
	furnish(s)
	comment(s, 0, comments)
	return s
}

func comment(s *githubtest.Server, from, to int) {
	for n := from; n < to; n++ {
		s.Repo("octo/hello").AddComment(quiet.Number, "alice", fmt.Sprint(n))
	}
}

// checkBodies checks that the timeline contains the comments with the bodies from up to, but not
// including, to, except those in without.
func checkBodies(t *testing.T, got triage.Timeline, from, to int, without ...string) {
	t.Helper()
	var bodies []string
	for _, e := range got.Events {
		bodies = append(bodies, e.Body)
	}
	var want []string
	for n := from; n < to; n++ {
		if len(without) == 0 || without[0] != fmt.Sprint(n) {
			want = append(want, fmt.Sprint(n))
		}
	}
	if diff := cmp.Diff(want, bodies); diff != "" {
		t.Errorf("comments (-want +got):\n%s", diff)
	}
}

// A meddler changes the server's state before each request; n is the number of the request, from 1.
type meddler struct {
	n      int
	before func(n int)
}

func (m *meddler) RoundTrip(r *http.Request) (*http.Response, error) {
	m.n++
	m.before(m.n)
	return http.DefaultTransport.RoundTrip(r)
}

// TestTimelineMoves changes the issue while its timeline is read.
func TestTimelineMoves(t *testing.T) {
	t.Parallel()
	remove := func(s *githubtest.Server, place int) {
		s.Repo("octo/hello").DeleteComment(s.Issue("octo/hello", quiet.Number).Comments[place].ID)
	}
	tests := []struct {
		name     string
		there    int
		before   func(s *githubtest.Server, n int)
		from, to int
		without  string
		complete bool
		err      error
	}{
		{name: "grows by a page", there: 200, to: 201, complete: true, before: func(s *githubtest.Server, n int) {
			if n == 2 {
				comment(s, 200, 201)
			}
		}},
		{name: "grows over the bound", there: 500, from: 200, to: 501, before: func(s *githubtest.Server, n int) {
			if n == 2 {
				comment(s, 500, 501)
			}
		}},
		{name: "grows without end", there: 600, err: triage.ErrTruncated, before: func(s *githubtest.Server, n int) {
			comment(s, 0, 100)
		}},
		{name: "a comment is deleted", there: 400, to: 400, without: "150", complete: true, before: func(s *githubtest.Server, n int) {
			if n == 3 {
				remove(s, 150)
			}
		}},
		{name: "a page goes away", there: 201, to: 201, without: "150", complete: true, before: func(s *githubtest.Server, n int) {
			if n == 3 {
				remove(s, 150)
			}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := long(t, tt.there)
			c, _ := client(t, s.URL, func(o *github.Options) {
				o.Transport = &meddler{before: func(n int) { tt.before(s, n) }}
			})
			got, err := c.Timeline(t.Context(), quiet)
			if !errors.Is(err, tt.err) || got.Complete != tt.complete || len(s.Calls()) > 5 {
				t.Fatalf("got complete %t, %v in %d calls, want %t, %v in 5 at most", got.Complete, err, len(s.Calls()), tt.complete, tt.err)
			}
			checkBodies(t, got, tt.from, tt.to, tt.without)
		})
	}
}

// TestTimelineWithoutLast omits the link to the last page. The client then reads forward, and stops
// at its limit of pages.
func TestTimelineWithoutLast(t *testing.T) {
	t.Parallel()
	const first = `[{"id":1,"event":"commented","created_at":"2020-01-01T00:00:00Z","body":"99"}]`
	link := func(query string) map[string]string {
		return map[string]string{"Link": `<https://api.github.com/x?` + query + `>; rel="next"`}
	}
	tests := []struct {
		name  string
		fault githubtest.Fault
		calls int
		text  string
	}{
		{"the end is near", githubtest.Fault{Nth: 1, Header: link("page=2")}, 2, ""},
		{"the end is far", githubtest.Fault{Header: link("page=2")}, 5, "read the timeline of octo/hello#11: "},
		{"pages without numbers", githubtest.Fault{Header: link("after=x")}, 1, "those that were read (1)"},
		{"pages with cursors", githubtest.Fault{Header: link("cursor=x")}, 1, "those that were read (1)"},
		{"pages with words", githubtest.Fault{Header: link("page=x")}, 1, "those that were read (1)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := long(t, 150)
			tt.fault.Status, tt.fault.Body = 200, first
			s.Fault(tt.fault)
			c, _ := client(t, s.URL)
			got, err := c.Timeline(t.Context(), quiet)
			if len(s.Calls()) != tt.calls || errors.Is(err, triage.ErrTruncated) != (tt.text != "") {
				t.Fatalf("got %v in %d calls, want %d", err, len(s.Calls()), tt.calls)
			}
			if tt.text == "" {
				checkBodies(t, got, 99, 150)
				return
			}
			if !strings.Contains(err.Error(), tt.text) {
				t.Errorf("got %q, want it to say %q", err, tt.text)
			}
		})
	}
}

// TestTimelineFailsWhole checks that a failure of one request returns no events at all.
func TestTimelineFailsWhole(t *testing.T) {
	t.Parallel()
	for nth := 1; nth <= 3; nth++ {
		s := long(t, 201)
		s.Fault(githubtest.Fault{Status: 403, Body: `{"message":"Resource not accessible by integration"}`, Nth: nth})
		c, _ := client(t, s.URL)
		got, err := c.Timeline(t.Context(), quiet)
		checkFailure(t, err, nil, "issues: read")
		if len(got.Events) != 0 || got.Complete {
			t.Errorf("call %d fails: got %d events, want none", nth, len(got.Events))
		}
	}
}

func readTimeline(n int) func(*testing.T, *github.Client) error {
	return func(t *testing.T, c *github.Client) error {
		_, err := c.Timeline(t.Context(), triage.Ref{Owner: "octo", Repo: "hello", Number: n})
		return err
	}
}
