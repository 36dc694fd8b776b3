// Package freeport finds free addresses for tests. A test starts a program on such an address, or
// connects to it and expects a failure.
package freeport

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
)

// Find tries the ports from first to last-1. Higher ports may be taken at any moment: operating
// systems assign them to outgoing connections and to programs that listen on port 0.
const (
	first = 10_000
	last  = 32_000
	tries = 100
)

// Find returns a TCP address of 127.0.0.1 that was free a moment ago.
func Find(ctx context.Context) (netip.AddrPort, error) {
	var errs []error
	for range tries {
		//nolint:gosec // it need not be a secret
		at := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(first+rand.IntN(last-first)))
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", at.String())
		if err == nil {
			return at, l.Close()
		}
		errs = append(errs, err)
	}
	return netip.AddrPort{}, fmt.Errorf("find a free port: %w", errors.Join(errs...))
}
