//go:build unix

package faults_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/internal/testkit/freeport"
)

const (
	repo   = "octo-org/widgets"
	secret = "webhook-secret-of-the-tests"
	seed   = 20_261_121
)

// A stage is a fake GitHub, the servers, an agent, and gates for all connections between them.
type stage struct {
	t       testing.TB
	gate    *gate
	gh      *githubtest.Server
	program string
	dir     string
	// people answer the proposals on an issue, and return when all are carried out; nil: none are made.
	people func(ctx context.Context, issue int) error

	servers []*httptest.Server // proxies in front of GitHub, one for each server
	ports   []int              // the servers' ports
	turn    atomic.Int64       // selects the server of the next request
	front   *httptest.Server   // proxy in front of the servers, for the agent and webhooks
	nudge   *httptest.Server   // proxy in front of the agent, for the servers

	agentPort int
	agent     func() *exec.Cmd // returns its command without the environment

	mu       sync.Mutex // guards the fields below
	closed   bool
	procs    map[string]*process
	restarts sync.WaitGroup
}

// A process is a process that may be killed.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when the process has ended
}

// A setting configures a stage.
type setting struct {
	program string
	queue   string        // URL of the queue's database; empty: the queue is in a file
	servers int           // number of servers on one queue
	lease   int           // lease of a decision in seconds; 0: the default of 8
	slow    time.Duration // additional time of each call to GitHub
	hold    *hold         // delays calls to GitHub; nil: no delay
	writes  *writes       // delays comments at GitHub; nil: no delay
	trouble *trouble      // faults of calls to GitHub; nil: none
	rules   string        // rules of the reference agent; empty: the agent of the tests is used
	level   string        // policy.automation; empty: full
}

