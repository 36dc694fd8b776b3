package agent_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/agent"
	"github.com/org/foreman-action/internal/agenttest"
	"github.com/org/foreman-action/protocol"
)

// TestRequestBytes pins every byte of a request, headers included.
func TestRequestBytes(t *testing.T) {
	t.Setenv("GITHUB_TOKEN", "ghs_hunter2")
	t.Setenv("ACTIONS_RUNTIME_TOKEN", "hunter2")
	bearer := func(context.Context) (string, error) { return "Bearer abc", nil }
	summary := "Labelled bug; a comment was posted."
	remembered := theTask()
	remembered.Context.MemorySummary = &summary
	tests := []struct {
		name     string
		task     protocol.TaskMessage
		userinfo string
		o        agent.RemoteOptions // URL is only the part after the host
	}{
		{"plain", theTask(), "", agent.RemoteOptions{}},
		{"everything", remembered, "bot:hunter2@", agent.RemoteOptions{URL: "/api/?v=1&x=a%20b", Authorize: bearer, UserAgent: "foreman/1.2"}},
		{"basic", theTask(), "bot:p%40ss@", agent.RemoteOptions{}},
		{"basic-when-authorize-gives-nothing", theTask(), "only-a-token@", agent.RemoteOptions{
			Authorize: func(context.Context) (string, error) { return "", nil },
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			srv := newRawServer(t, []byte("HTTP/1.1 200 OK\r\n\r\n"+decisionJSON(tt.task.TaskID, 1)))
			tt.o.URL = "http://" + tt.userinfo + srv.host + tt.o.URL
			if _, err := newRemote(t, tt.o).Decide(t.Context(), tt.task); err != nil {
				t.Fatal(err)
			}
			got := strings.NewReplacer(srv.host, "AGENT", "\r\n", "\n").Replace(string(<-srv.got)) + "\n"
			golden := "testdata/request/" + tt.name + ".http"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			wantNone(t, got, "hunter2")
		})
	}
}

// TestOneRequest checks that no request is repeated, whatever the answer is.
func TestOneRequest(t *testing.T) {
	t.Parallel()
	elsewhere := agenttest.New(t, nil)
	tests := []struct {
		name   string
		answer agenttest.Answer
		reason agent.Reason
	}{
		{"unavailable", agenttest.Status(http.StatusServiceUnavailable, "later"), agent.ReasonStatus},
		{"too many", agenttest.Answer{Status: 429, Header: http.Header{"Retry-After": {"0"}}}, agent.ReasonStatus},
		{"cut off", agenttest.Answer{Cut: agenttest.CutBeforeHeaders}, agent.ReasonUnreachable},
		{"cut inside", agenttest.Answer{Body: []byte("{}"), Cut: agenttest.CutInBody}, agent.ReasonUnreachable},
		{"moved", agenttest.Redirect(http.StatusMovedPermanently, elsewhere.URL), agent.ReasonStatus},
		{"see other", agenttest.Redirect(http.StatusSeeOther, elsewhere.URL), agent.ReasonStatus},
		{"temporary", agenttest.Redirect(http.StatusTemporaryRedirect, elsewhere.URL), agent.ReasonStatus},
		{"permanent", agenttest.Redirect(http.StatusPermanentRedirect, "::not an address"), agent.ReasonStatus},
		{"other task", agenttest.WrongTask("x"), agent.ReasonWrongTask},
		{"garbage", agenttest.Raw("\x00garbage"), agent.ReasonNotJSON},
		{"huge", agenttest.Huge(agent.DefaultMaxBytes), agent.ReasonTooLarge},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			srv := agenttest.New(t, func(protocol.TaskMessage) agenttest.Answer { return tt.answer })
			m, err := newRemote(t, agent.RemoteOptions{URL: srv.URL}).Decide(t.Context(), theTask())
			e := wantError(t, err, tt.reason)
			if m.Decision != "" || m.Actions != nil {
				t.Errorf("got decision %+v beside an error, want none", m)
			}
			if want := srv.URL + "/task"; e.Address != want {
				t.Errorf("got address %s, want %s", e.Address, want)
			}
			if n := len(srv.Requests()); n != 1 {
				t.Errorf("got %d requests, want 1", n)
			}
		})
	}
	t.Cleanup(func() {
		if n := len(elsewhere.Requests()); n != 0 {
			t.Errorf("a redirect was followed %d times", n)
		}
	})
}

// TestAuthorizeEachCall checks that Authorize is called before every call.
func TestAuthorizeEachCall(t *testing.T) {
	t.Parallel()
	srv := agenttest.New(t, nil)
	n := 0
	r := newRemote(t, agent.RemoteOptions{URL: srv.URL, Authorize: func(context.Context) (string, error) {
		n++
		return "Bearer " + strings.Repeat("x", n), nil
	}})
	for range 3 {
		if _, err := r.Decide(t.Context(), theTask()); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, req := range srv.Requests() {
		got = append(got, req.Header.Get("Authorization"))
	}
	if diff := cmp.Diff([]string{"Bearer x", "Bearer xx", "Bearer xxx"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestAuthorizeErrors(t *testing.T) {
	t.Parallel()
	errRefused := errors.New("GET https://bot:hunter2@issuer.example/token?key=hunter2: denied\n::error::x")
	tests := []struct {
		name   string
		header string
		err    error
		want   string
	}{
		{"refused", "", errRefused, "get its authorization: GET https://issuer.example/token denied ::error::x"},
		{"header in the error", "Bearer hunter2", errors.New("sign hunter2: broken"), "get its authorization: sign ***: broken"},
		{"token in the error", "", errors.New("bad eyJhbGciOi.eyJpc3Mi.hunter2 here"), "get its authorization: bad *** here"},
		{"line break in the header", "Bearer hunter2\r\nX-Evil: 1", nil, "get its authorization: it contains a control character"},
		{"zero byte in the header", "Bearer hunter2\x00", nil, "get its authorization: it contains a control character"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			srv := agenttest.New(t, nil)
			r := newRemote(t, agent.RemoteOptions{URL: srv.URL, Authorize: func(context.Context) (string, error) {
				return tt.header, tt.err
			}})
			_, err := r.Decide(t.Context(), theTask())
			e := wantError(t, err, agent.ReasonAuth)
			if got := e.Err.Error(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if tt.err != nil && !errors.Is(err, tt.err) {
				t.Errorf("errors.Is does not see the cause of %v", err)
			}
			wantNone(t, chain(err), "hunter2")
			if n := len(srv.Requests()); n != 0 {
				t.Errorf("got %d requests, want none", n)
			}
		})
	}
}

// chain returns the texts of an error and of all errors that can be unwrapped from it.
func chain(err error) string {
	var b strings.Builder
	for ; err != nil; err = errors.Unwrap(err) {
		b.WriteString(err.Error() + "\n")
	}
	return b.String()
}

func TestBrokenTask(t *testing.T) {
	t.Parallel()
	srv := agenttest.New(t, nil)
	task := theTask()
	task.Payload = []byte(`{"title":`)
	_, err := newRemote(t, agent.RemoteOptions{URL: srv.URL}).Decide(t.Context(), task)
	wantError(t, err, agent.ReasonInvalid)
	if n := len(srv.Requests()); n != 0 {
		t.Errorf("got %d requests, want none", n)
	}
}
