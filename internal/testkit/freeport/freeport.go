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
	"sync"
)

// The ports from first to last-1 are used, in blocks. Higher ports may be taken at any moment:
// operating systems assign them to outgoing connections and to programs that listen on port 0.
const (
	first = 10_000
	last  = 32_000
	block = 100
	tries = 100
)

// A ports gives out each port of a block once. It listens on the first port of the block until the
// process ends, so that no other process gives out ports of this block.
type ports struct {
	mu        sync.Mutex
	reserved  []net.Listener // on the first ports of the blocks so far
	next, end int            // the rest of the current block
}

var shared = new(ports) //nolint:gochecknoglobals // all tests of a process share its block

// Find returns a TCP address of 127.0.0.1 that was free a moment ago. No other call returns the
// same address, not even one in another process, until this process ends. It is safe for concurrent
// use.
func Find(ctx context.Context) (netip.AddrPort, error) {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	var errs []error
	for range tries {
		at, err := shared.take(ctx)
		if err == nil {
			return at, nil
		}
		errs = append(errs, err)
	}
	return netip.AddrPort{}, fmt.Errorf("find a free port: %w", errors.Join(errs...))
}

// take tries the next port. The caller holds p.mu.
func (p *ports) take(ctx context.Context) (netip.AddrPort, error) {
	if p.next == p.end {
		begin := first + rand.IntN((last-first)/block)*block //nolint:gosec // it need not be a secret
		l, err := listen(ctx, begin)
		if err != nil {
			return netip.AddrPort{}, err
		}
		p.reserved = append(p.reserved, l)
		p.next, p.end = begin+1, begin+block
	}
	port := p.next
	p.next++
	l, err := listen(ctx, port)
	if err != nil {
		return netip.AddrPort{}, err
	}
	return address(port), l.Close()
}

func listen(ctx context.Context, port int) (net.Listener, error) {
	return new(net.ListenConfig).Listen(ctx, "tcp", address(port).String())
}

func address(port int) netip.AddrPort {
	//nolint:gosec // it is less than 32,000
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(port))
}
