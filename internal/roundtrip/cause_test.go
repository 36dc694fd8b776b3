package roundtrip_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"syscall"
	"testing"

	"github.com/org/foreman-action/internal/roundtrip"
)

func TestCause(t *testing.T) {
	t.Parallel()
	tests := []struct {
		err  error
		want string
	}{
		{context.Canceled, "the request was cancelled"},
		{fmt.Errorf("wait: %w", context.DeadlineExceeded), "no answer in time"},
		{&url.Error{Op: "Get", Err: &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}}, "connection refused"},
		{&url.Error{Op: "Get", Err: io.EOF}, "the connection was closed before the answer was complete"},
		{&net.OpError{Op: "read", Err: syscall.ECONNRESET}, "the connection was closed before the answer was complete"},
		{&net.OpError{Op: "dial", Err: &net.DNSError{IsNotFound: true}}, "its host is not known"},
		{&net.DNSError{IsTimeout: true}, "no answer in time"},
		{&tls.CertificateVerificationError{Err: errors.New("expired")}, "its certificate is not trusted"},
		{&net.OpError{Op: "dial", Err: errors.New("no route")}, "not reachable"},
		{errors.New("malformed HTTP response: secret"), "the connection failed"},
	}
	for _, tt := range tests {
		if got := roundtrip.Cause(tt.err); got != tt.want {
			t.Errorf("%v: got %q, want %q", tt.err, got, tt.want)
		}
	}
}

// TestCauseServers asks servers that do not answer as they should.
func TestCauseServers(t *testing.T) {
	t.Parallel()
	cut := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	t.Cleanup(cut.Close)
	gone := httptest.NewServer(nil)
	gone.Close()
	untrusted := httptest.NewTLSServer(nil)
	t.Cleanup(untrusted.Close)
	for address, want := range map[string]string{
		cut.URL:       "the connection was closed before the answer was complete",
		gone.URL:      "connection refused",
		untrusted.URL: "its certificate is not trusted",
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := (&http.Client{Transport: roundtrip.New()}).Do(r)
		if err == nil {
			resp.Body.Close()
			t.Fatalf("got status %s, want an error: %s", resp.Status, want)
		}
		if got := roundtrip.Cause(err); got != want {
			t.Errorf("%v: got %q, want %q", err, got, want)
		}
	}
}
