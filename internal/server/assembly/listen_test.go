package assembly

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/config/serverconfig"
)

// certificate writes the files of a certificate. It also returns a pool that trusts the
// certificate.
func certificate(t *testing.T) (serverconfig.TLS, *x509.CertPool) {
	t.Helper()
	srv := httptest.NewTLSServer(http.NotFoundHandler()) // for its certificate
	t.Cleanup(srv.Close)
	pair := srv.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	files := serverconfig.TLS{Cert: filepath.Join(t.TempDir(), "cert.pem"), Key: filepath.Join(t.TempDir(), "key.pem")}
	for path, block := range map[string]*pem.Block{
		files.Cert: {Type: "CERTIFICATE", Bytes: pair.Certificate[0]}, files.Key: {Type: "PRIVATE KEY", Bytes: key},
	} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	roots := x509.NewCertPool()
	roots.AddCert(srv.Certificate())
	return files, roots
}

// TestListenTLS checks that a server with a certificate supports HTTP/1.1 and HTTP/2, and that
// errors name an unreadable file.
func TestListenTLS(t *testing.T) {
	t.Parallel()
	files, roots := certificate(t)
	s := serverconfig.Server{Host: "127.0.0.1", TLS: &files}
	listen := func() (net.Listener, error) {
		return listen(t.Context(), Options{Settings: &serverconfig.Config{Server: s}})
	}
	l, err := listen()
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.Header().Set("Proto", r.Proto) })}
	go func() { _ = srv.Serve(l) }() // it ends with the test
	t.Cleanup(func() { _ = srv.Close() })
	if got := baseURL(l, s); !strings.HasPrefix(got, "https://127.0.0.1:") {
		t.Errorf("got %s", got)
	}
	for want, modern := range map[string]bool{"HTTP/1.1": false, "HTTP/2.0": true} {
		via := &http.Transport{ForceAttemptHTTP2: modern, TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}
		resp, err := (&http.Client{Transport: via}).Get(baseURL(l, s))
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if got := resp.Header.Get("Proto"); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		via.CloseIdleConnections()
	}
	s.TLS = &serverconfig.TLS{Cert: files.Cert, Key: files.Key + ".none"}
	if _, err := listen(); err == nil || !strings.HasPrefix(err.Error(), "server.tls: open ") {
		t.Errorf("got %v", err)
	}
	s.TLS, s.Host = &files, "0.0.0.0"
	if _, err := listen(); err == nil || !strings.Contains(err.Error(), "configure server.credentials") {
		t.Errorf("got %v", err)
	}
}
