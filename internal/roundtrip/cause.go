package roundtrip

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"syscall"
)

// Cause returns why a request got no answer, in a few words for a log. It omits the text of the error, which
// may contain data of a server or a proxy.
func Cause(err error) string {
	timeout, isNet := errors.AsType[net.Error](err)
	is := func(list ...error) bool {
		for _, target := range list {
			if errors.Is(err, target) {
				return true
			}
		}
		return false
	}
	switch {
	case is(context.Canceled):
		return "the request was cancelled"
	case is(context.DeadlineExceeded), isNet && timeout.Timeout():
		return "no answer in time"
	case is(syscall.ECONNREFUSED):
		return "connection refused"
	case is(io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, syscall.ECONNRESET, syscall.EPIPE):
		return "the connection was closed before the answer was complete"
	}
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return "its host is not known"
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return "its certificate is not trusted"
	}
	if _, ok := errors.AsType[*net.OpError](err); ok {
		return "not reachable"
	}
	return "the connection failed"
}
