package agent_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/org/foreman-action/agent"
	"github.com/org/foreman-action/protocol"
)

func Example() {
	// An agent that answers every task with the same decision.
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"task_id": "42", "decision": "label_and_respond", "rationale": "looks like a bug",
			"actions": [{"type": "add_label", "label": "bug"}]}`)
	}))
	defer srv.Close()

	remote, err := agent.NewRemote(agent.RemoteOptions{
		URL:       srv.URL,
		Authorize: func(context.Context) (string, error) { return "Bearer secret", nil },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	decision, err := remote.Decide(context.Background(), protocol.TaskMessage{
		TaskID:  "42",
		Type:    protocol.TypeIssueTriage,
		Repo:    "octo-org/hello",
		Payload: []byte(`{"number": 7, "title": "It crashes"}`),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(decision.Decision, decision.Actions)
	// Output: label_and_respond [{"type":"add_label","label":"bug"}]
}

func ExampleError() {
	srv := httptest.NewServer(http.NotFoundHandler())
	defer srv.Close()

	remote, err := agent.NewRemote(agent.RemoteOptions{URL: srv.URL})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = remote.Decide(context.Background(), protocol.TaskMessage{TaskID: "42", Payload: []byte("{}")})
	if e, ok := errors.AsType[*agent.Error](err); ok {
		fmt.Println(e.Reason, e.Status, e.Err)
	}
	// Output: status 404 status 404 Not Found: "404 page not found"
}
