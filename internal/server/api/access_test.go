package api_test

import (
	"fmt"
	"net/http/httptest"
	"testing"

	"github.com/org/foreman-action/internal/server/access"
	"github.com/org/foreman-action/internal/server/api"
	"github.com/org/foreman-action/queue"
)

// TestAdd adds the credential of an agent that the server started. The credential is valid only for
// that agent, and other programs on this machine still need no credential.
func TestAdd(t *testing.T) {
	t.Parallel()
	c, err := access.NewCredentials(nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := api.New(api.Options{Queue: queue.New(queue.Options{}), Credentials: c})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(secret, agent string) int {
		r := post("/queue/next", `{"agent_url":"`+agent+`"}`)
		if secret != "" {
			r.SetBasicAuth("started", secret)
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		return w.Code
	}
	if err := c.Add(access.Credential{Name: "started", Secret: "hush", Agents: []string{"http://a"}}); err != nil {
		t.Fatal(err)
	}
	if err := c.Add(access.Credential{Name: "started", Secret: "other"}); err == nil {
		t.Error("a second one of that name was added")
	}
	got := fmt.Sprint(ask("hush", "http://a"), ask("hush", "http://b"), ask("", "http://b"))
	if agents, operators := c.Configured(); got != "204 403 204" || agents || operators {
		t.Errorf("got %s, %v, %v, want 204 403 204, and nothing configured", got, agents, operators)
	}
}
