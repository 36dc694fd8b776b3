package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/org/foreman-action/internal/testkit/freeport"
)

const secret = "webhook-secret-of-the-benchmark"

// The limits of writes are far beyond what a run makes. Everything else is as by default.
const configText = `identity: {github_token: token-of-the-benchmark, github_user: foreman-bot, api_url: %q}
llm: {provider: none, model: none}
polling: {enabled: false}
queue:
%s  max_tasks_per_hour: 0
  max_writes_per_minute: 1000000
  max_writes_per_hour: 1000000
server: {webhook_secret: %s}
repos:
  - {owner: %s, name: %s, agents: [{type: issue-triage, protocol: sync, concurrency: %d, config: {url: %q}}]}
`

// A stage is one build on a new database, with its GitHub and its agent.
type stage struct {
	*peers
	db      database
	dir     string
	servers []*server
	client  *http.Client
	sent    int
	tracing string // as in setting
}

// A setting is what a stage runs.
type setting struct {
	build
	store
	slow    time.Duration // additional time of each call to GitHub
	tracing string        // system calls of the servers to trace, as strace lists them; empty: none
}

// A server is a process of foremand.
type server struct {
	cmd   *exec.Cmd
	url   string
	trace string        // file with its system calls; empty: none
	ended chan struct{} // closed when the process has ended
}

// start starts the servers on a new database, and waits until they are ready. The caller calls stop,
// even after an error.
func start(ctx context.Context, o options, s setting) (*stage, error) {
	st := &stage{tracing: s.tracing, client: &http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: 128}}}
	var err error
	if st.dir, err = os.MkdirTemp(o.dir, ""); err != nil {
		return st, err
	}
	if st.peers, err = newPeers(ctx, o.payload, s.slow); err != nil {
		return st, err
	}
	if st.db, err = s.create(ctx); err != nil {
		return st, err
	}
	owner, name, _ := strings.Cut(st.repo, "/")
	queue := ""
	if st.db.url != "" {
		queue = fmt.Sprintf("  url: %q\n", st.db.url)
	}
	config := filepath.Join(st.dir, "config.yaml")
	text := fmt.Sprintf(configText, st.github.URL, queue, secret, owner, name, o.concurrency, st.url)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return st, err
	}
	for range s.servers {
		if err := st.serve(ctx, s.program, config); err != nil {
			return st, err
		}
	}
	return st, nil
}

// serve starts a server, and waits until it is ready.
func (st *stage) serve(ctx context.Context, program, config string) error {
	at, err := freeport.Find(ctx)
	if err != nil {
		return err
	}
	args := []string{program, "serve", "--config", config, "--host", "127.0.0.1", "--port", fmt.Sprint(at.Port())}
	s := &server{url: "http://" + at.String(), ended: make(chan struct{})}
	if st.tracing != "" {
		s.trace = filepath.Join(st.dir, fmt.Sprintf("trace%d", len(st.servers)))
		args = append([]string{"strace", "-D", "-f", "--seccomp-bpf", "-yy", "-s", "0", "-e", "trace=" + st.tracing, "-o", s.trace}, args...)
	}
	log, err := os.Create(filepath.Join(st.dir, fmt.Sprintf("log%d", len(st.servers))))
	if err != nil {
		return err
	}
	defer log.Close()
	s.cmd = exec.CommandContext(ctx, args[0], args[1:]...)
	// The files have their default names below HOME.
	s.cmd.Env = []string{"HOME=" + st.dir, "NO_PROXY=127.0.0.1", "PATH=" + os.Getenv("PATH")}
	s.cmd.Stdout, s.cmd.Stderr = log, log
	if err := s.cmd.Start(); err != nil {
		return err
	}
	go func() {
		_ = s.cmd.Wait()
		close(s.ended)
	}()
	st.servers = append(st.servers, s)
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		resp, err := st.get(ctx, s.url+"/healthcheck/ready")
		if err == nil {
			return resp.Close()
		}
		select {
		case <-s.ended:
			return fmt.Errorf("%s has ended\n%s", program, st.logs())
		case <-ctx.Done():
			return fmt.Errorf("%s does not become ready: %w\n%s", program, err, st.logs())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// logs returns the ends of the servers' logs.
func (st *stage) logs() string {
	var out strings.Builder
	for i := range st.servers {
		text, _ := os.ReadFile(filepath.Join(st.dir, fmt.Sprintf("log%d", i)))
		lines := strings.Split(string(text), "\n")
		fmt.Fprintf(&out, "server %d:\n", i)
		for _, line := range lines[max(0, len(lines)-20):] {
			fmt.Fprintln(&out, line[:min(len(line), 300)])
		}
	}
	return out.String()
}

// get returns the body of a response with status 200.
func (st *stage) get(ctx context.Context, url string) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	resp, err := st.client.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		_ = resp.Body.Close()
		return nil, fmt.Errorf("%s: status %d", url, resp.StatusCode)
	}
	return resp.Body, nil
}

// send sends a webhook to the servers in turns.
func (st *stage) send(ctx context.Context, d delivery) error {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(d.body)
	url := st.servers[d.issue%len(st.servers)].url + "/github/webhook"
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(d.body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Github-Event", "issues")
	req.Header.Set("X-Github-Delivery", fmt.Sprintf("delivery-%d", d.issue))
	req.Header.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	resp, err := st.client.Do(req)
	if err != nil {
		return err
	}
	answer, err := io.ReadAll(resp.Body)
	if err == nil && !bytes.Contains(answer, []byte(`"added"`)) {
		err = fmt.Errorf("the webhook was not added: status %d: %s", resp.StatusCode, answer)
	}
	return errors.Join(err, resp.Body.Close())
}

// done returns the number of tasks that all servers have finished.
func (st *stage) done(ctx context.Context) (n int, err error) {
	for _, s := range st.servers {
		body, err := st.get(ctx, s.url+"/metrics")
		if err != nil {
			return 0, err
		}
		lines := bufio.NewScanner(body)
		for lines.Scan() {
			if value, ok := strings.CutPrefix(lines.Text(), `foreman_drained_total{outcome="done"} `); ok {
				f, _ := strconv.ParseFloat(value, 64)
				n += int(f)
			}
		}
		if err := errors.Join(lines.Err(), body.Close()); err != nil {
			return 0, err
		}
	}
	return n, nil
}

// finished waits until all sent tasks are done.
func (st *stage) finished(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		n, err := st.done(ctx)
		if err != nil || n == st.sent {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d of %d tasks are done: %w", n, st.sent, ctx.Err())
		case <-time.After(time.Millisecond):
		}
	}
}

// end ends the servers, and waits for them.
func (st *stage) end() {
	for _, s := range st.servers {
		_ = s.cmd.Process.Signal(syscall.SIGTERM)
	}
	for _, s := range st.servers {
		kill := time.AfterFunc(30*time.Second, func() { _ = s.cmd.Process.Kill() })
		<-s.ended
		kill.Stop()
	}
}

// stop ends the servers and their peers, and removes the database.
func (st *stage) stop() {
	st.end()
	st.client.CloseIdleConnections()
	if st.peers != nil {
		st.close()
	}
	if st.db.drop != nil {
		st.db.drop()
	}
	_ = os.RemoveAll(st.dir)
}
