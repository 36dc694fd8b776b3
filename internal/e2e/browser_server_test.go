package e2e

import (
	"bufio"
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/org/foreman-action/internal/github/githubtest"
)

// A collectorOfTraces is an OpenTelemetry collector that stores the received spans.
type collectorOfTraces struct {
	mu    sync.Mutex
	spans map[string][]string // names by trace
	err   error
}

// ServeHTTP takes an export request.
func (c *collectorOfTraces) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	body, err := io.ReadAll(r.Body)
	var req collector.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(body, &req)
	}
	if err != nil {
		c.err = err
		return
	}
	for _, res := range req.GetResourceSpans() {
		for _, scope := range res.GetScopeSpans() {
			for _, s := range scope.GetSpans() {
				id := hex.EncodeToString(s.GetTraceId())
				c.spans[id] = append(c.spans[id], s.GetName())
			}
		}
	}
}

const serverConfig = `
identity: {github_token: t0ken, github_user: octocat, api_url: "GITHUB"}
polling: {enabled: false}
telemetry: {endpoint: "COLLECTOR"}
server:
  webhook_secret: hook-secret-0123456789
  operators: [{name: ada, secret: correct horse}]
repos:
  - owner: Codertocat
    name: Hello-World
    agents:
      - {type: issue-triage, config: {url: "http://127.0.0.1:1"}}
`

// startForemand builds foremand and starts it with an empty queue. stop sends SIGTERM, as a
// service manager does, and returns the log.
func startForemand(t *testing.T, config string) (url string, stop func() string) {
	t.Helper()
	return serveQueue(t, config, filepath.Join(t.TempDir(), "queue.db"))
}

// serveQueue is like startForemand, but uses an existing queue file.
func serveQueue(t *testing.T, config, queueFile string) (url string, stop func() string) {
	t.Helper()
	dir := t.TempDir()
	bin := filepath.Join(dir, "foremand")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-C", "../..", "-o", bin, "./cmd/foremand").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	file := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), bin, "serve", "--config", file, "--db", filepath.Join(dir, "memory.db"),
		"--queue-db", queueFile, "--port", "0")
	cmd.Env = append(os.Environ(), "HOME="+dir, "NO_PROXY=127.0.0.1")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	lines := bufio.NewScanner(io.TeeReader(stderr, &log))
	for url == "" && lines.Scan() {
		var line struct{ Msg, URL string }
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "foremand is listening" {
			url = line.URL
		}
	}
	if url == "" {
		t.Fatalf("foremand does not listen:\n%s", &log)
	}
	rest := make(chan struct{})
	go func() {
		defer close(rest)
		for lines.Scan() { // the TeeReader writes the rest to log
		}
	}()
	return url, func() string {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		<-rest
		if err := cmd.Wait(); err != nil {
			t.Errorf("foremand ended with %v:\n%s", err, &log)
		}
		return log.String()
	}
}

// ask sends a request and returns the body of the response.
func ask(t *testing.T, r *http.Request, status int) string {
	t.Helper()
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != status {
		t.Fatalf("%s %s: got %d, want %d (%v): %s", r.Method, r.URL, res.StatusCode, status, err, body)
	}
	return string(body)
}

func post(t *testing.T, url, body string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	return r
}

