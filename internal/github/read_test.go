package github_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/triage"
)

func TestIssue(t *testing.T) {
	t.Parallel()
	s := fake(t)
	c, _ := client(t, s.URL)
	issue, err := c.Issue(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Number int
		Title  string
		Labels []struct{ Name string }
		User   struct{ Login string }
	}
	if err := json.Unmarshal(issue.Raw, &got); err != nil {
		t.Fatal(err)
	}
	if got.Number != 7 || got.Title != "It breaks" || got.Labels[0].Name != "bug" || got.User.Login != "octocat" {
		t.Errorf("got %+v, want issue 7", got)
	}
}

func TestLabelPage(t *testing.T) {
	t.Parallel()
	s := fake(t)
	repo := s.Repo("octo/many")
	for i := range 250 {
		repo.AddLabel(fmt.Sprintf("label %d", i))
	}
	s.Repo("octo/none")
	c, _ := client(t, s.URL)
	tests := []struct {
		repo          string
		page, n, last int
		first         string
	}{
		{repo: "many", page: 1, n: 100, last: 3, first: "label 0"},
		{repo: "many", page: 2, n: 100, last: 3, first: "label 100"},
		{repo: "many", page: 3, n: 50, last: 3, first: "label 200"},
		{repo: "none", page: 1, last: 1},
	}
	for _, tt := range tests {
		got, last, err := c.LabelPage(t.Context(), triage.Ref{Owner: "octo", Repo: tt.repo, Number: 1}, tt.page)
		if err != nil || len(got) != tt.n || last != tt.last || tt.n > 0 && got[0] != tt.first {
			t.Errorf("page %d of %s: got %d labels, last %d, %v", tt.page, tt.repo, len(got), last, err)
		}
	}
	if _, _, err := c.LabelPage(t.Context(), triage.Ref{Owner: "octo", Repo: "nope", Number: 1}, 1); !errors.Is(err, triage.ErrNotFound) {
		t.Errorf("no repository: got %v", err)
	}
}

func TestLabels(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 450, 2001} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			s := fake(t)
			repo := s.Repo("octo/many")
			for i := range n {
				repo.AddLabel(fmt.Sprintf("label %d", i))
			}
			c, _ := client(t, s.URL)
			got, err := c.Labels(t.Context(), "octo", "many")
			if many := n > 2000; errors.Is(err, triage.ErrTruncated) != many || err != nil && !many {
				t.Fatal(err)
			}
			if len(got) != min(n, 2000) || got == nil || n > 0 && got[0] != "label 0" {
				t.Errorf("got %d labels, want %d", len(got), min(n, 2000))
			}
		})
	}
}

func TestReadsFail(t *testing.T) {
	t.Parallel()
	denied := githubtest.Fault{Status: 403, Body: `{"message":"Resource not accessible by integration"}`}
	tests := []struct {
		name  string
		fault githubtest.Fault
		read  func(*testing.T, *github.Client) error
		want  error
		need  string
		text  string
	}{
		{name: "issue deleted", read: readIssue(9), want: triage.ErrGone, text: "read issue octo/hello#9: "},
		{name: "issue transferred", read: readIssue(10), want: triage.ErrGone, text: "301"},
		{name: "issue never there", read: readIssue(99), want: triage.ErrGone, text: "404"},
		{name: "issue denied", fault: denied, read: readIssue(7), need: "issues: read"},
		{name: "issue is no object", fault: githubtest.Fault{Status: 200, Body: "[]"}, read: readIssue(7), text: "not a JSON object"},
		{name: "issue is no JSON", fault: githubtest.Fault{Status: 200, Body: "<html>"}, read: readIssue(7), text: "read issue octo/hello#7: invalid character"},
		{name: "comments of a deleted issue", read: readComments(9), want: triage.ErrGone, text: "list comments of octo/hello#9: "},
		{name: "comments denied", fault: denied, read: readComments(7), need: "issues: read"},
		{name: "timeline of a deleted issue", read: readTimeline(9), want: triage.ErrGone, text: "read the timeline of octo/hello#9: "},
		{name: "timeline of a transferred issue", read: readTimeline(10), want: triage.ErrGone, text: "301"},
		{name: "timeline denied", fault: denied, read: readTimeline(7), need: "issues: read"},
		{name: "timeline is no list", fault: githubtest.Fault{Status: 200, Body: `{}`}, read: readTimeline(7), text: "read the timeline of octo/hello#7: json: "},
		{name: "timeline is null", fault: githubtest.Fault{Status: 200, Body: `null`}, read: readTimeline(7), text: "the answer is not a list"},
		{name: "timeline is empty", fault: githubtest.Fault{Status: 200, Body: ` `}, read: readTimeline(7), text: "200 OK with no content"},
		{name: "label unknown", read: readLabel("nope"), want: triage.ErrNotFound, text: `look up label "nope" for octo/hello#7: not found: 404 Not Found`},
		{name: "label denied", fault: denied, read: readLabel("bug"), need: "issues: read"},
		{name: "label renamed", fault: githubtest.Fault{Status: 200, Body: `{"name":"defect"}`}, read: readLabel("bug"), want: triage.ErrNotFound, text: `"defect"`},
		{name: "labels of no repository", read: readLabels("nope"), want: triage.ErrNotFound, text: "list the labels of octo/nope: "},
		{name: "labels denied", fault: denied, read: readLabels("hello"), need: "issues: read"},
		{name: "file missing", read: readFile("nope"), want: triage.ErrNotFound, text: `read file "nope" of octo/hello: `},
		{name: "file denied", fault: denied, read: readFile("README"), need: "contents: read"},
		{name: "file is a directory", read: readFile(".github"), text: "it is a directory"},
		{name: "file is a submodule", fault: githubtest.Fault{Status: 200, Body: `{"type":"submodule"}`}, read: readFile("x"), text: "it is a submodule"},
		{name: "file too large", read: readFile("large"), text: "1048577 bytes, the limit is 1048576"},
		{name: "file in an unknown encoding", fault: githubtest.Fault{Status: 200, Body: `{"type":"file","encoding":"rot13"}`}, read: readFile("x"), text: `encoding "rot13"`},
		{name: "file with broken base64", fault: githubtest.Fault{Status: 200, Body: `{"type":"file","encoding":"base64","content":"*"}`}, read: readFile("x"), text: "decode the content"},
		{name: "file is a number", fault: githubtest.Fault{Status: 200, Body: `7`}, read: readFile("x"), text: "decode the answer"},
		{name: "path out of the repository", read: readFile("../../../user"), text: "'..' part"},
		{name: "path with a hole", read: readFile("a//b"), text: "empty"},
		{name: "directory missing", read: readDir("nope"), want: triage.ErrNotFound, text: `list directory "nope" of octo/hello: `},
		{name: "directory is a file", read: readDir(".github/foreman.yml"), text: "not a directory"},
		{name: "directory denied", fault: denied, read: readDir("x"), need: "contents: read"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := fake(t)
			s.Repo("octo/hello").AddFile("large", strings.Repeat("x", 1<<20+1))
			if tt.fault.Status != 0 {
				s.Fault(tt.fault)
			}
			c, _ := client(t, s.URL)
			err := tt.read(t, c)
			checkFailure(t, err, tt.want, tt.need)
			if !strings.Contains(err.Error(), tt.text) {
				t.Errorf("got %q, want it to say %q", err, tt.text)
			}
		})
	}
}

