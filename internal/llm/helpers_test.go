package llm_test

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/org/foreman-action/internal/llm"
	"github.com/org/foreman-action/internal/summarize"
)

var update = flag.Bool("update", false, "rewrite the expected parts of testdata")

// theKey is the key that must not appear in any output.
const theKey = "sk-hunter2-hunter2-hunter2"

// thePrompt contains characters that encoders often escape, and text that must not appear in
// errors.
func thePrompt() summarize.Prompt {
	return summarize.Prompt{System: "Say <hello> & \"no more\".", Text: "Issue #42: labelled 'é\u2028'.", MaxTokens: 1000}
}

// A canned transport returns the same response for every request.
type canned struct {
	response []byte
	requests []*http.Request
}

func (c *canned) RoundTrip(req *http.Request) (*http.Response, error) {
	c.requests = append(c.requests, req)
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	return http.ReadResponse(bufio.NewReader(bytes.NewReader(c.response)), req)
}

// A nap records the waiting times, and does not wait.
type nap struct{ waits []time.Duration }

func (n *nap) sleep(ctx context.Context, d time.Duration) error {
	n.waits = append(n.waits, d)
	return ctx.Err()
}

// newClient returns a Client or ends the test.
func newClient(tb testing.TB, o llm.Options) *llm.Client {
	tb.Helper()
	if o.Model == "" {
		o.Model = "model-1"
	}
	o.Now = func() time.Time { return time.Date(2026, 4, 10, 7, 0, 0, 0, time.UTC) }
	c, err := llm.New(o)
	if err != nil {
		tb.Fatalf("New: %v", err)
	}
	return c
}

// wantNone fails the test for every secret in text.
func wantNone(tb testing.TB, text string) {
	tb.Helper()
	for _, s := range []string{"hunter2", "labelled", "hello"} {
		if strings.Contains(text, s) {
			tb.Errorf("%q holds %q", text, s)
		}
	}
}

// walk runs test on each archive, and compares the result with the part "want".
func walk(t *testing.T, pattern string, test func(t *testing.T, parts map[string]string) string) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no files %s: %v", pattern, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			parts := map[string]string{}
			for _, f := range ar.Files {
				parts[f.Name] = string(f.Data)
			}
			last := &ar.Files[len(ar.Files)-1]
			if last.Name != "want" {
				t.Fatalf("the last part is %s, want want", last.Name)
			}
			got := test(t, parts)
			if diff := cmp.Diff(string(last.Data), got); diff != "" && !*update {
				t.Errorf("-want +got:\n%s", diff)
			}
			if *update {
				last.Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// options parses lines such as "provider: openai" into options and a prompt.
func options(t *testing.T, text string) (llm.Options, summarize.Prompt) {
	t.Helper()
	o, p := llm.Options{Provider: llm.Anthropic, Key: theKey}, thePrompt()
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
		value = strings.TrimSpace(value)
		switch key {
		case "provider":
			o.Provider = value
		case "model":
			o.Model = value
		case "base":
			o.BaseURL = value
		case "key":
			o.Key = llm.Key(value)
		case "agent":
			o.UserAgent = value
		case "max":
			o.MaxTokens = number(t, value)
		case "tokens":
			p.MaxTokens = number(t, value)
		case "system":
			p.System = value
		default:
			t.Fatalf("unknown option %q", key)
		}
	}
	return o, p
}

func number(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// response returns an HTTP response with a status and a body, as bytes.
func response(status int, body string) []byte {
	return fmt.Appendf(nil, "HTTP/1.1 %d X\r\nContent-Length: %d\r\n\r\n%s", status, len(body), body)
}
