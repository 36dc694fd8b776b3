package api_test

import (
	"bytes"
	"compress/gzip"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/queue/queuetest"
	"github.com/org/foreman-action/store/sqlite"
)

var update = flag.Bool("update", false, "rewrite what the cases expect")

// TestWire plays every file in testdata/wire against a server with a queue in memory, and with one
// in SQLite. The parts of a file: "options" configures the server, "do" changes the queue,
// "request" is sent, "want" is the response, "queue" the resulting state of the queue, and "log"
// the log so far. "$1" is the id of the first task, and so on. No answer and no log may contain a
// secret.
func TestWire(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/wire/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".txtar")
		t.Run("memory/"+name, func(t *testing.T) {
			t.Parallel()
			a := parse(t, path)
			clock := queuetest.NewClock()
			q := queue.New(queue.Options{Now: clock.Now})
			newRig(t, a, clock, q, q).play(t)
			if *update {
				if err := os.WriteFile(path, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
		t.Run("sqlite/"+name, func(t *testing.T) {
			t.Parallel()
			if *update {
				t.Skip("the cases are being rewritten")
			}
			clock := queuetest.NewClock()
			q, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "queue.db"), sqlite.Options{Now: clock.Now})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = q.Close() })
			newRig(t, parse(t, path), clock, q.Queue(), q.Pauses()).play(t)
		})
	}
}

