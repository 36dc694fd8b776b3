package address_test

import (
	"testing"

	"github.com/org/foreman-action/internal/address"
)

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
