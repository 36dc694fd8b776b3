package agent_test

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/agent"
)

func TestAddress(t *testing.T) {
	t.Parallel()
	tests := []struct{ url, want string }{
		{"http://agent:8000", "http://agent:8000/task"},
		{"http://agent:8000/", "http://agent:8000/task"},
		{"http://agent:8000///", "http://agent:8000/task"},
		{"http://agent:/", "http://agent/task"},
		{"http://agent/task", "http://agent/task"},
		{"http://agent/task//", "http://agent/task"},
		{"http://agent/subtask", "http://agent/subtask/task"},
		{"http://agent/task/v1", "http://agent/task/v1/task"},
		{"http://agent/TASK", "http://agent/TASK/task"},
		{"https://agent.example/api/v1/", "https://agent.example/api/v1/task"},
		{"https://agent.example/a%2Fb", "https://agent.example/a%2Fb/task"},
		{"https://agent.example/a%2Ftask", "https://agent.example/a%2Ftask/task"},
		{"https://agent.example/a b", "https://agent.example/a%20b/task"},
		{"HTTPS://agent.example?v=1&token=hunter2", "https://agent.example/task"},
		{"https://agent.example/?", "https://agent.example/task"},
		{"https://user:hunter2@agent.example/x", "https://agent.example/x/task"},
		{"https://hunter2@agent.example", "https://agent.example/task"},
		{"https://ä.example", "https://%C3%A4.example/task"},
		{"http://[::1]:8000", "http://[::1]:8000/task"},
		{"http://[fe80::1%25eth0]", "http://[fe80::1%25eth0]/task"},
	}
	for _, tt := range tests {
		r := newRemote(t, agent.RemoteOptions{URL: tt.url})
		if got := r.Address(); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.url, got, tt.want)
		}
	}
}

func TestNewRemoteErrors(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		o    agent.RemoteOptions
		want string // part of the error
	}{
		{"empty", agent.RemoteOptions{}, "it is empty"},
		{"blank", agent.RemoteOptions{URL: " \n"}, "it is empty"},
		{"no scheme", agent.RemoteOptions{URL: "agent.example"}, "starts with https://"},
		{"scheme without slashes", agent.RemoteOptions{URL: "http:agent.example"}, "starts with https://"},
		{"host and port alone", agent.RemoteOptions{URL: "localhost:8000"}, "starts with https://"},
		{"other scheme", agent.RemoteOptions{URL: "ftp://hunter2@agent.example"}, "starts with https://"},
		{"name and password alone", agent.RemoteOptions{URL: "hunter2:hunter2@agent.example"}, "starts with https://"},
		{"no host", agent.RemoteOptions{URL: "https:///task"}, "names no host"},
		{"only a port", agent.RemoteOptions{URL: "https://:8000"}, "names no host"},
		{"only userinfo", agent.RemoteOptions{URL: "https://u:hunter2@"}, "names no host"},
		{"password without its host", agent.RemoteOptions{URL: "https://user:hunter2"}, "cannot be read"},
		{"space in the password", agent.RemoteOptions{URL: "https://user:hunter2 x@agent.example"}, "written as %XX"},
		{"hash in the password", agent.RemoteOptions{URL: "https://user:hunter2#x@agent.example"}, "cannot be read"},
		{"broken escape", agent.RemoteOptions{URL: "https://agent.example/hunter2%zz"}, "cannot be read"},
		{"control character", agent.RemoteOptions{URL: "https://agent.example/\nhunter2"}, "cannot be read"},
		{"host of signs", agent.RemoteOptions{URL: "https://hunter2!x"}, "neither a name nor"},
		{"host of escapes", agent.RemoteOptions{URL: "https://hunter2%25"}, "neither a name nor"},
		{"host of bad UTF-8", agent.RemoteOptions{URL: "https://hunter2\xff"}, "neither a name nor"},
		{"IPv6 address that is none", agent.RemoteOptions{URL: "https://[::fffff]"}, "cannot be read"},
		{"IPv6 zone of signs", agent.RemoteOptions{URL: "https://[fe80::1%25\xee]"}, "neither a name nor"},
		{"port too large", agent.RemoteOptions{URL: "https://agent.example:65536"}, "port"},
		{"port zero", agent.RemoteOptions{URL: "https://agent.example:0"}, "port"},
		{"fragment", agent.RemoteOptions{URL: "https://agent.example/#hunter2"}, "#fragment"},
		{"timeout", agent.RemoteOptions{URL: "https://agent.example", Timeout: -time.Second}, "agent timeout: want more than 0, got -1s"},
		{"limit", agent.RemoteOptions{URL: "https://agent.example", MaxBytes: -1}, "agent answer limit: want more than 0 bytes, got -1"},
		{"user agent", agent.RemoteOptions{URL: "https://agent.example", UserAgent: "a\r\nX: hunter2"}, "agent user agent"},
		{"secret in the clear", agent.RemoteOptions{URL: "http://user:hunter2@agent.example"}, "over plain http"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, err := agent.NewRemote(tt.o)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("got %v, %v, want an error with %q", r, err, tt.want)
			}
			wantNone(t, err.Error(), "hunter2", "\n")
		})
	}
}