func readIssue(n int) func(*testing.T, *github.Client) error {
	return func(t *testing.T, c *github.Client) error {
		_, err := c.Issue(t.Context(), triage.Ref{Owner: "octo", Repo: "hello", Number: n})
		return err
	}
}

func readComments(n int) func(*testing.T, *github.Client) error {
	return func(t *testing.T, c *github.Client) error {
		_, err := c.Comments(t.Context(), triage.Ref{Owner: "octo", Repo: "hello", Number: n}, time.Time{}, nil)
		return err
	}
}

func readLabel(name string) func(*testing.T, *github.Client) error {
	return func(t *testing.T, c *github.Client) error {
		_, err := c.Label(t.Context(), ref, name)
		return err
	}
}

func TestLabelIsSpeltAsTheRepositoryDoes(t *testing.T) {
	t.Parallel()
	s := fake(t)
	c, _ := client(t, s.URL)
	got, err := c.Label(t.Context(), ref, "kind/FEATURE")
	if err != nil || got != "Kind/Feature" {
		t.Errorf("got %q, %v, want Kind/Feature", got, err)
	}
	if diff := cmp.Diff([]string{"GET /repos/octo/hello/labels/kind%2FFEATURE 200"}, s.Log()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

// TestCommentsArePaged checks which comments are read, from the newest backwards, and with how many
// calls. The reading stops at a page with the comment "ours".
func TestCommentsArePaged(t *testing.T) {
	t.Parallel()
	const none = -1
	for _, tt := range []struct {
		there, ours int // there: number of comments; ours: index of the comment that stops the reading
		from, calls int // from: index of the first comment that is returned
		many        bool
	}{
		{0, none, 0, 1, false}, {100, none, 0, 1, false}, {101, none, 0, 2, false}, {400, none, 0, 4, false}, {401, none, 0, 5, false},
		{1000, none, 0, 10, false}, {2000, none, 0, 20, false}, {2001, none, 200, 20, true},
		{1000, 999, 900, 2, false}, {1000, 550, 500, 6, false}, {1000, 0, 0, 10, false}, {2001, 200, 200, 20, false}, {2001, 199, 200, 20, true},
		{99, 50, 0, 1, false},
	} {
		t.Run(fmt.Sprint(tt.there, " ", tt.ours), func(t *testing.T) {
			t.Parallel()
			s := githubtest.New(t, githubtest.Config{SkipValidation: true, Token: token})
			furnish(s)
			before := len(s.Issue("octo/hello", 7).Comments)
			for n := range tt.there {
				body := fmt.Sprint(n)
				if n == tt.ours {
					body = "ours"
				}
				s.Repo("octo/hello").AddComment(7, "alice", body)
			}
			if before != 0 {
				t.Fatalf("issue 7 has %d comments, want none", before)
			}
			c, _ := client(t, s.URL)
			got, err := c.Comments(t.Context(), ref, time.Time{}, func(c triage.Comment) bool { return c.Body == "ours" })
			if errors.Is(err, triage.ErrTruncated) != tt.many || (err != nil) != tt.many {
				t.Fatalf("got error %v", err)
			}
			if tt.many && !strings.Contains(err.Error(), "the newest 1801 of about 2100 comments") {
				t.Errorf("got %q, want the numbers of comments", err)
			}
			if len(got) != tt.there-tt.from || len(s.Log()) != tt.calls {
				t.Fatalf("got %d comments in %d calls, want %d in %d", len(got), len(s.Log()), tt.there-tt.from, tt.calls)
			}
			for n, comment := range got {
				if n += tt.from; n != tt.ours && comment.Body != fmt.Sprint(n) || comment.Author != "alice" {
					t.Fatalf("comment %d: got %q of %q, want them in order", n, comment.Body, comment.Author)
				}
			}
		})
	}
}

func TestComment(t *testing.T) {
	t.Parallel()
	s := fake(t)
	r := s.Repo("octo/hello")
	r.AddIssue(githubtest.Issue{Number: 77})
	id, other := r.AddComment(7, "alice", "hello"), r.AddComment(77, "alice", "elsewhere")
	c, _ := client(t, s.URL)
	got, err := c.Comment(t.Context(), ref, id)
	if err != nil || got.ID != id || got.Body != "hello" || got.Author != "alice" {
		t.Errorf("got %+v, %v, want the comment", got, err)
	}
	for _, id := range []int64{other, 999} {
		if got, err := c.Comment(t.Context(), ref, id); !errors.Is(err, triage.ErrNotFound) {
			t.Errorf("comment %d: got %+v, %v, want ErrNotFound", id, got, err)
		}
	}
}

func TestCommentsSince(t *testing.T) {
	t.Parallel()
	ticks := newClock()
	s := githubtest.New(t, githubtest.Config{Now: ticks.Now})
	furnish(s)
	r := s.Repo("octo/hello")
	r.AddComment(7, "alice", "old")
	if err := ticks.Sleep(t.Context(), time.Hour); err != nil {
		t.Fatal(err)
	}
	r.AddComment(7, "alice", "new")
	c, _ := client(t, s.URL)
	// The time is in another zone and has a fraction of a second. A comment of the same second must
	// be returned.
	since := ticks.Now().In(time.FixedZone("", 2*60*60)).Add(900 * time.Millisecond)
	got, err := c.Comments(t.Context(), ref, since, nil)
	if err != nil || len(got) != 1 || got[0].Body != "new" {
		t.Errorf("got %v, %v, want the new comment", got, err)
	}
	if q := s.Calls()[0].Query; q.Get("since") != "2026-11-20T13:00:00Z" || q.Get("per_page") != "100" {
		t.Errorf("got query %v, want since in UTC and 100 a page", q)
	}
}

func TestReferencesAreChecked(t *testing.T) {
	t.Parallel()
	s := fake(t)
	c, _ := client(t, s.URL)
	for _, r := range []triage.Ref{
		{}, {Owner: "octo", Repo: "hello"}, {Owner: "octo", Repo: "hello", Number: -1}, {Owner: "", Repo: "hello", Number: 7},
		{Owner: "octo/hello/issues/1#", Repo: "x", Number: 7}, {Owner: "octo", Repo: "..", Number: 7}, {Owner: ".", Repo: "hello", Number: 7},
		{Owner: "octo", Repo: "he llo", Number: 7}, {Owner: "octo", Repo: "hello?x=1", Number: 7}, {Owner: "octo", Repo: "%2e%2e", Number: 7},
		{Owner: "octo", Repo: strings.Repeat("x", 101), Number: 7},
	} {
		for _, w := range writes() {
			checkFailure(t, w.call(t.Context(), c, r), nil, "")
		}
		if _, err := c.Issue(t.Context(), r); err == nil {
			t.Errorf("%v: got success, want an error", r)
		}
	}
	if _, err := c.File(t.Context(), github.Tree{Owner: "octo", Repo: "../x"}, "f"); err == nil {
		t.Error("file: got success, want an error")
	}
	if len(s.Log()) != 0 {
		t.Errorf("got calls %v, want none", s.Log())
	}
}

func TestNewChecksTheBaseURL(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"", "https://api.github.com", "https://ghe.example.com/api/v3", "http://127.0.0.1:8080/"} {
		if _, err := github.New(github.Options{BaseURL: good}); err != nil {
			t.Errorf("%q: got %v, want success", good, err)
		}
	}
	for _, bad := range []string{"api.github.com", "ftp://x/", "https://", "https://u:hunter2@x/", "https://x/?a=hunter2", "https://x/#a", "https://u:hunter2@x/%zz"} {
		_, err := github.New(github.Options{BaseURL: bad})
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: got %v, want an error without the password", bad, err)
		}
	}
}

func readLabels(repo string) func(*testing.T, *github.Client) error {
	return func(t *testing.T, c *github.Client) error {
		_, err := c.Labels(t.Context(), "octo", repo)
		return err
	}
}
