package runner_test

import (
	"testing"
	"time"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

func TestReplay(t *testing.T) {
	t.Parallel()
	c, err := config.Parse("foreman.yml", []byte("version: 1\npolicy: {labels: {deny: [secret*]}}\nrules:\n  - {id: a, on: issues.opened, when: memory.tasks == 3, then: [lock]}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	e := triage.Delivery{Event: triage.Event{Name: "issues", Action: "opened"}, Repo: triage.Repo{Owner: "octo", Name: "hello"}, Number: 7, Issue: &triage.Issue{Number: 7, Title: "T", Author: "ann", Association: "NONE"}, Sender: triage.Actor{Login: "ann", Type: "User"}}
	f, err := runner.Replay(c, e, facts.Known{Before: facts.Memory{Tasks: 3}}, at)
	if err != nil || !f.Now.Equal(at) || f.Issue.Title != "T" || f.Actor.Association != "NONE" || f.May("secrets") || !f.May("bug") {
		t.Fatalf("got %+v, %v", f, err)
	}
	if res, err := c.Rules.Decide(t.Context(), f); err != nil || len(res.Fired) != 1 {
		t.Errorf("got %+v, %v", res, err)
	}
	e.Issue = nil
	if _, err := runner.Replay(c, e, nil, at); err == nil {
		t.Error("an event without an issue: no error")
	}
}
