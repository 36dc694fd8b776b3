package access_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/org/foreman-action/internal/server/access"
)

// TestCheckLocal checks which requests without a credential the API and the dashboard accept, and
// which they refuse.
func TestCheckLocal(t *testing.T) {
	t.Parallel()
	tests := []struct {
		host   string
		header string // name of a header
		local  string // address; empty: not known
		proto  string // empty: HTTP/1.1
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
		{host: "localhost", header: "Origin", want: "no page of another host"},
		{host: "127.0.0.1:8000", proto: "HTTP/1.0", want: "(HTTP/1.0)"}, // nginx uses it by default
	}
	for _, tt := range tests {
		r := httptest.NewRequest(http.MethodPost, "/", nil)
		r.Host = tt.host
		if tt.header != "" {
			r.Header.Set(tt.header, "") // the presence of the header is enough
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

// TestProxies sends requests through trusted and untrusted proxies.
func TestProxies(t *testing.T) {
	t.Parallel()
	proxies, err := access.ParseProxies([]string{"10.0.0.0/8", "127.0.0.1", "fd00::/8", "2001:db8::1"})
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, remote, forwardedFor, forwarded, want string
	}{
		{name: "no proxy", remote: "192.0.2.1:1", want: "192.0.2.1"},
		{name: "not trusted", remote: "192.0.2.1:1", forwardedFor: "203.0.113.9", want: "192.0.2.1"},
		{name: "no header", remote: "10.1.2.3:1", want: "10.1.2.3"},
		{name: "one proxy", remote: "10.1.2.3:1", forwardedFor: "203.0.113.9", want: "203.0.113.9"},
		{name: "mapped", remote: "[::ffff:10.1.2.3]:1", forwardedFor: "::ffff:203.0.113.9", want: "203.0.113.9"},
		{name: "made up by the client", remote: "10.1.2.3:1", forwardedFor: "198.51.100.1, 203.0.113.9", want: "203.0.113.9"},
		{name: "two proxies", remote: "127.0.0.1:1", forwardedFor: "198.51.100.1, 203.0.113.9, 10.1.2.3", want: "203.0.113.9"},
		{name: "only proxies", remote: "127.0.0.1:1", forwardedFor: "10.0.0.9, 10.1.2.3", want: "10.0.0.9"},
		{name: "no address", remote: "10.1.2.3:1", forwardedFor: "203.0.113.9, unknown", want: "10.1.2.3"},
		{name: "empty", remote: "10.1.2.3:1", forwardedFor: " ", want: "10.1.2.3"},
		{name: "with ports", remote: "10.1.2.3:1", forwardedFor: "[2001:db8:1:2:3::4]:80", want: "2001:db8:1:2::/64"},
		{name: "IPv6", remote: "[2001:db8::1]:1", forwardedFor: "2001:db8:1:2:3::4", want: "2001:db8:1:2::/64"},
		{name: "Forwarded", remote: "10.1.2.3:1", forwarded: `for=198.51.100.1, For="203.0.113.9:80";proto=https;by=10.1.2.3`, want: "203.0.113.9"},
		{name: "Forwarded, IPv6", remote: "10.1.2.3:1", forwarded: `proto=https; for="[2001:db8:1:2::4]:80"`, want: "2001:db8:1:2::/64"},
		{name: "Forwarded, hidden", remote: "10.1.2.3:1", forwarded: "for=203.0.113.9, for=_hidden", want: "10.1.2.3"},
		{name: "Forwarded, without for", remote: "10.1.2.3:1", forwarded: "for=203.0.113.9, by=10.0.0.1", want: "10.1.2.3"},
		{name: "both, the same", remote: "10.1.2.3:1", forwardedFor: "203.0.113.9", forwarded: "for=203.0.113.9", want: "203.0.113.9"},
		{name: "both, one made up", remote: "10.1.2.3:1", forwardedFor: "203.0.113.9", forwarded: "for=198.51.100.1", want: "10.1.2.3"},
	}
	for _, tt := range tests {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.RemoteAddr = tt.remote
		if tt.forwardedFor != "" {
			r.Header.Set("X-Forwarded-For", tt.forwardedFor)
		}
		if tt.forwarded != "" {
			r.Header.Set("Forwarded", tt.forwarded)
		}
		if got := access.ClientAddr(proxies.With(r)); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
	for _, bad := range []string{"", "10.0.0.0/33", "example.com", "fe80::1%eth0"} {
		if _, err := access.ParseProxies([]string{bad}); err == nil {
			t.Errorf("%q: got no error", bad)
		}
	}
}

func FuzzProxies(f *testing.F) {
	for _, s := range []string{"", ",", "203.0.113.9", "[::1]:80, x", `for="[2001:db8::1]:80";by=x, for=_y`, "for=,;=,"} {
		f.Add(s, s)
	}
	proxies, err := access.ParseProxies([]string{"10.0.0.0/8"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, forwardedFor, forwarded string) {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.RemoteAddr = "10.1.2.3:1"
		r.Header["X-Forwarded-For"], r.Header["Forwarded"] = []string{forwardedFor}, []string{forwarded}
		got := access.ClientAddr(proxies.With(r))
		if _, err := netip.ParseAddr(strings.TrimSuffix(got, "/64")); err != nil {
			t.Errorf("got %q, which is no address", got)
		}
	})
}

// A guesser tries secrets from one address.
type guesser struct {
	*access.Attempts

	addr string
}

// try tries a secret. right is the credential that the secret matches; empty: none. It also returns
// how long the attempt took.
func (g guesser) try(ctx context.Context, right string) (ok bool, left, took time.Duration) {
	begin := time.Now()
	ok, left = g.Judge(ctx, access.Try{Addr: g.addr, Right: right})
	return ok, left, time.Since(begin)
}

// exhaust tries as many wrong secrets as are answered without a delay.
func (g guesser) exhaust(t *testing.T) {
	t.Helper()
	for range access.MaxFailures {
		if ok, left, took := g.try(t.Context(), ""); ok || left != 0 || took != 0 {
			t.Fatalf("slowed down too early: %v, %s, %s", ok, left, took)
		}
	}
}

// drain tries wrong secrets until none is answered without a delay.
func (g guesser) drain(t *testing.T) {
	t.Helper()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for n := 0; ; n++ {
		if _, left, _ := g.try(gone, ""); left != 0 {
			return
		} else if n > access.MaxFailures {
			t.Fatal("wrong secrets are not limited")
		}
	}
}

// TestAttempts checks that only the guesser is slowed down.
func TestAttempts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := access.NewAttempts(time.Now)
		g := guesser{a, "1"}
		if ok, _, took := g.try(t.Context(), "ada"); !ok || took != 0 {
			t.Errorf("the right one: got %v after %s", ok, took)
		}
		time.Sleep(time.Second)
		g.exhaust(t)
		if ok, left, took := g.try(t.Context(), ""); ok || left != access.RetryWait || took == 0 || took > time.Second {
			t.Errorf("too many: got %v, %s after %s", ok, left, took)
		}
		if ok, _, took := g.try(t.Context(), "ada"); !ok || took != 0 {
			t.Errorf("the right one, which came from there before: got %v after %s", ok, took)
		}
		g.drain(t)
		if ok, _, took := g.try(t.Context(), "bob"); !ok || took == 0 || took > time.Second {
			t.Errorf("another right one: got %v after %s", ok, took)
		}
		if ok, _, took := g.try(t.Context(), "bob"); !ok || took != 0 {
			t.Errorf("another right one again: got %v after %s", ok, took)
		}
		if ok, left, took := (guesser{a, "2"}).try(t.Context(), ""); ok || left != 0 || took != 0 {
			t.Errorf("another address: got %s after %s", left, took)
		}
		time.Sleep(2 * time.Second)
		g.exhaust(t)
	})
}

