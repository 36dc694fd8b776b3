package access_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/server/access"
)

func TestNewCredentials(t *testing.T) {
	t.Parallel()
	good := access.Credential{Name: "a", Secret: "s3cret-a", Agents: []string{"HTTP://A/"}}
	tests := []struct {
		name string
		list []access.Credential
		want string
	}{
		{"none", nil, ""},
		{"good", []access.Credential{good, {Name: "b", Secret: "s3cret-b", Operator: true}, {Name: "c", Secret: "s3cret-c"}}, ""},
		{"no name", []access.Credential{{Secret: "s3cret"}}, `credential "": want a name without a colon`},
		{"colon", []access.Credential{{Name: "a:b", Secret: "s3cret"}}, `credential "a:b": want a name without a colon`},
		{"no secret", []access.Credential{{Name: "a"}}, `credential "a": its secret is empty`},
		{"operator with agents", []access.Credential{{Name: "a", Secret: "s3cret", Operator: true, Agents: []string{"http://a"}}}, `credential "a": an operator claims no tasks; remove the addresses of agents`},
		{"address", []access.Credential{{Name: "a", Secret: "s3cret", Agents: []string{"a:s3cret"}}}, `credential "a": want an address that starts with https:// or http://`},
		{"name twice", []access.Credential{good, {Name: "a", Secret: "s3cret-b"}}, `credential "a": "a" has the same name or secret`},
		{"secret twice", []access.Credential{good, {Name: "b", Secret: "s3cret-a", Operator: true}}, `credential "b": "a" has the same name or secret`},
		{"all at once", []access.Credential{{Name: "a"}, {Name: "b"}}, "credential \"a\": its secret is empty\ncredential \"b\": its secret is empty"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, err := access.NewCredentials(tt.list)
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
	c, err := access.NewCredentials([]access.Credential{{Name: "ann", Secret: "s1", Operator: true}, {Name: "ci", Secret: "s2"}})
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

func TestCheckBind(t *testing.T) {
	t.Parallel()
	some, err := access.NewCredentials([]access.Credential{{Name: "ci", Secret: "s"}})
	if err != nil {
		t.Fatal(err)
	}
	people, err := access.NewCredentials([]access.Credential{{Name: "ann", Secret: "s", Operator: true}})
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]bool{
		"127.0.0.1:8000": true, "127.1.2.3:0": true, "[::1]:8000": true, "localhost:8000": true, "LOCALHOST:8000": true, "[::ffff:127.0.0.1]:80": true,
		"0.0.0.0:8000": false, ":8000": false, "[::]:8000": false, "192.168.1.1:8000": false, "example.org:80": false, "localhost.example.org:80": false, "0:80": false,
	}
	for addr, want := range tests {
		if err := access.CheckBind(addr, people); (err == nil) != want {
			t.Errorf("CheckBind(%s), without agents' credentials: got %v", addr, err)
		}
		if err := access.CheckBind(addr, some); err != nil {
			t.Errorf("CheckBind(%s), with credentials: got %v", addr, err)
		}
	}
	if err := access.CheckBind("nowhere", some); err == nil {
		t.Error("no port: got no error")
	}
}
