package freeport_test

import (
	"net"
	"net/netip"
	"testing"

	"github.com/org/foreman-action/internal/testkit/freeport"
)

// TestFind finds more ports than a block has.
func TestFind(t *testing.T) {
	t.Parallel()
	found := map[netip.AddrPort]bool{}
	for range 250 {
		at, err := freeport.Find(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		// Linux assigns ports from 32768 on to programs that ask for any port, other systems from 49152
		// on.
		if at.Port() < 1024 || at.Port() >= 32768 || !at.Addr().IsLoopback() {
			t.Errorf("got %s", at)
		}
		if found[at] { // the test that got it first may not listen yet
			t.Errorf("got %s twice", at)
		}
		found[at] = true
		l, err := net.Listen("tcp", at.String())
		if err != nil {
			t.Fatal(err)
		}
		l.Close()
	}
}