func parse(t *testing.T, path string) *txtar.Archive {
	t.Helper()
	a, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func part(a *txtar.Archive, name string) []byte {
	for _, f := range a.Files {
		if f.Name == name {
			return f.Data
		}
	}
	return nil
}

func (r *rig) play(t *testing.T) {
	t.Helper()
	for i := range r.archive.Files {
		f := &r.archive.Files[i]
		switch f.Name {
		case "options":
		case "do":
			for line := range strings.Lines(string(f.Data)) {
				r.do(t, strings.Fields(expand(line)))
			}
		case "request":
			r.answer = r.send(t, expand(string(f.Data)))
		case "want":
			check(t, f, r.answer)
		case "queue":
			check(t, f, r.tasks(t))
		case "log":
			check(t, f, strings.ReplaceAll(r.log.String(), "level=", ""))
		default:
			t.Fatalf("unknown part %q", f.Name)
		}
	}
	for _, s := range r.secrets {
		if strings.Contains(r.log.String(), s) {
			t.Errorf("the log holds the secret %q:\n%s", s, r.log.String())
		}
	}
}

func check(t *testing.T, f *txtar.File, got string) {
	t.Helper()
	if *update {
		f.Data = []byte(got)
	} else if diff := cmp.Diff(string(f.Data), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", f.Name, diff)
	}
}

// taskID returns the id that "$n" represents.
func taskID(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", n) }

func expand(s string) string {
	for n := 1; n < 10; n++ {
		s = strings.ReplaceAll(s, "$"+strconv.Itoa(n), taskID(n))
	}
	for strings.Contains(s, "$(") {
		before, rest, _ := strings.Cut(s, "$(")
		word, after, _ := strings.Cut(rest, ")")
		text, times, _ := strings.Cut(word, "*")
		n, _ := strconv.Atoi(times)
		if encoded, ok := strings.CutPrefix(word, "base64 "); ok {
			text, n = base64.StdEncoding.EncodeToString([]byte(encoded)), 1
		}
		s = before + strings.Repeat(text, n) + after
	}
	return s
}

// do executes a line of a part "do" on the queue.
func (r *rig) do(t *testing.T, f []string) {
	t.Helper()
	ctx := t.Context()
	var err error
	switch f[0] {
	case "enqueue": // id, agent, issue, and a length for the body
		size := 0
		if len(f) > 4 {
			size, _ = strconv.Atoi(f[4])
		}
		issue, _ := strconv.Atoi(f[3])
		_, err = r.queue.Enqueue(ctx, queue.Task{ID: f[1], Agent: f[2], Repo: "o/r", Issue: issue, Message: message(f[1], issue, size)})
	case "claim": // agent, and name of the credential
		_, err = r.queue.ClaimNext(ctx, f[1], queue.ClaimOptions{By: strings.Join(f[2:], ""), Lease: time.Minute})
	case "advance":
		d, _ := time.ParseDuration(f[1])
		r.clock.Advance(d)
	case "sweep": // maximum number of claims of a task
		n, _ := strconv.Atoi(f[1])
		_, err = r.queue.RequeueStale(ctx, queue.Limits{Claims: n})
	case "drain":
		var list []queue.Decision
		list, err = r.queue.LeaseDecisions(ctx, queue.DrainOptions{Owner: "drain", Lease: time.Minute, Limit: 9})
		for _, d := range list {
			err = errors.Join(err, r.queue.MarkDone(ctx, d.Lease, []byte(`{}`)))
		}
	case "break":
		r.queue.Break(map[string]error{"unavailable": queue.ErrUnavailable, "odd": errors.New("the disk smokes")}[f[1]])
	case "mend":
		r.queue.Break(nil)
	default:
		t.Fatalf("do: unknown %q", f)
	}
	if err != nil {
		t.Fatalf("do %q: %v", f, err)
	}
}

func message(id string, issue, size int) []byte {
	return fmt.Appendf(nil, `{"task_id":%q,"type":"issue.triage","repo":"o/r","payload":{"number":%d,"title":"T","body":%q,"state":"open","user":{"login":"u"},"labels":[{"name":"bug"}]},`+
		`"context":{"llm_backend":{"provider":"anthropic","model":"m"},"memory_summary":null}}`, id, issue, strings.Repeat("x", size))
}

// send sends a request and returns the answer as text. The request's first line is method and path;
// then follow headers, an empty line and the body, without its last line break. The header "sign
// KEY" signs the body.
func (r *rig) send(t *testing.T, text string) string {
	t.Helper()
	head, body, _ := strings.Cut(text, "\n\n")
	body = strings.TrimSuffix(body, "\n")
	lines := strings.Split(strings.TrimSpace(head), "\n")
	method, path, _ := strings.Cut(lines[0], " ")
	req, err := http.NewRequestWithContext(t.Context(), method, r.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines[1:] {
		name, value, _ := strings.Cut(line, ": ")
		if key, ok := strings.CutPrefix(value, "sign "); ok {
			value = sign(key, body)
		}
		value = strings.ReplaceAll(value, "SELF", r.url)
		req.Header.Add(name, value)
		switch name {
		case "Host":
			req.Host = value
		case "Transfer-Encoding": // chunked: no length is sent, even for an empty body
			req.Body, req.ContentLength = io.NopCloser(strings.NewReader(body)), -1
		}
	}
	c := &http.Client{
		Transport:     &http.Transport{DisableCompression: true, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	res, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	return r.answerText(t, res)
}

func sign(key, body string) string {
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(body))
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

func (r *rig) answerText(t *testing.T, res *http.Response) string {
	t.Helper()
	var from io.Reader = res.Body
	if res.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		from = z
		res.Header.Set("Content-Length", "(compressed)")
	}
	body, err := io.ReadAll(from)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	fmt.Fprintln(&b, res.StatusCode)
	for _, name := range slices.Sorted(maps.Keys(res.Header)) {
		// These headers are in every answer. They are checked here, and left out of the files.
		if v := res.Header[name]; name != "Date" && name != "X-Content-Type-Options" && name != "Cache-Control" && name != "Connection" {
			fmt.Fprintf(&b, "%s: %s\n", name, strings.Join(v, " | "))
		}
	}
	for name := range res.Header {
		if strings.HasPrefix(name, "Access-Control-") {
			t.Errorf("answer with the header %s", name)
		}
	}
	for _, s := range r.secrets {
		if bytes.Contains(body, []byte(s)) {
			t.Errorf("the answer holds the secret %q", s)
		}
	}
	fmt.Fprintf(&b, "\n%s\n", strings.ReplaceAll(string(body), strings.Repeat("x", 100), "(100 x)"))
	return b.String()
}

// tasks lists the tasks in the queue.
func (r *rig) tasks(t *testing.T) string {
	t.Helper()
	list, err := queue.List(t.Context(), r.queue, queue.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(list)
	var b strings.Builder
	for _, i := range list {
		d, err := r.queue.Inspect(t.Context(), i.ID)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s %s agent=%q attempt=%d", i.ID, i.State, i.Agent, i.Attempt)
		if i.State != queue.Done {
			fmt.Fprintf(&b, " owner=%q", i.Owner)
		}
		if !i.Until.IsZero() {
			fmt.Fprintf(&b, " until=%s", i.Until.Sub(i.Enqueued))
		}
		fmt.Fprintln(&b)
		if d.Result != nil {
			fmt.Fprintf(&b, "  result %s\n", d.Result)
		}
		if d.Origin != nil {
			fmt.Fprintf(&b, "  origin %s\n  message %s\n", d.Origin, d.Message)
		}
		for _, e := range d.Log {
			fmt.Fprintf(&b, "  log %s by %q\n", e.What, e.Who)
		}
	}
	return b.String()
}