// TestBrowserForemand runs foremand with a browser on the dashboard, while an event passes from
// the webhook to GitHub. The metrics count the event, and all its spans belong to one trace.
func TestBrowserForemand(t *testing.T) {
	b := newTab(t)
	gh := githubtest.New(t, githubtest.Config{Token: "t0ken", Login: "octocat"})
	gh.Repo("Codertocat/Hello-World").AddLabel("bug").AddIssue(githubtest.Issue{Number: 1})
	traces := &collectorOfTraces{spans: map[string][]string{}}
	collect := httptest.NewServer(traces)
	defer collect.Close()
	url, stop := startForemand(t, strings.NewReplacer("GITHUB", gh.URL, "COLLECTOR", collect.URL).Replace(serverConfig))
	(&station{t: t, address: strings.TrimPrefix(url, "http://")}).signIn(b, "/")
	b.until(`document.getElementById("live").textContent === "live"`)

	payload, err := os.ReadFile("../../testdata/events/issues/opened.payload.json")
	if err != nil {
		t.Fatal(err)
	}
	payload = bytes.ReplaceAll(payload, []byte(`"author_association": "OWNER"`), []byte(`"author_association": "NONE"`))
	mac := hmac.New(sha256.New, []byte("hook-secret-0123456789"))
	mac.Write(payload)
	hook := post(t, url+"/github/webhook", string(payload))
	hook.Header.Set("X-Github-Event", "issues")
	hook.Header.Set("X-Github-Delivery", "11111111-2222-4333-8444-555555555555")
	hook.Header.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	var hooked struct {
		Task string `json:"task_id"`
	}
	if answer := ask(t, hook, http.StatusAccepted); json.Unmarshal([]byte(answer), &hooked) != nil || hooked.Task == "" {
		t.Fatalf("there is no task: %s", answer)
	}
	row := `document.getElementById("t-` + hooked.Task + `")?.querySelector(".state.`
	b.until(row + `pending")`)
	ask(t, post(t, url+"/queue/next", `{"agent_url":"http://127.0.0.1:1"}`), http.StatusOK)
	b.until(row + `claimed")`)
	ask(t, post(t, url+"/queue/complete", `{"task_id":"`+hooked.Task+`","decision":"label_and_respond","rationale":"<script>window.evil=1</script>","actions":[{"type":"add_label","label":"bug"},{"type":"close_issue"}]}`), http.StatusAccepted)
	b.until(row + `done")`)
	b.run(chromedp.Click(chromedp.CSS(`#t-`+hooked.Task+` td:last-child a`)), chromedp.WaitVisible(chromedp.CSS(".actions")))
	if got := eval[string](b, `[...document.querySelectorAll(".actions tbody tr")].map((r) => [...r.cells].slice(2, 4).map((c) => c.textContent).join(" ")).join("; ")`); got != "permitted done; skipped nothing to do" {
		t.Errorf("verdicts and results: %q", got)
	}
	b.shoot("foremand-task")
	if eval[bool](b, `window.evil !== undefined`) {
		t.Error("a script ran")
	}

	scrape, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/metrics", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	scrape.SetBasicAuth("ada", "correct horse")
	metrics := ask(t, scrape, http.StatusOK)
	for _, want := range []string{
		`foreman_tasks_enqueued_total{how="added",source="webhook"} 1`, `foreman_claims_total{agent="http://127.0.0.1:1"} 1`,
		`foreman_completions_total{outcome="accepted"} 1`, `foreman_drained_total{outcome="done"} 1`, `foreman_apply_attempts_total{status="done"} 1`,
		`foreman_http_request_seconds_count{code="202",verb="webhook"} 1`, `foreman_github_request_seconds_count{code="200",method="POST"} 1`,
		`foreman_nudges_total{agent="http://127.0.0.1:1",`,
	} {
		if !strings.Contains(metrics, want) {
			t.Errorf("the metrics do not say %s", want)
		}
	}
	b.expect("ERR_") // the open page notices that the server stops
	log := stop()
	for _, secret := range []string{"t0ken", "correct horse", "hook-secret"} {
		if strings.Contains(log, secret) {
			t.Errorf("the log shows %s", secret)
		}
	}
	traces.mu.Lock()
	defer traces.mu.Unlock()
	var steps []string
	for _, names := range traces.spans {
		if slices.Contains(names, "POST /github/webhook") {
			steps = slices.Compact(slices.Sorted(slices.Values(names)))
		}
	}
	want := []string{"GET", "POST", "POST /github/webhook", "apply decisions", "claim tasks", "complete tasks", "enqueue tasks", "invoke_agent http://127.0.0.1:1"}
	if diff := cmp.Diff(want, steps); diff != "" || traces.err != nil {
		t.Errorf("steps of the event's trace (-want +got), %v:\n%s", traces.err, diff)
	}
}
