package llm_test

import (
	"net"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/org/foreman-action/internal/llm"
)

// seed adds the bodies of testdata/answers to the corpus.
func seed(f *testing.F, add func(status int, body string)) {
	f.Helper()
	files, err := filepath.Glob("testdata/answers/*.txtar")
	if err != nil || len(files) == 0 {
		f.Fatalf("no files: %v", err)
	}
	for _, file := range files {
		ar, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		_, body, _ := strings.Cut(string(ar.Files[1].Data), "\n\n")
		add(200, body)
	}
	add(429, `{"error":{"type":"rate_limit_error","code":"insufficient_quota","details":{"error_code":[]}}}`)
}

// fuzzAnswer decodes any body with one provider's API. The result is a text that is not blank, or
// an error of one line that repeats nothing from the body.
func fuzzAnswer(f *testing.F, provider string) {
	seed(f, func(status int, body string) { f.Add(status, body) })
	f.Fuzz(func(t *testing.T, status int, body string) {
		if status < 200 || status > 599 {
			status = 200
		}
		var n nap
		c := newClient(t, llm.Options{Provider: provider, Key: theKey, Transport: &canned{response: response(status, body)}, Sleep: n.sleep})
		text, err := c.Complete(t.Context(), thePrompt())
		switch {
		case err == nil && (status != 200 || strings.TrimSpace(text) == "" || !utf8.ValidString(text)):
			t.Errorf("status %d: got the text %q", status, text)
		case err != nil && (text != "" || len(err.Error()) > 300 || strings.ContainsAny(err.Error(), "\n\r\x1b")):
			t.Errorf("got the text %q and the error %q", text, err)
		case err != nil:
			wantNone(t, err.Error())
		}
		if len(n.waits) > 2 {
			t.Errorf("waited %d times", len(n.waits))
		}
	})
}

func FuzzAnthropic(f *testing.F) { fuzzAnswer(f, llm.Anthropic) }

func FuzzOpenAI(f *testing.F) { fuzzAnswer(f, llm.OpenAI) }

// FuzzBaseURL gives any base URL to a client with a key. The key must be sent only to the host in
// the URL, and over plain http only to a host on this machine or in a private network.
func FuzzBaseURL(f *testing.F) {
	for _, s := range []string{
		"https://example.com", "http://localhost:11434/v1", "http://10.0.0.1", "http://8.8.8.8/", "http://[::1]:1/v1/",
		"http://[::ffff:8.8.8.8]", "http://1", "http://0x1", "https://a@b/?c#d", "http://a.localhost", "//x", "http:x", "http://a/%2e%2e", "",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, base string) {
		c := &canned{response: response(400, "")}
		client, err := llm.New(llm.Options{Provider: llm.OpenAI, Model: "m", Key: theKey, BaseURL: base, Transport: c})
		if err != nil {
			if !strings.HasPrefix(err.Error(), "llm base URL: ") || len(base) > 12 && strings.Contains(err.Error(), base) {
				t.Errorf("%q: got error %v", base, err)
			}
			return
		}
		_, _ = client.Complete(t.Context(), thePrompt())
		if len(c.requests) != 1 {
			t.Fatalf("%q: got %d requests", base, len(c.requests))
		}
		u := c.requests[0].URL
		host := strings.ToLower(u.Hostname())
		if u.User != nil || u.RawQuery != "" || !strings.HasSuffix(u.Path, "/chat/completions") {
			t.Errorf("%q: got %s", base, u)
		}
		if base != "" && !strings.Contains(strings.ToLower(base), host) {
			t.Errorf("%q: the key goes to %s", base, host)
		}
		if addr, err := netip.ParseAddr(host); u.Scheme == "http" && err == nil {
			ip := net.IP(addr.AsSlice())
			if !ip.IsLoopback() && !ip.IsPrivate() && !ip.IsLinkLocalUnicast() {
				t.Errorf("%q: the key goes over http to %s", base, addr)
			}
		} else if u.Scheme == "http" && strings.Contains(host, ".") && !strings.HasSuffix(host, ".localhost") {
			t.Errorf("%q: the key goes over http to %s", base, host)
		}
	})
}