// newStage starts all processes.
func newStage(t testing.TB, o setting) *stage {
	t.Helper()
	program, queueURL, servers := o.program, o.queue, o.servers
	s := &stage{t: t, program: program, dir: t.TempDir(), procs: map[string]*process{}}
	s.gate = &gate{random: rand.New(rand.NewPCG(seed, 1)), hits: map[point]int{}, killed: make(chan struct{}, 1), strike: s.strike}
	var err error
	if s.gh, err = githubtest.Start(githubtest.Config{SkipValidation: true, Login: "foreman-bot"}); err != nil {
		t.Fatal(err)
	}
	s.gh.Repo(repo).AddLabel("bug", "seen")
	s.agentPort = freePort(t)
	s.agent = func() *exec.Cmd { return exec.Command(os.Args[0]) }
	if o.rules != "" {
		s.agent = referenceAgent(t, s.dir, o.rules, s.agentPort)
	}
	for range servers {
		s.ports = append(s.ports, freePort(t))
	}
	s.front = httptest.NewServer(s.gate.through(verbStep, func() (string, string) {
		i := int(s.turn.Add(1)) % servers
		return fmt.Sprintf("http://127.0.0.1:%d", s.ports[i]), serverName(i)
	}))
	s.nudge = httptest.NewServer(s.gate.through(func(*http.Request) string { return "nudge" }, func() (string, string) {
		return fmt.Sprintf("http://127.0.0.1:%d", s.agentPort), serverName(int(s.turn.Add(1)) % servers)
	}))
	if queueURL != "" {
		queueURL = fmt.Sprintf("  url: %q\n", queueURL)
	}
	t.Cleanup(s.close)
	for i := range servers {
		hub := s.gate.through(gitHubStep, func() (string, string) { return s.gh.URL, serverName(i) })
		api := httptest.NewServer(o.writes.before(serverName(i), o.hold.before(delayed(o.slow, o.trouble.before(hub)))))
		s.servers = append(s.servers, api)
		timeout := 1 + 2*int(o.slow/time.Second)
		if o.hold != nil {
			timeout = 300
		}
		text := fmt.Sprintf(configText, api.URL, timeout, queueURL, cmp.Or(o.lease, 8), secret, cmp.Or(o.level, "full"), s.nudge.URL)
		if err := os.WriteFile(s.config(i), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s.start(serverName(i))
	}
	s.start("agent")
	s.listening()
	return s
}

// listening waits until all servers listen. A server that starts while another one is suspended in
// a write ends after 10 s, and only a supervisor would start it again.
func (s *stage) listening() {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	for _, port := range s.ports {
		for {
			c, err := new(net.Dialer).DialContext(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", port))
			if err == nil {
				_ = c.Close()
				break
			}
			if !wait(ctx, 10*time.Millisecond) {
				s.t.Fatalf("a server does not listen: %v\n%s", err, s.logs())
			}
		}
	}
}

// delayed returns a handler that answers after d.
func delayed(d time.Duration, h http.Handler) http.Handler {
	if d == 0 {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if wait(r.Context(), d) {
			h.ServeHTTP(w, r)
		}
	})
}

func serverName(i int) string { return fmt.Sprintf("server%d", i) }

// config returns the path of the i-th server's configuration.
func (s *stage) config(i int) string { return filepath.Join(s.dir, fmt.Sprintf("config%d.yaml", i)) }

const configText = `identity: {github_token: t0ken-of-the-tests, github_user: foreman-bot, api_url: %q, timeout_seconds: %d}
llm: {provider: none, model: none}
polling: {enabled: false}
queue:
%s  max_tasks_per_hour: 0
  claim_timeout_seconds: 2
  drain_timeout_seconds: %d
  requeue_interval_seconds: 1
  max_retries: 100
  max_drains: 100
  max_writes_per_minute: 1000000
  max_writes_per_hour: 1000000
server: {webhook_secret: %s}
policy: {automation: %s, limits: {comment: 2, add_label: 5}, comment_interval: 0s}
repos:
  - {owner: octo-org, name: widgets, agents: [{type: issue-triage, config: {url: %q}}]}
`

// start starts a server or the agent.
func (s *stage) start(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	cmd := s.server(name)
	if name == "agent" {
		cmd = s.agent()
		cmd.Env = []string{
			agentSwitch + fmt.Sprintf("=127.0.0.1:%d", s.agentPort), "FOREMAN_HARNESS_URL=" + s.front.URL,
			"AGENT_URL=" + s.nudge.URL, "NO_PROXY=127.0.0.1",
		}
	}
	log, err := os.OpenFile(filepath.Join(s.dir, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		s.t.Error(err)
		return
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		s.t.Error(err)
		return
	}
	p := &process{cmd, make(chan struct{})}
	s.procs[name] = p
	go func() {
		_ = cmd.Wait()
		close(p.done)
	}()
}

// server returns the command of a server.
func (s *stage) server(name string) *exec.Cmd {
	var i int
	_, _ = fmt.Sscanf(name, "server%d", &i)
	// The server's files have their default names below HOME. A configured queue.url takes
	// precedence.
	cmd := exec.Command(s.program, "serve", "--config", s.config(i), "--host", "127.0.0.1", "--port", fmt.Sprint(s.ports[i]))
	cmd.Env = []string{"HOME=" + s.dir, "NO_PROXY=127.0.0.1", "PATH=" + os.Getenv("PATH")}
	return cmd
}

// pauseTime is longer than the lease of a decision and than a claim. While a server is suspended, another
// one has 7 seconds to carry on.
const (
	pauseTime  = 12 * time.Second
	pauseLease = 5 // seconds
)

// strike kills a process and starts it again. With pause it suspends the process for pauseTime
// instead.
func (s *stage) strike(name string, pause bool) {
	s.mu.Lock()
	p := s.procs[name]
	s.mu.Unlock()
	if pause {
		_ = p.cmd.Process.Signal(syscall.SIGSTOP)
		s.restarts.Go(func() {
			time.Sleep(pauseTime)
			_ = p.cmd.Process.Signal(syscall.SIGCONT)
		})
		return
	}
	_ = p.cmd.Process.Kill()
	<-p.done
	s.restarts.Go(func() { s.start(name) })
}

// end kills a process and does not start it again.
func (s *stage) end(name string) {
	s.mu.Lock()
	p := s.procs[name]
	s.mu.Unlock()
	_ = p.cmd.Process.Kill()
	<-p.done
}

// close ends all processes and proxies.
func (s *stage) close() {
	s.gate.disarm()
	s.restarts.Wait()
	s.mu.Lock()
	s.closed = true
	for _, p := range s.procs {
		_ = p.cmd.Process.Kill()
		<-p.done
	}
	s.mu.Unlock()
	for _, srv := range append(s.servers, s.front, s.nudge) {
		srv.CloseClientConnections()
		srv.Close()
	}
	s.gh.Close()
}

// deliver opens an issue and sends its webhook until the server has accepted it. On GitHub a
// person can redeliver a webhook, too.
func (s *stage) deliver(ctx context.Context, number int) error {
	now := time.Now().UTC()
	s.gh.Repo(repo).AddIssue(githubtest.Issue{Number: number, Author: "mona", Title: "It crashes", CreatedAt: now})
	for ctx.Err() == nil {
		status, err := webhook(ctx, s.front.URL, number, now)
		if status == http.StatusAccepted || status == http.StatusOK {
			return nil
		}
		if err == nil {
			err = fmt.Errorf("status %d", status)
		}
		if !wait(ctx, 20*time.Millisecond) {
			return fmt.Errorf("deliver issue %d: %w", number, err)
		}
	}
	return ctx.Err()
}

// webhook sends the webhook of an opened issue once, and returns the status of the answer.
func webhook(ctx context.Context, url string, number int, opened time.Time) (status int, err error) {
	return send(ctx, url, "issues", fmt.Sprintf("delivery-%d", number), fmt.Sprintf(webhookText, number, opened.Format(time.RFC3339)))
}

// send sends a webhook once, and returns the status of the answer.
func send(ctx context.Context, url, event, delivery, body string) (status int, err error) {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(body))
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/github/webhook", bytes.NewBufferString(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Github-Event", event)
	req.Header.Set("X-Github-Delivery", delivery)
	req.Header.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	return resp.StatusCode, resp.Body.Close()
}

const webhookText = `{"action": "opened", "issue": {"number": %[1]d, "title": "It crashes", "body": "b", "state": "open",
	"user": {"login": "mona", "type": "User"}, "author_association": "NONE", "labels": [], "created_at": %[2]q, "updated_at": %[2]q},
	"repository": {"full_name": "octo-org/widgets", "default_branch": "main"}, "sender": {"login": "mona", "type": "User"}}`

// wait waits for d, and returns false if the context ends first.
func wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// logs returns the last lines that each process logged.
func (s *stage) logs() string {
	var out strings.Builder
	files, _ := filepath.Glob(filepath.Join(s.dir, "*.log"))
	for _, file := range files {
		data, _ := os.ReadFile(file)
		lines := strings.Split(string(data), "\n")
		fmt.Fprintf(&out, "%s:\n%s\n", filepath.Base(file), strings.Join(lines[max(0, len(lines)-40):], "\n"))
	}
	return out.String()
}

func freePort(t testing.TB) int {
	t.Helper()
	at, err := freeport.Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return int(at.Port())
}

// build returns the path of the server's program, which is built once.
func build(t testing.TB) string {
	t.Helper()
	program, err := server()
	if err != nil {
		t.Fatal(err)
	}
	return program
}