// TestAttemptsParallel sends many guesses at once, all of them right, so that the results show how
// many were checked. Only a bounded number is checked per second, however early the callers give up.
// A secret that was used from its address before passes at once.
func TestAttemptsParallel(t *testing.T) {
	t.Parallel()
	for addresses, second := range map[int]int64{1: 8, 4: 32, 1000: 64} {
		t.Run(fmt.Sprint(addresses), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				a := access.NewAttempts(time.Now)
				if ok, _, _ := (guesser{a, "0"}).try(t.Context(), "known"); !ok {
					t.Fatal("the right one was refused")
				}
				for n := range addresses { // with 1000 addresses, this exceeds the rate of all
					guesser{a, fmt.Sprint(n)}.drain(t)
				}
				begin := time.Now()
				var first, all atomic.Int64
				var group sync.WaitGroup
				for n := range 2000 {
					g := guesser{a, fmt.Sprint(n % addresses)}
					for name, patience := range map[string]time.Duration{"stays": time.Hour, "leaves": time.Second / 2} {
						group.Go(func() {
							ctx, cancel := context.WithTimeout(t.Context(), patience)
							defer cancel()
							ok, left, _ := g.try(ctx, fmt.Sprint(name, n))
							if ok == (left > 0) {
								t.Errorf("got %v, %s", ok, left)
							}
							if !ok {
								return
							}
							if all.Add(1); time.Since(begin) <= time.Second {
								first.Add(1)
							}
						})
					}
				}
				time.Sleep(time.Second / 4)
				if ok, _, took := (guesser{a, "0"}).try(t.Context(), "known"); !ok || took != 0 {
					t.Errorf("the known right one: got %v after %s", ok, took)
				}
				group.Wait()
				took := time.Since(begin)
				if first.Load() > second || all.Load() == 0 || float64(all.Load()) > float64(second)*took.Seconds() {
					t.Errorf("%d guesses were judged in the first second, %d in %s; want at most %d a second", first.Load(), all.Load(), took, second)
				}
				if took > access.MaxWait {
					t.Errorf("they were held for %s", took)
				}
			})
		})
	}
}

