package action

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/actions/results/resultstest"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/triage"
)

const earnedRule = "version: 1\npolicy: {automation: earned}\nrules:\n  - {id: a, on: issues.reopened, then: [{add_label: docs}]}\n"

// TestEarnedInActions runs a rule whose track record in an artifact permits its label, and the same with records that must not
// count: nothing is earned, the label is proposed, and one warning says why.
func TestEarnedInActions(t *testing.T) {
	t.Parallel()
	const name = "foreman-memory-i0"
	good := outcomesOf(t, "org/repo", 22)
	altered := func(old, with string) string {
		text := strings.Replace(good, old, with, 1)
		if text == good {
			t.Fatalf("the record has no %s:\n%s", old, good)
		}
		return text
	}
	tests := []struct {
		name     string
		artifact resultstest.Artifact
		text     string // of the record
		older    string // of a record in an older artifact
		earned   bool
		want     string // in the warning; empty: there is none
		log      string // in the log
	}{
		{name: "proven", text: good, earned: true},
		{name: "not proven yet", text: outcomesOf(t, "org/repo", 18), log: "earned: 18 of 18 kept, bound 0.87; needs 20 judged, bound 0.85"},
		{name: "missing", want: "no track record"},
		{name: "of another repository", text: outcomesOf(t, "org/other", 22), want: "not of org/repo#0"},
		{name: "with another name", artifact: resultstest.Artifact{Name: "foreman-memory-i00"}, text: good, want: "no track record"},
		{name: "newer", text: altered(`"schema": 3`, `"schema": 99`), want: "newer version"},
		{name: "truncated", text: good[:len(good)/2], want: "truncated"},
		{name: "counts out of range", text: altered(`"accepted": 22`, `"accepted": -22`), want: "out of range"},
		{name: "counts that are text", text: altered(`"accepted": 22`, `"accepted": "22"`), want: "unusable"},
		{name: "counts that do not fit", text: altered(`"accepted": 22`, `"accepted": 1e99`), want: "unusable"},
		{name: "of a fork", artifact: resultstest.Artifact{HeadRepositoryID: 66}, text: good, want: "no track record", log: "it was made from a fork"},
		{name: "of another branch", artifact: resultstest.Artifact{HeadBranch: "feature"}, text: good, want: "no track record", log: "not made on the default branch"},
		{name: "with another digest", artifact: resultstest.Artifact{Digest: "sha256:" + strings.Repeat("0", 64)}, text: good, want: "digest"},
		{name: "expired", artifact: resultstest.Artifact{Expired: true}, text: good, want: "no track record"},
		{name: "proven, and a newer one of a fork", older: good, artifact: resultstest.Artifact{HeadRepositoryID: 66}, text: outcomesOf(t, "org/repo", 1), earned: true, log: "it was made from a fork"},
		{name: "not proven, and a newer one of a fork", older: outcomesOf(t, "org/repo", 1), artifact: resultstest.Artifact{HeadRepositoryID: 66}, text: good, log: "it was made from a fork"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			service := resultstest.New(t, resultstest.Config{})
			if tt.older != "" {
				service.Add(resultstest.Artifact{Name: name, Zip: zipped(t, tt.older)})
			}
			if tt.text != "" {
				if tt.artifact.Zip = zipped(t, tt.text); tt.artifact.Name == "" {
					tt.artifact.Name = name
				}
				service.Add(tt.artifact)
			}
			s := newStep(t)
			s.memoryIn(t, service, "artifact", 1)
			s.gh.Repo(service.Repo()).AddFile(".github/foreman.yml", earnedRule)
			if code := s.run(t.Context()); code != command.ExitOK {
				t.Fatalf("exit code %d:\n%s", code, s.Log())
			}
			i := s.gh.Issue(service.Repo(), 7)
			proposed := slices.ContainsFunc(i.Comments, func(c githubtest.Comment) bool { return strings.Contains(c.Body, "add the label `docs`") })
			if labelled := slices.Contains(i.Labels, "docs"); labelled != tt.earned || proposed == tt.earned {
				t.Errorf("labelled %t, proposed %t:\n%s", labelled, proposed, s.Log())
			}
			_, warning, warned := strings.Cut(s.Log(), "::warning title=Foreman::")
			warning, more, _ := strings.Cut(warning, "\n")
			if warned != (tt.want != "") || !strings.Contains(warning, tt.want) || strings.Contains(more, "::warning") {
				t.Errorf("want one warning with %q:\n%s", tt.want, s.Log())
			}
			s.wantLog(t, tt.log)
		})
	}
}

// outcomesOf returns the record of a repository in which people accepted the label of the rule a number of times, on issues
// of as many authors.
func outcomesOf(t *testing.T, repo string, n int) string {
	t.Helper()
	c, err := config.Parse("foreman.yml", []byte(earnedRule), func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	d, err := triage.ParseEvent(triage.EventSource{Name: "issues", Payload: []byte(strings.Replace(issueOpened, `"opened"`, `"reopened"`, 1))})
	if err != nil {
		t.Fatal(err)
	}
	res, err := c.Rules.Decide(t.Context(), facts.Of(d, time.Now()))
	if err != nil || len(res.Digests) != 1 {
		t.Fatal(res, err)
	}
	var o memory.Outcomes
	at := time.Now().UTC().AddDate(0, 0, -20)
	for i := range n {
		k := memory.PairKey{Source: memory.RuleSource(res.Digests[0]), Action: protocol.ActionAddLabel, Value: "docs"}
		r := memory.Result{Outcome: memory.OutcomeAccepted, Issue: 100 + i, Author: fmt.Sprint("author-", i), Acted: at, At: at}
		if !o.Count(k, "a", r, memory.Threshold{Bound: 0.85, Of: 20}) {
			t.Fatal("not counted")
		}
	}
	data, err := memory.Encode(memory.Record{Repo: repo, Issue: memory.Repository, Revision: 1, Outcomes: &o})
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
