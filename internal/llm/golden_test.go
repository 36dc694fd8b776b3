package llm_test

import (
	"fmt"
	"net/http/httputil"
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/llm"
)

// TestRequests compares every byte of a request with testdata/requests. An archive has
// these parts:
//
//	options  lines as the function options reads them
//	want     the request line, headers and body
func TestRequests(t *testing.T) {
	t.Parallel()
	walk(t, "testdata/requests/*.txtar", func(t *testing.T, parts map[string]string) string {
		o, p := options(t, parts["options"])
		c := &canned{response: response(400, "")}
		o.Transport = c
		if _, err := newClient(t, o).Complete(t.Context(), p); err == nil {
			t.Fatal("got an answer, want an error")
		}
		if len(c.requests) != 1 {
			t.Fatalf("got %d requests, want 1", len(c.requests))
		}
		data, err := httputil.DumpRequestOut(c.requests[0].WithContext(t.Context()), true)
		if err != nil {
			t.Fatal(err)
		}
		url := c.requests[0].URL
		return url.Scheme + "://" + url.Host + "\n" + strings.ReplaceAll(string(data), "\r\n", "\n") + "\n"
	})
}

// TestAnswers compares the results for the responses in testdata/answers. An archive has these
// parts:
//
//	options   lines as the function options reads them
//	response  status line, headers, empty line, body; a body that is one word and a
//	          number is repeated: "x*5"
//	want      the text or the error, and the total waiting time
func TestAnswers(t *testing.T) {
	t.Parallel()
	walk(t, "testdata/answers/*.txtar", func(t *testing.T, parts map[string]string) string {
		o, p := options(t, parts["options"])
		head, body, ok := strings.Cut(parts["response"], "\n\n")
		if !ok {
			t.Fatal("the response has no empty line")
		}
		var n nap
		c := &canned{response: []byte(strings.ReplaceAll(head, "\n", "\r\n") + "\r\n\r\n" + repeated(body))}
		o.Transport, o.Sleep = c, n.sleep
		text, err := newClient(t, o).Complete(t.Context(), p)
		got := fmt.Sprintf("text: %q\n", text)
		if err != nil {
			wantNone(t, err.Error())
			got = fmt.Sprintf("error: %v\n", err)
		}
		if err != nil && text != "" {
			t.Errorf("got the text %q and an error", text)
		}
		if len(n.waits) > 0 {
			got += fmt.Sprintf("waits: %v\n", n.waits)
		}
		if want := len(n.waits) + 1; len(c.requests) != want {
			t.Errorf("got %d requests, want %d", len(c.requests), want)
		}
		return got
	})
}

func repeated(body string) string {
	var n int
	before, after, ok := strings.Cut(strings.TrimSpace(body), "*")
	if _, err := fmt.Sscan(after, &n); !ok || err != nil || strings.ContainsAny(before, "\n{") {
		return body
	}
	return strings.Repeat(before, n)
}

// TestWholeBody sends bodies of exactly the limit, and of one byte more.
func TestWholeBody(t *testing.T) {
	t.Parallel()
	frame := `{"choices":[{"finish_reason":"stop","message":{"content":"TEXT"}}]}`
	for more, want := range []string{"", "ask ollama at localhost:11434: the answer is larger than 1048576 bytes"} {
		text := strings.Repeat("x", 1<<20-len(frame)+len("TEXT")+more)
		c := newClient(t, llm.Options{
			Provider: llm.Ollama, Transport: &canned{response: response(200, strings.Replace(frame, "TEXT", text, 1))},
		})
		got, err := c.Complete(t.Context(), thePrompt())
		if errText(err) != want || err == nil && got != text {
			t.Errorf("%d bytes more: got %d bytes, %v; want %q", more, len(got), err, want)
		}
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
