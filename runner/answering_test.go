package runner_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/runner/internal/proposal"
	"github.com/org/foreman-action/triage"
)

// An utterance is the event of a comment on issue 1. An edit has the text before it.
type utterance struct{ action, author, sender, body, from string }

func (s utterance) event(t *testing.T) triage.Delivery {
	t.Helper()
	senderType := "User"
	if strings.HasSuffix(s.sender, "[bot]") {
		senderType = "Bot"
	}
	data, err := json.Marshal(map[string]any{
		"action": s.action, "repository": map[string]any{"full_name": repoName}, "sender": map[string]any{"login": s.sender, "type": senderType},
		"issue":   map[string]any{"number": 1, "title": "It crashes", "body": "a panic", "state": "open"},
		"comment": map[string]any{"id": 5, "body": s.body, "user": map[string]any{"login": s.author}},
		"changes": map[string]any{"body": map[string]any{"from": s.from}},
	})
	if err != nil {
		t.Fatal(err)
	}
	d, err := triage.ParseEvent(triage.EventSource{Name: triage.EventIssueComment, Payload: data})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestAnsweringOf classifies events.
func TestAnsweringOf(t *testing.T) {
	t.Parallel()
	const bot = "foreman[bot]"
	const open = "<!-- foreman:v1 task=00000000-0000-4000-8000-000000000001 comment=0 key=foreman-suggestions -->\n\n" +
		"- [ ] **1** add the label `bug` · high <!-- foreman:p 1 0123456789abcdef -->"
	ticked := strings.Replace(open, "[ ]", "[x]", 1)
	tests := []struct {
		name string
		utterance
		want runner.Answering
	}{
		{"tick", utterance{"edited", bot, "mona", ticked, open}, runner.Answer},
		{"untick", utterance{"edited", bot, "mona", open, ticked}, runner.OwnComment},
		{"text", utterance{"edited", bot, "mona", open + "!", open}, runner.OwnComment},
		{"by us", utterance{"edited", bot, bot, ticked, open}, runner.OwnComment},
		{"by a program", utterance{"edited", bot, "renovate[bot]", ticked, open}, runner.OwnComment},
		{"a stranger's copy", utterance{"edited", "octocat", "octocat", ticked, open}, runner.NoAnswer},
		{"another comment of ours", utterance{"edited", bot, "mona", "<!-- foreman:v1 task=00000000-0000-4000-8000-000000000001 comment=0 -->\n\n- [x] a", ""}, runner.NoAnswer},
		{"command", utterance{"created", "tess", "tess", "Yes.\n/foreman accept 1, 2\n/foreman reject all", ""}, runner.Answer},
		{"command of a program", utterance{"created", "x[bot]", "x[bot]", "/foreman accept 1", ""}, runner.NoAnswer},
		{"two kinds", utterance{"created", "tess", "tess", "/foreman accept 1\n/foreman triage", ""}, runner.NoAnswer},
		{"unknown as well", utterance{"created", "tess", "tess", "/foreman accept 1\n/foreman fly", ""}, runner.NoAnswer},
		{"edited command", utterance{"edited", "tess", "tess", "/foreman accept 1", ""}, runner.NoAnswer},
		{"text alone", utterance{"created", "tess", "tess", "accept 1", ""}, runner.NoAnswer},
	}
	for _, tt := range tests {
		d := tt.event(t)
		if got := runner.AnsweringOf(d, bot); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
		if got, want := runner.HasCommand(d), tt.want == runner.Answer && tt.action == "created" || strings.HasPrefix(tt.name, "two") || strings.HasPrefix(tt.name, "unknown"); got != want {
			t.Errorf("%s: has a command: %v, want %v", tt.name, got, want)
		}
	}
	own := utterance{"edited", "mona", "mona", ticked, open} // the token is one of a person
	if got := runner.AnsweringOf(own.event(t), "mona"); got != runner.OwnComment {
		t.Errorf("by us, with the token of a person: got %q", got)
	}
}

// TestAgentWaits checks on which events an agent is asked while proposals wait.
func TestAgentWaits(t *testing.T) {
	t.Parallel()
	issue := triage.Issue{Number: 1, Title: "It crashes", Body: "a panic"}
	event := func(action string, i triage.Issue) triage.Delivery {
		return triage.Delivery{Event: triage.Event{Name: triage.EventIssues, Action: action}, Repo: triage.Repo{Owner: "o", Name: "r"}, Number: 1, Issue: &i}
	}
	var waits, other memory.Record
	item, err := protocol.NewAction(protocol.ActionAddLabel, map[string]any{"label": "bug"})
	if err != nil {
		t.Fatal(err)
	}
	p := memory.Proposal{ID: "p", At: time.Now(), Expires: time.Now().Add(time.Hour), Action: item, Carrier: triage.CarrierComment, Text: "0000000000000000"}
	waits.Propose(p)
	p.Source = "crash"
	other.Propose(p)
	tests := []struct {
		name   string
		d      triage.Delivery
		polled bool
		want   bool
	}{
		{"opened", event("opened", issue), false, false},
		{"edited", event("edited", issue), false, false},
		{"reopened", event("reopened", issue), true, false},
		{"labeled", event("labeled", issue), false, true},
		{"comment", utterance{"created", "mona", "mona", "why?", ""}.event(t), false, true},
		{"triage", utterance{"created", "mona", "mona", "/foreman triage", ""}.event(t), false, false},
		{"dispatch", triage.Delivery{Event: triage.Event{Name: triage.EventWorkflowDispatch}}, false, false},
		{"another text, polled", event("edited", issue), true, false},
	}
	for _, tt := range tests {
		if got := runner.AgentWaits(waits, tt.d, tt.polled); got != tt.want {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
		if runner.AgentWaits(other, tt.d, tt.polled) {
			t.Errorf("%s: proposals of a rule keep the agent from being asked", tt.name)
		}
	}
	same := waits
	same.Proposals = slices.Clone(waits.Proposals)
	same.Proposals[0].Text = proposal.TextDigest(issue)
	if !runner.AgentWaits(same, event("edited", issue), true) || runner.AgentWaits(same, event("edited", issue), false) {
		t.Error("an edit of the same text: want that the agent waits if polling reports it, and only then")
	}
}

// TestTidy lets proposals expire without an event, on an issue that exists and on one that is gone.
func TestTidy(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	gh := githubtest.New(t, githubtest.Config{Now: func() time.Time { return now }})
	repo := gh.Repo(repoName).AddLabel("bug").AddIssue(githubtest.Issue{Number: 1, Title: "It crashes", Author: "octocat"})
	host, err := github.New(github.Options{BaseURL: gh.URL, Token: "t", Sleep: noSleep})
	if err != nil {
		t.Fatal(err)
	}
	store := memory.New()
	o := runner.Options{
		Host: runner.HostOf(host), Memory: runner.Memory{Store: store, Agenda: store},
		Clock: runner.Clock{Now: func() time.Time { return now }, Sleep: noSleep},
	}
	item, err := protocol.NewAction(protocol.ActionAddLabel, map[string]any{"label": "bug"})
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= 2; n++ { // there is no issue 2
		rec := memory.Record{Repo: repoName, Issue: n}
		rec.Propose(memory.Proposal{ID: "old", At: now.Add(-48 * time.Hour), Expires: now.Add(-time.Hour), Action: item, Carrier: triage.CarrierComment})
		rec.Propose(memory.Proposal{ID: "new", At: now, Expires: now.Add(time.Hour), Action: item, Carrier: triage.CarrierComment, Source: "crash"})
		if err := store.Save(t.Context(), rec); err != nil {
			t.Fatal(err)
		}
	}
	tidy := func(n int, want string) {
		t.Helper()
		r, err := runner.New(o)
		if err != nil {
			t.Fatal(err)
		}
		id := runner.TaskIdentity{ID: "00000000-0000-4000-8000-000000000001", First: true}
		d := triage.Delivery{Event: triage.Event{Name: triage.EventSchedule}, Repo: triage.Repo{Owner: strings.Split(repoName, "/")[0], Name: strings.Split(repoName, "/")[1]}, Number: n}
		rep, err := r.Tidy(t.Context(), id, d)
		if err != nil || rep.Reason != want || rep.Status != runner.StatusSkipped {
			t.Errorf("issue %d: got %s (%s), %v, want %s", n, rep.Status, rep.Reason, err, want)
		}
	}
	state := func(n int, want string) {
		t.Helper()
		rec, err := store.Load(t.Context(), repoName, n)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, p := range rec.Proposals {
			got += p.ID + " " + string(p.State) + "; "
		}
		if got != want {
			t.Errorf("issue %d: got %s, want %s", n, got, want)
		}
	}
	const none = "no proposal waits on the issue"
	o.DryRun = true
	tidy(1, none)
	o.DryRun, o.Memory = false, runner.Memory{}
	tidy(1, none)
	o.Memory = runner.Memory{Store: store, Agenda: store}
	tidy(3, none) // it has no record
	state(1, "old pending; new pending; ")
	tidy(1, "brought the proposals up to date")
	state(1, "old expired; new pending; ")
	if list := gh.Issue(repoName, 1).Comments; len(list) != 1 || !strings.Contains(list[0].Body, "- [ ] **2** add the label `bug`") {
		t.Errorf("got %+v", list)
	}
	tidy(2, triage.ErrGone.Error())
	state(2, "old expired; new overtaken; ")
	repo.LabelAs("mona", 1, "bug")
	tidy(1, "brought the proposals up to date")
	state(1, "old expired; new overtaken; ")
	calls := len(gh.Calls())
	tidy(1, none)
	if got := len(gh.Calls()); got != calls {
		t.Errorf("%d calls without a proposal", got-calls)
	}
}
