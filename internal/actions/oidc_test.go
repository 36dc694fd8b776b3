package actions_test

import (
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/actions"
	"github.com/org/foreman-action/internal/actions/actionstest"
)

const (
	requestToken = "request-token-0123"
	idToken      = "eyJhbGciOiJSUzI1NiJ9.eyJhdWQiOiJhIn0.c2lnbmF0dXJl"
)

// newIssuer starts a server that plays the runner's token service, and returns a runtime that
// requests tokens from it.
func newIssuer(t *testing.T, answer http.HandlerFunc) (*actions.Runtime, *actionstest.Runner) {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	step := actionstest.NewRunner(t)
	step.Setenv("ACTIONS_ID_TOKEN_REQUEST_URL", server.URL+"/token?api-version=2.0")
	step.Setenv("ACTIONS_ID_TOKEN_REQUEST_TOKEN", requestToken)
	return actions.New(actions.Options{Getenv: step.Getenv, Stdout: step, HTTP: server.Client()}), step
}

func TestIDToken(t *testing.T) {
	t.Parallel()
	r, step := newIssuer(t, func(w http.ResponseWriter, req *http.Request) {
		if got, want := req.Header.Get("Authorization"), "Bearer "+requestToken; got != want {
			t.Errorf("authorization: got %q, want %q", got, want)
		}
		query := req.URL.Query()
		if query.Get("audience") != "https://agent.example/a b" || query.Get("api-version") != "2.0" {
			t.Errorf("query: got %v", query)
		}
		io.WriteString(w, `{"count":1,"value":"`+idToken+`"}`)
	})
	got, err := r.Tokens.IDToken(t.Context(), "https://agent.example/a b")
	if err != nil || got != idToken {
		t.Errorf("got %q, %v, want %q", got, err, idToken)
	}
	checkLog(t, step, "::add-mask::"+idToken+"\n")
}

func TestIDTokenNeedsPermission(t *testing.T) {
	t.Parallel()
	for _, missing := range []string{"ACTIONS_ID_TOKEN_REQUEST_URL", "ACTIONS_ID_TOKEN_REQUEST_TOKEN"} {
		t.Run(missing, func(t *testing.T) {
			t.Parallel()
			r, step := newIssuer(t, func(http.ResponseWriter, *http.Request) { t.Error("a request was made") })
			step.Setenv(missing, "")
			_, err := r.Tokens.IDToken(t.Context(), "a")
			if !errors.Is(err, actions.ErrNoIDToken) {
				t.Errorf("got %v, want ErrNoIDToken", err)
			}
			checkError(t, err, "add `id-token: write` to its permissions ("+missing+" is not set)")
		})
	}
}

