package agent_test

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/org/foreman-action/agent"
)

func TestTLS(t *testing.T) {
	t.Parallel()
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, decisionJSON(theTask().TaskID, 1))
	}))
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.EnableHTTP2 = true
	srv.StartTLS()
	t.Cleanup(srv.Close)

	trusting := agent.RemoteOptions{URL: srv.URL, Transport: srv.Client().Transport}
	if _, err := newRemote(t, trusting).Decide(t.Context(), theTask()); err != nil {
		t.Errorf("with the certificate known: %v", err)
	}
	_, err := newRemote(t, agent.RemoteOptions{URL: srv.URL}).Decide(t.Context(), theTask())
	if e := wantError(t, err, agent.ReasonUnreachable); !strings.Contains(e.Error(), "x509: ") {
		t.Errorf("got %v, want it to tell of the certificate", err)
	}
	plain := strings.Replace(srv.URL, "https:", "http:", 1)
	_, err = newRemote(t, agent.RemoteOptions{URL: plain}).Decide(t.Context(), theTask())
	if e := wantError(t, err, agent.ReasonStatus); e.Status != http.StatusBadRequest || !strings.Contains(e.Error(), "HTTPS") {
		t.Errorf("got %v, want it to tell of https", err)
	}
}
