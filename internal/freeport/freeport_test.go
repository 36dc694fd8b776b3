package freeport_test

import (
	"net"
	"testing"

	"github.com/org/foreman-action/internal/freeport"
)

func TestFind(t *testing.T) {
	t.Parallel()
	for range 20 {
		at, err := freeport.Find(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		// Linux assigns ports from 32768 on to programs that ask for any port, other systems from 49152
		// on.
		if at.Port() < 1024 || at.Port() >= 32768 || !at.Addr().IsLoopback() {
			t.Errorf("got %s", at)
		}
		l, err := net.Listen("tcp", at.String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
	}
}
