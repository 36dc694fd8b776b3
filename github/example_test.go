package github_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/github"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

// A dry run on GitHub: the rule looks up a permission, and nothing is written.
func Example() {
	// This server stands for api.github.com.
	answers := map[string]string{
		"/repos/octo-org/hello/collaborators/mona/permission": `{"permission": "admin", "role_name": "admin"}`,
		"/repos/octo-org/hello/issues/7/timeline":             `[]`,
		"/repos/octo-org/hello/labels/urgent":                 `{"name": "urgent"}`,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, answers[r.URL.Path])
	}))
	defer server.Close()

	host, err := github.New(github.Options{
		Token:   func(context.Context) (string, error) { return "ghp_of_my_account", nil },
		BaseURL: server.URL, // without it: https://api.github.com
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	cfg, err := config.Parse("foreman.yml", []byte(`
version: 1
rules:
  - {id: urgent, when: 'actor.permission == "admin"', then: [{add_label: urgent}]}
`), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := runner.New(runner.Options{Config: cfg, Host: host.Host("my-account"), DryRun: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	report, err := r.Run(context.Background(), runner.TaskIdentity{}, triage.Delivery{
		Event: triage.Event{Name: "issues", Action: "opened"}, Repo: triage.Repo{Owner: "octo-org", Name: "hello"}, Number: 7,
		Issue: &triage.Issue{Number: 7, Title: "It crashes", State: "open", Author: "mona"}, Sender: triage.Actor{Login: "mona"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(report.Status, report.Actions[0].Action)
	// Output:
	// dry_run {"type":"add_label","label":"urgent"}
}