func TestIDTokenErrors(t *testing.T) {
	t.Parallel()
	echo := "ECHO of " + requestToken
	tests := []struct {
		name   string
		answer http.HandlerFunc
		want   string
	}{
		{"forbidden", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, echo, http.StatusForbidden) }, "HTTP status 403"},
		{"redirect", func(w http.ResponseWriter, req *http.Request) {
			if req.URL.Path == "/elsewhere" {
				t.Error("the redirect is followed")
			}
			http.Redirect(w, req, "/elsewhere", http.StatusFound)
		}, "HTTP status 302"},
		{"not JSON", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, echo) }, "not the expected JSON"},
		{"other JSON", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"value":["`+echo+`"]}`) }, "not the expected JSON"},
		{"no token", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{}`) }, "contains no token"},
		{"no signed token", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"value":"`+echo+`"}`) }, "contains no token"},
		{"token with a line break", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"value":"a.b.c\nd"}`) }, "contains no token"},
		{"token with an empty part", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"value":"a..c"}`) }, "contains no token"},
		{"too large", func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, `{"value":"a.b.`+strings.Repeat("c", 1<<20)+`"}`)
		}, "not the expected JSON"},
		{"broken off", func(w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) }, "the connection failed"},
		{"not HTTP", func(w http.ResponseWriter, _ *http.Request) { hijack(t, w, echo+"\r\n\r\n") }, "the connection failed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, step := newIssuer(t, tt.answer)
			token, err := r.Tokens.IDToken(t.Context(), "a")
			checkError(t, err, "request an OIDC token: ")
			checkError(t, err, tt.want)
			if token != "" {
				t.Errorf("got the token %q beside an error", token)
			}
			if err != nil && (strings.Contains(err.Error(), requestToken) || strings.Contains(err.Error(), "ECHO")) {
				t.Errorf("the error tells too much: %v", err)
			}
			checkLog(t, step, "")
		})
	}
}

func hijack(t *testing.T, w http.ResponseWriter, answer string) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		t.Error(err)
		return
	}
	defer conn.Close()
	io.WriteString(conn, answer)
}

func TestIDTokenTime(t *testing.T) {
	t.Parallel()
	hang := func(_ http.ResponseWriter, req *http.Request) { <-req.Context().Done() }
	t.Run("canceled", func(t *testing.T) {
		t.Parallel()
		r, _ := newIssuer(t, hang)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := r.Tokens.IDToken(ctx, "a")
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want context.Canceled", err)
		}
	})
	t.Run("deadline", func(t *testing.T) {
		t.Parallel()
		r, _ := newIssuer(t, hang)
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		_, err := r.Tokens.IDToken(ctx, "a")
		checkError(t, err, "no answer in time")
	})
	t.Run("client", func(t *testing.T) {
		t.Parallel()
		step := actionstest.NewRunner(t)
		server := httptest.NewServer(http.HandlerFunc(hang))
		defer server.Close()
		step.Setenv("ACTIONS_ID_TOKEN_REQUEST_URL", server.URL)
		step.Setenv("ACTIONS_ID_TOKEN_REQUEST_TOKEN", requestToken)
		client := &http.Client{Timeout: time.Millisecond}
		start := time.Now()
		_, err := actions.New(actions.Options{Getenv: step.Getenv, HTTP: client}).Tokens.IDToken(t.Context(), "a")
		checkError(t, err, "no answer in time")
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("took %s, want the client's shorter time", took)
		}
	})
}

func TestIDTokenAddress(t *testing.T) {
	t.Parallel()
	r, step := newIssuer(t, nil)
	step.Setenv("ACTIONS_ID_TOKEN_REQUEST_URL", "http://[::1/"+requestToken)
	_, err := r.Tokens.IDToken(t.Context(), "a")
	checkError(t, err, "ACTIONS_ID_TOKEN_REQUEST_URL is not an address")
	if strings.Contains(err.Error(), requestToken) {
		t.Errorf("the address is told: %v", err)
	}
	server := httptest.NewServer(nil)
	server.Close()
	step.Setenv("ACTIONS_ID_TOKEN_REQUEST_URL", server.URL)
	_, err = r.Tokens.IDToken(t.Context(), "a")
	checkError(t, err, "request an OIDC token: dial tcp")
	checkError(t, err, "refused")
	_, err = r.Tokens.IDToken(t.Context(), "")
	checkError(t, err, "the audience is empty")
}

// TestIDTokenCertificate checks that the error names an untrusted certificate. Often a proxy is the
// cause.
func TestIDTokenCertificate(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(nil)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	step := actionstest.NewRunner(t)
	step.Setenv("ACTIONS_ID_TOKEN_REQUEST_URL", server.URL)
	step.Setenv("ACTIONS_ID_TOKEN_REQUEST_TOKEN", requestToken)
	_, err := actions.New(actions.Options{Getenv: step.Getenv}).Tokens.IDToken(t.Context(), "a")
	checkError(t, err, "certificate signed by unknown authority")
}

// TestIDTokenLeavesClient checks that the caller's client is not modified.
func TestIDTokenLeavesClient(t *testing.T) {
	t.Parallel()
	client := &http.Client{Timeout: time.Hour}
	actions.New(actions.Options{HTTP: client})
	if client.Timeout != time.Hour || client.CheckRedirect != nil {
		t.Errorf("got %+v, want it unchanged", client)
	}
}
