package assembly

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
)

// TestGitHubConnections checks that the decisions that are carried out at a time use their connections
// to GitHub again.
func TestGitHubConnections(t *testing.T) {
	t.Parallel()
	var accepted atomic.Int32
	var here sync.WaitGroup // requests of a round that have not arrived
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		here.Done()
		here.Wait() // all connections of a round are in use
	}))
	srv.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			accepted.Add(1)
		}
	}
	srv.Start()
	t.Cleanup(srv.Close)
	via := gitHubTransport()
	t.Cleanup(via.CloseIdleConnections)
	for range 5 {
		here.Add(gitHubConnections)
		var round sync.WaitGroup
		for range gitHubConnections {
			round.Go(func() {
				req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL, nil)
				if err != nil {
					t.Error(err)
					return
				}
				resp, err := via.RoundTrip(req)
				if err != nil {
					t.Error(err)
					return
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
			})
		}
		round.Wait()
	}
	// A request that begins while a connection becomes free may open another one.
	if n := accepted.Load(); n >= 2*gitHubConnections {
		t.Errorf("got %d connections for 5 rounds of %d requests", n, gitHubConnections)
	}
}
