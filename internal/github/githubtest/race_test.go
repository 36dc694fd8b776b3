package githubtest

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/triage"
)

// A race is one issue that people change while a client writes with intents. It carries the client's
// calls to the server, without a connection. People act before and after each call.
type race struct {
	*testing.T
	*rand.Rand

	s      *Server
	repo   *Repo
	number int
	people map[string]bool // labels and assignees that a person set, and that no person removed
	after  Issue           // the issue immediately after the last call
	lost   bool            // a call removed a label or an assignee of a person
}

const (
	raceRepo = "octo/race"
	racer    = "mona"
)

// RoundTrip implements http.RoundTripper.
func (r *race) RoundTrip(req *http.Request) (*http.Response, error) {
	var body []byte
	if req.Body != nil {
		var err error
		if body, err = io.ReadAll(req.Body); err != nil {
			return nil, err
		}
	}
	r.act()
	a, _ := r.s.answer(req, body)
	r.after = r.s.Issue(raceRepo, r.number)
	for name := range r.people {
		r.lost = r.lost || !slices.Contains(r.after.Labels, name) && !slices.Contains(r.after.Assignees, name)
	}
	sent := a.encode(r.s.clock.Now())
	r.act()
	return &http.Response{StatusCode: sent.Status, Header: sent.Header, Body: io.NopCloser(bytes.NewReader(sent.Body)), Request: req}, nil
}

// act lets a person act, or somebody change the level of the repository.
func (r *race) act() {
	labels, logins := []string{"a", "b", "c"}, []string{"alice", "bob"}
	for r.IntN(2) == 0 {
		label, login := pick(r, labels), pick(r, logins)
		switch r.IntN(7) {
		case 0, 1:
			r.repo.LabelAs(racer, r.number, label)
			r.people[label] = true
		case 2:
			r.repo.UnlabelAs(racer, r.number, label)
			delete(r.people, label)
		case 3:
			r.repo.AssignAs(racer, r.number, login)
			r.people[login] = true
		case 4:
			r.repo.SetAutomation(pick(r, []Automation{AutomationOff, AutomationApplies, FullControl, Cautious, Balanced, FullAutomation}))
		case 5:
			if r.s.Issue(raceRepo, r.number).State == "open" {
				r.repo.CloseAs(racer, r.number, "")
			} else {
				r.repo.ReopenAs(racer, r.number)
			}
		case 6:
			if list := r.s.Issue(raceRepo, r.number).Suggestions; len(list) > 0 {
				s, accept := pick(r, list), r.IntN(2) == 0
				r.repo.end(racer, r.number, s.Kind, s.Value, accept)
				if accept && s.Kind != "type" {
					r.people[s.Value] = true
				}
			}
		}
	}
}

func pick[T any](r *race, list []T) T { return list[r.IntN(len(list))] }

// write makes one write with random intents. A label or an assignee may have none beside another that
// has one.
func (r *race) write(c *github.Client) {
	in := []effect.Intent{{Confidence: pick(r, protocol.Confidences()), Suggest: r.IntN(2) == 0}, {Suggest: r.IntN(2) == 0}}
	var e effect.Effect
	switch r.IntN(4) {
	case 0, 1:
		e = effect.AddLabels{Names: pick(r, [][]string{{"a", "B"}, {"b", "d"}, {"d", "A"}}), Intents: in}
	case 2:
		e = effect.Assign{Logins: []string{"Alice", "bob"}, Intents: in}
	case 3:
		e = effect.SetType{Name: pick(r, []string{"Bug", "task"}), Intent: in[0]}
	}
	w, err := c.Write(r.Context(), r.ref(), e)
	if err != nil {
		r.Fatalf("issue %d: %v", r.number, err)
	}
	if _, ok := e.(effect.SetType); ok {
		return
	}
	for _, name := range effect.Values(e) {
		has := slices.ContainsFunc(append(r.after.Labels, r.after.Assignees...), func(s string) bool { return strings.EqualFold(s, name) })
		if held := slices.Contains(w.Held, name); held == has {
			r.Errorf("issue %d: after %+v it has %s: %t; got %+v", r.number, e, name, has, w)
		}
	}
}

func (r *race) ref() triage.Ref { return triage.Ref{Owner: "octo", Repo: "race", Number: r.number} }

// runRaces runs races on n issues. In each, write is called up to four times.
func runRaces(t *testing.T, n int, write func(*race, *github.Client)) (lost int) {
	t.Helper()
	s := New(t, Config{SkipValidation: true})
	s.Repo(raceRepo).AddLabel("a", "b", "c", "d").AddUser("alice", "bob")
	r := &race{T: t, s: s, repo: s.Repo(raceRepo)}
	c, err := github.New(github.Options{BaseURL: s.URL, Token: "t", Transport: r})
	if err != nil {
		t.Fatal(err)
	}
	for r.number = 1; r.number <= n; r.number++ {
		r.Rand, r.people, r.lost = rand.New(rand.NewPCG(54, uint64(r.number))), map[string]bool{}, false
		r.repo.AddIssue(Issue{Number: r.number}).SetAutomation(pick(r, []Automation{AutomationOff, FullControl, Cautious, Balanced, FullAutomation}))
		for range 1 + r.IntN(4) {
			write(r, c)
		}
		if r.lost {
			lost++
		}
	}
	return lost
}

// TestRaces makes 10,000 races. Whatever people do, and whatever level the repository has at a time,
// no write with an intent removes a label or an assignee that a person set.
func TestRaces(t *testing.T) {
	t.Parallel()
	if lost := runRaces(t, 10_000, (*race).write); lost > 0 {
		t.Errorf("on %d issues, a label or an assignee of a person is gone", lost)
	}
}

// TestRacesOfAList makes the same races with a client that reads the labels and sets the whole list.
// Labels that people add meanwhile are lost, so TestRaces would find such a write.
func TestRacesOfAList(t *testing.T) {
	t.Parallel()
	lost := runRaces(t, 1000, func(r *race, c *github.Client) {
		i, err := c.Issue(r.Context(), r.ref())
		if err != nil {
			r.Fatal(err)
		}
		var list []string
		for _, name := range i.Labels {
			list = append(list, `"`+name+`"`)
		}
		body := `{"labels":[` + strings.Join(append(list, `{"name":"d","suggest":true}`), ",") + `]}`
		path := fmt.Sprintf("%s/repos/%s/issues/%d", r.s.URL, raceRepo, r.number)
		req, err := http.NewRequestWithContext(r.Context(), http.MethodPatch, path, strings.NewReader(body))
		if err != nil {
			r.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		resp, err := r.RoundTrip(req)
		if err != nil || resp.StatusCode != http.StatusOK {
			r.Fatalf("got %v, %v", resp, err)
		}
	})
	if lost == 0 {
		t.Error("no label of a person is gone: the races are too slow")
	}
}
