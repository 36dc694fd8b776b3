package server_test

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/server"
	"github.com/org/foreman-action/queue/queuetest"
)

func TestNewCredentials(t *testing.T) {
	t.Parallel()
	good := server.Credential{Name: "a", Secret: "s3cret-a", Agents: []string{"HTTP://A/"}}
	tests := []struct {
		name string
		list []server.Credential
		want string
	}{
		{"none", nil, ""},
		{"good", []server.Credential{good, {Name: "b", Secret: "s3cret-b", Operator: true}, {Name: "c", Secret: "s3cret-c"}}, ""},
		{"no name", []server.Credential{{Secret: "s3cret"}}, `credential "": want a name without a colon`},
		{"colon", []server.Credential{{Name: "a:b", Secret: "s3cret"}}, `credential "a:b": want a name without a colon`},
		{"no secret", []server.Credential{{Name: "a"}}, `credential "a": its secret is empty`},
		{"operator with agents", []server.Credential{{Name: "a", Secret: "s3cret", Operator: true, Agents: []string{"http://a"}}}, `credential "a": an operator claims nothing, and needs no addresses of agents`},
		{"address", []server.Credential{{Name: "a", Secret: "s3cret", Agents: []string{"a:s3cret"}}}, `credential "a": want an address that starts with https:// or http://`},
		{"name twice", []server.Credential{good, {Name: "a", Secret: "s3cret-b"}}, `credential "a": "a" has the same name or secret`},
		{"secret twice", []server.Credential{good, {Name: "b", Secret: "s3cret-a", Operator: true}}, `credential "b": "a" has the same name or secret`},
		{"all at once", []server.Credential{{Name: "a"}, {Name: "b"}}, "credential \"a\": its secret is empty\ncredential \"b\": its secret is empty"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, err := server.NewCredentials(tt.list)
			if got := fmt.Sprint(err); got != tt.want && (err != nil || tt.want != "") {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if shown := fmt.Sprintf("%v %+v %#v %v", c, c, tt.list, err); strings.Contains(shown, "s3cret") && tt.name != "address" {
				t.Errorf("a secret is shown: %s", shown)
			}
		})
	}
}

func TestOperator(t *testing.T) {
	t.Parallel()
	c, err := server.NewCredentials([]server.Credential{{Name: "ann", Secret: "s1", Operator: true}, {Name: "ci", Secret: "s2"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, secret string
		want         bool
	}{{"ann", "s1", true}, {"ann", "s2", false}, {"ci", "s2", false}, {"", "", false}, {"ann", "", false}, {"ANN", "s1", false}} {
		if got := c.Operator(tt.name, tt.secret); got != tt.want {
			t.Errorf("Operator(%q, %q): got %v", tt.name, tt.secret, got)
		}
	}
}

// TestAdd adds the credential of an agent that the server started: the agent is bound by
// it, and others of this machine still need none.
func TestAdd(t *testing.T) {
	t.Parallel()
	c, err := server.NewCredentials(nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.New(server.Options{Queue: queuetest.New(queuetest.Options{}), Credentials: c})
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
	if err := c.Add(server.Credential{Name: "started", Secret: "hush", Agents: []string{"http://a"}}); err != nil {
		t.Fatal(err)
	}
	if err := c.Add(server.Credential{Name: "started", Secret: "other"}); err == nil {
		t.Error("a second one of that name was added")
	}
	got := fmt.Sprint(ask("hush", "http://a"), ask("hush", "http://b"), ask("", "http://b"))
	if agents, operators := c.Configured(); got != "204 403 204" || agents || operators {
		t.Errorf("got %s, %v, %v, want 204 403 204, and nothing configured", got, agents, operators)
	}
}

func TestCheckBind(t *testing.T) {
	t.Parallel()
	some, err := server.NewCredentials([]server.Credential{{Name: "ci", Secret: "s"}})
	if err != nil {
		t.Fatal(err)
	}
	people, err := server.NewCredentials([]server.Credential{{Name: "ann", Secret: "s", Operator: true}})
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]bool{
		"127.0.0.1:8000": true, "127.1.2.3:0": true, "[::1]:8000": true, "localhost:8000": true, "LOCALHOST:8000": true, "[::ffff:127.0.0.1]:80": true,
		"0.0.0.0:8000": false, ":8000": false, "[::]:8000": false, "192.168.1.1:8000": false, "example.org:80": false, "localhost.example.org:80": false, "0:80": false,
	}
	for addr, want := range tests {
		if err := server.CheckBind(addr, people); (err == nil) != want {
			t.Errorf("CheckBind(%s), without agents' credentials: got %v", addr, err)
		}
		if err := server.CheckBind(addr, some); err != nil {
			t.Errorf("CheckBind(%s), with credentials: got %v", addr, err)
		}
	}
	if err := server.CheckBind("nowhere", some); err == nil {
		t.Error("no port: got no error")
	}
}
