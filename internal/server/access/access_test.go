package access_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/server/access"
)

// TestCheckLocal has what the API and the dashboard answer unasked, and what not.
func TestCheckLocal(t *testing.T) {
	t.Parallel()
	tests := []struct {
		host   string
		header string // a name
		local  string // address; empty: not known
		proto  string // HTTP/1.1, unless set
		want   string // a part of the refusal; empty: there is none
	}{
		{host: "localhost:8000"},
		{host: "LOCALHOST"},
		{host: "localhost."},
		{host: "localhost.:8000"},
		{host: "x.localhost"},
		{host: "127.0.0.1:8000"},
		{host: "127.1.2.3"},
		{host: "[::1]:8000"},
		{host: "[::1]"},
		{host: "[::1%25lo]:8000"},
		{host: "[::1%lo]:8000"},
		{host: "[::ffff:127.0.0.1]:8000"},
		{host: "localhost", local: "127.0.0.1"},
		{host: "localhost", local: "::1"},
		{host: "localhost", proto: "HTTP/2.0"},
		{host: "localhost", header: "X-Request-Id"},
		{host: "", want: "only under the name localhost"},
		{host: ":8000", want: "only under the name localhost"},
		{host: ".", want: "only under the name localhost"},
		{host: "rebound.example:8000", want: "only under the name localhost"},
		{host: "localhost.evil.example", want: "only under the name localhost"},
		{host: "localhost:80@evil.example", want: "only under the name localhost"},
		{host: "localhost:evil", want: "only under the name localhost"},
		{host: "127.0.0.1.evil.example", want: "only under the name localhost"},
		{host: "192.168.0.1:8000", want: "only under the name localhost"},
		{host: "0.0.0.0", want: "only under the name localhost"},
		{host: "[fe80::1%lo]", want: "only under the name localhost"},
		{host: "2130706433", want: "only under the name localhost"},
		{host: "localhost", local: "192.168.0.1", want: "from other machines"},
		{host: "localhost", header: "Forwarded", want: "(Forwarded)"},
		{host: "localhost", header: "via", want: "(Via)"},
		{host: "localhost", header: "X-Real-IP", want: "(X-Real-Ip)"},
		{host: "localhost", header: "X-Forwarded-For", want: "(X-Forwarded-…)"},
		{host: "localhost", header: "x-forwarded-proto", want: "(X-Forwarded-…)"},
		{host: "localhost", header: "X-Forwarded-Anything", want: "(X-Forwarded-…)"},
		{host: "127.0.0.1:8000", proto: "HTTP/1.0", want: "(HTTP/1.0)"}, // nginx, when it is told nothing
	}
	for _, tt := range tests {
		r := httptest.NewRequest(http.MethodPost, "/", nil)
		r.Host = tt.host
		if tt.header != "" {
			r.Header.Set(tt.header, "") // that it is there is enough
		}
		if tt.proto != "" {
			r.Proto = tt.proto
			r.ProtoMajor, r.ProtoMinor, _ = http.ParseHTTPVersion(tt.proto)
		}
		if tt.local != "" {
			r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, &net.TCPAddr{IP: net.ParseIP(tt.local)}))
		}
		err := access.CheckLocal(r)
		if got := fmt.Sprint(err); (err == nil) != (tt.want == "") || !strings.Contains(got, tt.want) && err != nil {
			t.Errorf("%+v: got %s", tt, got)
		}
	}
}

func TestClientAddr(t *testing.T) {
	t.Parallel()
	for remote, want := range map[string]string{
		"192.0.2.1:1234":              "192.0.2.1",
		"[::ffff:192.0.2.1]:1234":     "192.0.2.1",
		"[2001:db8:1:2:3:4:5:6]:1234": "2001:db8:1:2::/64",
		"[fe80::1%eth0]:1234":         "fe80::/64",
		"@":                           "@",
		"":                            "",
	} {
		if got := access.ClientAddr(&http.Request{RemoteAddr: remote}); got != want {
			t.Errorf("%s: got %s, want %s", remote, got, want)
		}
	}
}

// TestAttempts locks a name out at one address, and nobody else.
func TestAttempts(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	a := access.NewAttempts(func() time.Time { return now })
	for range access.MaxFailures {
		if !a.Allowed("1", "ada") {
			t.Fatal("locked out too early")
		}
		a.Fail("1", "ada")
	}
	got := fmt.Sprint(a.Allowed("1", "ada"), a.Allowed("1", "bob"), a.Allowed("1", ""), a.Allowed("2", "ada"))
	if got != "false true true true" {
		t.Errorf("got %s", got)
	}
	now = now.Add(access.Window)
	if !a.Allowed("1", "ada") {
		t.Error("after the window: locked out still")
	}
	a.Fail("1", "ada")
	if !a.Allowed("1", "ada") {
		t.Error("the failures of the last window count")
	}
}

// TestAttemptsFull fills the table: nobody is locked out by it, and who guesses does not
// get to guess at will.
func TestAttemptsFull(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	a := access.NewAttempts(func() time.Time { return now })
	flood := func() {
		for i := range 10_000 {
			a.Fail("1", fmt.Sprint(i))
		}
	}
	flood()
	if !a.Allowed("1", "ada") || !a.Allowed("2", "") {
		t.Errorf("got ada allowed %v, others elsewhere %v", a.Allowed("1", "ada"), a.Allowed("2", ""))
	}
	for range access.MaxFailures {
		a.Fail("1", "ada")
	}
	flood()
	if a.Allowed("1", "ada") {
		t.Error("who guesses was forgotten")
	}
	now = now.Add(access.Window)
	a.Fail("1", "eve")
	if !a.Allowed("1", "ada") {
		t.Error("the table is full still")
	}
}
