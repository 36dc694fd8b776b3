package results_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/org/foreman-action/internal/actions/results"
	"github.com/org/foreman-action/internal/actions/results/resultstest"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/triage"
)

// One run records its actions in an artifact, and the next run reads them. The job may not write
// the cache: that is reported, but it is not a failure.
func Example() {
	service, err := resultstest.Start(resultstest.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer service.Close()
	service.Deny(resultstest.CacheWrite, true)

	options := results.Options{ // a job reads all these values from its environment
		ResultsURL: service.URL, RuntimeToken: service.RuntimeToken(resultstest.Job{}), ServerURL: "https://github.com",
		Repo: "org/repo", RepositoryID: service.RepositoryID(), DefaultBranch: "main",
		APIURL: service.URL, Token: service.RESTToken(),
	}
	remember := func(r *memory.Record) error {
		r.Put(memory.Task{
			ID: "a3f8c2d1-4b5e-4f6a-8c9d-0e1f2a3b4c5d", At: time.Date(2026, 4, 10, 8, 30, 0, 0, time.UTC),
			Event: "issues.opened", Decision: protocol.LabelAndRespond, By: "rules", Status: "applied",
			Actions: []memory.Action{{Type: protocol.ActionAddLabel, Values: []string{"bug"}, Rule: "crash", Result: triage.Done}},
		})
		return nil
	}
	first, err := results.NewArtifact(options)
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := memory.Update(context.Background(), first, "org/repo", 42, remember); err != nil {
		fmt.Println(err)
		return
	}

	options.RuntimeToken = service.RuntimeToken(resultstest.Job{})
	second, err := results.NewArtifact(options)
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := second.Load(context.Background(), "org/repo", 42)
	if err != nil {
		fmt.Println(err)
		return
	}
	text, _ := memory.Summary(r)
	fmt.Println(text)

	closed, err := results.NewCache(options)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = memory.Update(context.Background(), closed, "org/repo", 42, remember)
	fmt.Println(errors.Is(err, results.ErrDenied))
	// Output:
	// Issue #42: labelled 'bug' on 2026-04-10 (rule crash). No further actions.
	// true
}
