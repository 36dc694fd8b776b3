// Package freeport finds free addresses for tests: for programs that they start, or to connect
// to in vain.
package freeport

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
)

// The ports that are tried. All systems give those above by themselves, to whoever asks for
// any port and to each connection: such a port may be taken before the program is there that
// it was found for, or while the program is started anew.
const (
	first = 10_000
	last  = 32_000
	tries = 100
)

// Find returns a free address of this machine.
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