// TestAttemptsCrowd tries a right secret that is new from its address, during endless wrong
// guesses. It must pass after a few tries.
func TestAttemptsCrowd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := guesser{access.NewAttempts(time.Now), "1"}
		ctx, stop := context.WithCancel(t.Context())
		var group sync.WaitGroup
		for range 150 {
			group.Go(func() {
				for ctx.Err() == nil {
					g.try(ctx, "")
				}
			})
		}
		time.Sleep(5 * time.Second)
		tries := 0
		for ok := false; !ok && tries < 60; tries++ {
			ok, _, _ = g.try(ctx, "ci")
		}
		stop()
		group.Wait()
		if tries == 60 {
			t.Error("it was refused 60 times")
		}
		t.Logf("it passed after %d tries", tries)
	})
}

// TestAttemptsLong tries right secrets that are new from their addresses, during endless wrong
// guesses. A long secret passes at once, each time. A wrong secret of the same length waits like
// any other.
func TestAttemptsLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := guesser{access.NewAttempts(time.Now), "1"}
		ctx, stop := context.WithCancel(t.Context())
		var group sync.WaitGroup
		for range 500 {
			group.Go(func() {
				for ctx.Err() == nil {
					g.try(ctx, "")
				}
			})
		}
		time.Sleep(5 * time.Second)
		for n := range 100 {
			try := access.Try{Addr: g.addr, Right: fmt.Sprint("credential ", n), Long: true}
			begin := time.Now()
			if ok, left := g.Judge(ctx, try); !ok || left != 0 || time.Since(begin) != 0 {
				t.Fatalf("a right one: got %v, %s after %s", ok, left, time.Since(begin))
			}
		}
		g.drain(t)
		try := access.Try{Addr: g.addr, Long: true}
		if ok, left := g.Judge(ctx, try); ok || left == 0 {
			t.Errorf("a wrong one: got %v, %s", ok, left)
		}
		stop()
		group.Wait()
	})
}

// TestAttemptsTotal tries a few wrong secrets from each of many addresses. After that other
// attempts are delayed, except for secrets that were used from their address before.
func TestAttemptsTotal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := access.NewAttempts(time.Now)
		known := guesser{a, "agent"}
		known.try(t.Context(), "ci")
		atOnce := 0
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		for n := range 10_000 {
			if _, left, _ := (guesser{a, fmt.Sprint(n)}).try(gone, ""); left == 0 {
				atOnce++
			}
		}
		if atOnce != 599 { // the first of 600 was the known one
			t.Errorf("%d guesses were judged at once", atOnce)
		}
		if ok, _, took := known.try(t.Context(), "ci"); !ok || took != 0 {
			t.Errorf("a known one: got %v after %s", ok, took)
		}
		if ok, _, took := (guesser{a, "new"}).try(t.Context(), "ci"); !ok || took == 0 || took > 5*time.Second {
			t.Errorf("the same from elsewhere: got %v after %s", ok, took)
		}
		time.Sleep(time.Minute)
		if ok, _, took := (guesser{a, "newer"}).try(t.Context(), "ci"); !ok || took != 0 {
			t.Errorf("a minute later: got %v after %s", ok, took)
		}
	})
}

// TestAttemptsFull checks that a guesser is still limited, and the newest right secret still known,
// after more addresses than are remembered.
func TestAttemptsFull(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	a := access.NewAttempts(func() time.Time { return now })
	gone, cancel := context.WithCancel(t.Context())
	cancel() // every attempt that must wait fails at once
	g := guesser{a, "guesser"}
	for i := range 5_000 {
		now = now.Add(time.Second / 64)
		if ok, _, _ := (guesser{a, fmt.Sprint(i)}).try(gone, "ci"); !ok {
			t.Fatalf("number %d: the right one was refused", i)
		}
		if i%256 == 0 {
			g.drain(t)
		}
	}
	if _, left, _ := g.try(gone, ""); left != 0 {
		t.Error("the guesser is limited for too long")
	}
	g.drain(t)
	for i := range 3_000 {
		guesser{a, fmt.Sprint("other ", i)}.try(gone, "")
	}
	if _, left, _ := g.try(gone, ""); left == 0 {
		t.Error("who guesses was forgotten")
	}
	for n, want := range map[string]bool{"4999": true, "0": false} {
		if ok, _, _ := (guesser{a, n}).try(gone, "ci"); ok != want {
			t.Errorf("address %s: got %v, want %v", n, ok, want)
		}
	}
}
