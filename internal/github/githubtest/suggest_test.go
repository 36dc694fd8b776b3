package githubtest_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/github/githubtest"
)

// TestBefore switches the feature off between two calls.
func TestBefore(t *testing.T) {
	t.Parallel()
	s := furnished(t)
	r := s.Repo("octo/hello").SetAutomation(githubtest.Cautious)
	s.Before(func(method, _ string) {
		if method == "POST" {
			r.SetAutomation(githubtest.AutomationOff)
		}
	})
	if _, _, raw := call(t, s, "GET", issuePath+"/timeline", ""); !strings.Contains(string(raw), `"intent":null`) {
		t.Errorf("before: got %s, want events with intents", raw)
	}
	send(t, s, "POST "+issuePath+"/labels", `{"labels":[{"name":"x","suggest":true}]}`)
	if got := s.Issue("octo/hello", 7); !cmp.Equal(got.Labels, []string{"bug", "x"}) || got.Suggestions != nil {
		t.Errorf("after: got the labels %q and the suggestions %v, want it applied", got.Labels, got.Suggestions)
	}
	s.Before(nil)
	r.SetAutomation(githubtest.Cautious)
	send(t, s, "POST "+issuePath+"/labels", `{"labels":[{"name":"y","suggest":true}]}`)
	if got := s.Issue("octo/hello", 7); len(got.Labels) != 2 || len(got.Suggestions) != 1 {
		t.Errorf("without Before: got the labels %q and the suggestions %v, want it held", got.Labels, got.Suggestions)
	}
}

// TestLongRationale refuses a rationale of more than 280 characters, in each form of request.
func TestLongRationale(t *testing.T) {
	t.Parallel()
	for _, form := range []string{
		"POST " + issuePath + `/labels {"labels":["y",{"name":"x","rationale":"R"}]}`,
		"POST " + issuePath + `/assignees {"assignees":[{"login":"alice","rationale":"R"}]}`,
		"PATCH " + issuePath + ` {"type":{"value":"Bug","rationale":"R"}}`,
		"PATCH " + issuePath + ` {"labels":[{"name":"x","rationale":"R"}]}`,
		"PATCH " + issuePath + ` {"assignees":[{"login":"alice","rationale":"R"}]}`,
	} {
		for n, refused := range map[int]bool{280: false, 281: true} {
			s := furnished(t)
			before := s.Issue("octo/hello", 7)
			what, body, _ := strings.Cut(form, " {")
			status := send(t, s, what, "{"+strings.Replace(body, "R", strings.Repeat("ü", n), 1))
			if (status == 422) != refused || refused && !cmp.Equal(before, s.Issue("octo/hello", 7)) {
				t.Errorf("%s with %d characters: got the status %d", form, n, status)
			}
		}
	}
}

// TestEditComment edits a comment as a person does: the API shows the new text under the same id and
// author, and in the timeline.
func TestEditComment(t *testing.T) {
	t.Parallel()
	s := furnished(t)
	send(t, s, "POST "+issuePath+"/comments", `{"body":"- [ ] 1"}`)
	made := s.Issue("octo/hello", 7).Comments[0]
	s.Advance(time.Minute)
	s.Repo("octo/hello").EditComment(made.ID, "- [x] 1")
	want := made
	want.Body, want.UpdatedAt = "- [x] 1", made.UpdatedAt.Add(time.Minute)
	if diff := cmp.Diff([]githubtest.Comment{want}, s.Issue("octo/hello", 7).Comments); diff != "" {
		t.Errorf("comments (-want +got):\n%s", diff)
	}
	_, _, raw := call(t, s, "GET", issuePath+"/timeline", "")
	var events []struct {
		ID    int64
		Body  string
		Event string
		Actor struct{ Login string }
	}
	if err := json.Unmarshal(raw, &events); err != nil {
		t.Fatal(err)
	}
	if last := events[len(events)-1]; len(events) != 2 || last.ID != made.ID || last.Body != "- [x] 1" || last.Actor.Login != made.Author {
		t.Errorf("got the events %+v, want the comment with its new text", events)
	}
}

// TestNoSuggestion checks that a test cannot accept what is not pending.
func TestNoSuggestion(t *testing.T) {
	t.Parallel()
	s := furnished(t)
	defer func() {
		if got := recover(); got != `githubtest: no pending label "bug" on #7` {
			t.Errorf("got the panic %v", got)
		}
	}()
	s.Repo("octo/hello").AcceptAs("bob", 7, "label", "bug")
}
