package hosttest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/runner/hosttest"
	"github.com/org/foreman-action/triage"
)

// A rule labels an issue. A person removes the label, so the next run leaves the issue as it is.
func ExampleNew() {
	now := func() time.Time { return time.Date(2026, 4, 10, 8, 30, 0, 0, time.UTC) }
	host := hosttest.New(hosttest.Repo{
		Owner: "octo-org", Name: "hello", Labels: []string{"bug"}, Now: now,
		Issues: []hosttest.Issue{{Issue: triage.Issue{Number: 7, Title: "It crashes", Author: "mona"}}},
	})
	cfg, err := config.Parse("foreman.yml", []byte(`
version: 1
rules:
  - {id: crash, on: issues.edited, when: issue.title contains "crash", then: [{add_label: bug}]}
`), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := runner.New(runner.Options{Config: cfg, Host: host.Host("my-app[bot]"), Clock: runner.Clock{Now: now}})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, ref := context.Background(), triage.Ref{Owner: "octo-org", Repo: "hello", Number: 7}
	person := host.Host("mona").Issues
	for _, id := range []string{"a3f8c2d1-4b5e-4f6a-8c9d-0e1f2a3b4c5d", "b3f8c2d1-4b5e-4f6a-8c9d-0e1f2a3b4c5d"} {
		issue, err := person.Issue(ctx, ref)
		if err != nil {
			fmt.Println(err)
			return
		}
		event, err := triage.NewIssueEvent("edited", triage.Repo{Owner: "octo-org", Name: "hello"}, issue, triage.Actor{Login: "mona"})
		if err != nil {
			fmt.Println(err)
			return
		}
		report, err := r.Run(ctx, runner.TaskIdentity{ID: id, First: true}, event)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s %q\n", report.Status, report.Actions[0].Reason)
		if _, err := person.Write(ctx, ref, effect.RemoveLabels{Names: []string{"bug"}}); err != nil {
			fmt.Println(err)
			return
		}
	}
	// Output:
	// applied ""
	// skipped "bug: mona removed it on 2026-04-10; Foreman does not override people (override_humans)"
}

// The tests of a host of your own. The function starts the host with the repository of each test.
func ExampleTest() {
	test := func(t *testing.T) {
		hosttest.Test(t, func(t *testing.T, r hosttest.Repo) runner.Host {
			if r.LoseAnswers {
				t.Skip("the service loses no answers")
			}
			return hosttest.New(r).Host("") // here: your host, with the labels, issues and comments of r
		})
	}
	_ = test
	// Output:
}