func TestSecretOverPlainHTTP(t *testing.T) {
	t.Parallel()
	tests := []struct {
		host string
		want bool // whether a secret may be sent there
	}{
		{"localhost", true},
		{"LOCALHOST:8000", true},
		{"agent.localhost", true},
		{"127.0.0.1", true},
		{"127.8.9.10", true},
		{"[::1]", true},
		{"[::ffff:127.0.0.1]", true},
		{"10.1.2.3", true},
		{"172.16.0.1", true},
		{"172.31.255.254", true},
		{"192.168.1.1", true},
		{"169.254.1.1", true},
		{"[fe80::1%25eth0]", true},
		{"[fd00::1]", true},
		{"agent", true},
		{"agent_1:8000", true},
		{"agent.example", false},
		{"agent.", false},
		{"localhost.example", false},
		{"notlocalhost.example", false},
		{"8.8.8.8", false},
		{"172.32.0.1", false},
		{"100.64.0.1", false},
		{"0.0.0.0", false},
		{"[2001:db8::1]", false},
		{"[::ffff:8.8.8.8]", false},
		{"134744072", false},  // 8.8.8.8 for some resolvers
		{"0x08080808", false}, // likewise
		{"010.1.2.3", false},  // octal for some programs, decimal for others
		{"127.0.0.1.", false}, // not an address
		{"10.1.example", false},
	}
	token := func(context.Context) (string, error) { return "Bearer x", nil }
	for _, tt := range tests {
		for name, o := range map[string]agent.RemoteOptions{
			"authorize": {URL: "http://" + tt.host, Authorize: token},
			"password":  {URL: "http://bot:x@" + tt.host},
			"name":      {URL: "http://x@" + tt.host},
		} {
			if _, err := agent.NewRemote(o); (err == nil) != tt.want {
				t.Errorf("%s with %s: got error %v, want allowed %v", tt.host, name, err, tt.want)
			}
		}
		if _, err := agent.NewRemote(agent.RemoteOptions{URL: "http://" + tt.host}); err != nil {
			t.Errorf("%s without a secret: %v", tt.host, err)
		}
		if _, err := agent.NewRemote(agent.RemoteOptions{URL: "https://bot:x@" + tt.host, Authorize: token}); err != nil {
			t.Errorf("%s over https: %v", tt.host, err)
		}
	}
}

func TestErrorText(t *testing.T) {
	t.Parallel()
	cause := errors.New("no way")
	tests := []struct {
		e    agent.Error
		want string
	}{
		{agent.Error{Address: "http://a/task", Reason: agent.ReasonAuth, Err: cause}, "ask agent at http://a/task: no way"},
		{agent.Error{Address: "http://a/task", Reason: agent.ReasonTooLarge}, "ask agent at http://a/task: too_large"},
	}
	for _, tt := range tests {
		if got := tt.e.Error(); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
		if got := errors.Unwrap(&tt.e); got != tt.e.Err {
			t.Errorf("got cause %v, want %v", got, tt.e.Err)
		}
	}
}

// FuzzAddress checks that an invalid address is rejected by an error that quotes nothing of it.
// Reading an accepted address again changes nothing.
func FuzzAddress(f *testing.F) {
	for _, s := range []string{
		"http://agent:8000/", "https://u:p%40@agent.example/a%2Fb//?x=y", "https://[fe80::1%25eth0]:1/task", "http://agent/../x;y",
		"localhost:8000", "https://user:pa#ss@host", "//host", "https://a\x7fb", "https://%41gent/", "https://ä.example/ö", "https://h?#", "https://h:/%74ask",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		r, err := agent.NewRemote(agent.RemoteOptions{URL: raw})
		if err != nil {
			if len(raw) > 20 && strings.Contains(err.Error(), raw) {
				t.Errorf("%q repeats the address", err)
			}
			return
		}
		got := r.Address()
		u, err := url.Parse(got)
		if err != nil || u.User != nil || u.RawQuery != "" || !strings.HasSuffix(u.EscapedPath(), "/task") {
			t.Fatalf("%q: got address %q, %v", raw, got, err)
		}
		again, err := agent.NewRemote(agent.RemoteOptions{URL: got})
		if err != nil || again.Address() != got {
			t.Errorf("%q: got address %q, and from that %v, %v", raw, got, again, err)
		}
	})
}
