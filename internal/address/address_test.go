package address_test

import (
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/address"
)

func TestCanonical(t *testing.T) {
	t.Parallel()
	tests := []struct{ raw, want string }{
		{"http://a:9001", "http://a:9001"},
		{"http://a:9001/", "http://a:9001"},
		{"HTTP://A:9001//", "http://a:9001"},
		{"https://Agent.example.org:443", "https://agent.example.org"},
		{"http://a:80/x", "http://a/x"},
		{"http://a:443/x", "http://a:443/x"},
		{"http://a/Task", "http://a/Task"},
		{"http://a/task", "http://a"},
		{"http://a/x/task/", "http://a/x"},
		{"http://bot:hunter2@a:9001/", "http://a:9001"},
		{"http://[::1]:8000/", "http://[::1]:8000"},
		{"http://[0:0:0:0:0:0:0:1]:8000", "http://[::1]:8000"},
		{"http://[2001:DB8::0:001]/x", "http://[2001:db8::1]/x"},
		{"http://[fe80::1%25eth0]:1", "http://[fe80::1%25eth0]:1"},
		{" http://a ", "http://a"},
		{"http://a/%2F/", "http://a/%2F"},
	}
	for _, tt := range tests {
		got, err := address.Canonical(tt.raw)
		if err != nil || got != tt.want {
			t.Errorf("Canonical(%q) = %q, %v, want %q", tt.raw, got, err, tt.want)
		}
		again, err := address.Canonical(got)
		if err != nil || again != got {
			t.Errorf("Canonical(%q) = %q, %v: it is not stable", got, again, err)
		}
	}
	for _, raw := range []string{"", "a:9001", "ftp://a", "http://", "http://a b", "http://a:0", "http://a?hunter2=1", "http://a/#hunter2", "http://x:hunter2 @a"} {
		got, err := address.Canonical(raw)
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("Canonical(%q) = %q, %v, want an error that repeats nothing", raw, got, err)
		}
	}
}

func TestHosts(t *testing.T) {
	t.Parallel()
	tests := []struct {
		host          string
		valid, nearby bool
	}{
		{"agent", true, true},
		{"agent_1", true, true},
		{"localhost", true, true},
		{"LOCALHOST", true, true},
		{"agent.localhost", true, true},
		{"127.0.0.1", true, true},
		{"::1", true, true},
		{"10.1.2.3", true, true},
		{"192.168.1.1", true, true},
		{"172.17.0.1", true, true},
		{"169.254.1.1", true, true},
		{"fe80::1%eth0", true, true},
		{"fd00::1", true, true},
		{"example.org", true, false},
		{"bücher.example", true, false},
		{"8.8.8.8", true, false},
		{"2001:db8::1", true, false},
		{"0.0.0.0", true, false},
		{"134744072", true, false},
		{"0x08080808", true, false},
		{"100.64.0.1", true, false},
		{"localhost.example.org", true, false},
		{"", false, true},
		{"a b", false, true},
		{"a/b", false, true},
		{"a%41", false, true},
		{"::1%a b", false, false},
		{"::ffff:x", false, true},
		{"a\xff", false, true},
	}
	for _, tt := range tests {
		if got := address.ValidHost(tt.host); got != tt.valid {
			t.Errorf("ValidHost(%q): got %t, want %t", tt.host, got, tt.valid)
		}
		if got := address.Nearby(tt.host); tt.valid && got != tt.nearby {
			t.Errorf("Nearby(%q): got %t, want %t", tt.host, got, tt.nearby)
		}
	}
}

func TestValidPort(t *testing.T) {
	t.Parallel()
	for port, want := range map[string]bool{"": true, "1": true, "65535": true, "0": false, "65536": false, "-1": false, "x": false} {
		if got := address.ValidPort(port); got != want {
			t.Errorf("ValidPort(%q): got %t, want %t", port, got, want)
		}
	}
}

func TestWeb(t *testing.T) {
	t.Parallel()
	for api, want := range map[string]string{
		"": "", "https://api.github.com": "", "https://ghe.example.com/api/v3": "https://ghe.example.com",
		"https://api.octo.ghe.com": "https://octo.ghe.com", "http://127.0.0.1:8080": "http://127.0.0.1:8080",
	} {
		if got := address.Web(api); got != want {
			t.Errorf("%q: got %q, want %q", api, got, want)
		}
	}
}
