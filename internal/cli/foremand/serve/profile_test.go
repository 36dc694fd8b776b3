package serve

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

func TestProfile(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	stop, err := profile(t.Context(), "127.0.0.1:0", slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	url := regexp.MustCompile(`http://[0-9.:]+`).FindString(log.String())
	for _, tt := range []struct {
		path   string
		header map[string]string
		want   int
	}{
		{"/debug/pprof/", nil, 200},
		{"/debug/pprof/heap", nil, 200},
		{"/debug/pprof/goroutine?debug=2", nil, 200},
		{"/debug/pprof/trace?seconds=0.01", nil, 200},
		{"/debug/pprof/profile?seconds=1", nil, 200},
		{"/debug/pprof/cmdline", nil, 404},
		{"/", nil, 404},
		{"/debug/pprof/heap", map[string]string{"Host": "evil.example.com"}, 403},
		{"/debug/pprof/heap", map[string]string{"Sec-Fetch-Site": "cross-site"}, 403},
		{"/debug/pprof/heap", map[string]string{"Host": "localhost", "Sec-Fetch-Site": "none"}, 200},
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+tt.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range tt.header {
			req.Header.Set(name, value)
		}
		if host := tt.header["Host"]; host != "" {
			req.Host = host
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || resp.StatusCode != tt.want || len(body) == 0 {
			t.Errorf("%s %v: got %d and %d bytes (%v), want %d", tt.path, tt.header, resp.StatusCode, len(body), err, tt.want)
		}
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	if _, err := http.Get(url); err == nil {
		t.Error("it still listens")
	}
}

func TestLoopback(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		"127.0.0.1:6060": true, "localhost:6060": true, "[::1]:0": true, "127.8.9.10:1": true,
		":6060": false, "0.0.0.0:6060": false, "[::]:6060": false, "10.0.0.1:6060": false, "example.com:6060": false,
		"127.0.0.1": false, "": false, "localhost.evil.com:1": false, "127.0.0.1.evil.com:1": false,
	} {
		err := checkLoopback(address)
		if (err == nil) != want || err != nil && !strings.Contains(err.Error(), "127.0.0.1:6060") {
			t.Errorf("%q: got %v", address, err)
		}
	}
}
