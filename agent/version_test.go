package agent_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/org/foreman-action/agent"
	"github.com/org/foreman-action/protocol"
)

// TestVersionOfAnswer sends a version with a decision. What is not a version is not sent, and is ignored
// if another agent sends it.
func TestVersionOfAnswer(t *testing.T) {
	t.Parallel()
	longest := strings.Repeat("v", 64)
	for sent, want := range map[string]string{"": "", "v1.2_b-3": "v1.2_b-3", longest: longest, longest + "v": "", "v 1": "", "<script>": "", "é": ""} {
		srv := httptest.NewServer(agent.NewHandler(agent.HandlerOptions{Decide: proposing, Version: sent}))
		t.Cleanup(srv.Close)
		other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set(protocol.AgentVersionHeader, sent)
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"task_id":"` + theTask().TaskID + `","decision":"skip","rationale":"","actions":[]}`))
		}))
		t.Cleanup(other.Close)
		for _, url := range []string{srv.URL, other.URL} {
			d, err := newRemote(t, agent.RemoteOptions{URL: url}).Decide(t.Context(), theTask())
			if err != nil || d.AgentVersion != want {
				t.Errorf("%q: got %q, %v, want %q", sent, d.AgentVersion, err, want)
			}
		}
	}
}

func TestVersionOfCompletion(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"", "v1.2"} {
		var got atomic.Value
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/queue/complete" {
				got.Store(strings.Join(r.Header.Values(protocol.AgentVersionHeader), ","))
			}
			w.WriteHeader(http.StatusAccepted)
		}))
		t.Cleanup(srv.Close)
		c := newClient(t, agent.ClientOptions{URL: srv.URL, AgentURL: "http://agent:8000", Version: version})
		task := theTask()
		if err := c.CompleteTask(t.Context(), &task, protocol.DecisionMessage{Decision: protocol.Skip}); err != nil || got.Load() != version {
			t.Errorf("%q: got %q, %v", version, got.Load(), err)
		}
	}
	if _, err := agent.NewClient(agent.ClientOptions{URL: "http://localhost", AgentURL: "http://agent:8000", Version: "v 1"}); err == nil || !strings.Contains(err.Error(), "version") {
		t.Errorf("got %v", err)
	}
}

func TestHost(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"https://user:secret@Agent.example:8443/x?token=1": "Agent.example", "http://[::1]:8000": "::1", "http://127.0.0.1": "127.0.0.1",
	} {
		if got := newRemote(t, agent.RemoteOptions{URL: url}).Host(); got != want {
			t.Errorf("%s: got %s, want %s", url, got, want)
		}
	}
}
