// Package deploy tests the files in the folder deploy: the server is started with Docker Compose, and
// the Helm chart is rendered.
package deploy

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/release/command"
)

const root = "../../.."

// needCompose returns the command of Docker Compose. Without it or an engine the test is skipped, or fails
// if continuous integration has found an engine.
func needCompose(t *testing.T) []string {
	t.Helper()
	missing := t.Skipf
	if os.Getenv("FOREMAN_E2E_REQUIRE_DOCKER") != "" {
		missing = t.Fatalf
	}
	if out, err := exec.CommandContext(t.Context(), "docker", "version", "--format", "{{.Server.Version}}").CombinedOutput(); err != nil {
		missing("no Docker engine answers: %v %s", err, out)
	}
	for _, c := range [][]string{{"docker", "compose"}, {"docker-compose"}} {
		if exec.CommandContext(t.Context(), c[0], append(c[1:], "version")...).Run() == nil {
			return c
		}
	}
	missing("Docker Compose is needed, and not installed")
	return nil
}

// TestCompose starts the server of compose.yaml in our own image, and sends it an event.
func TestCompose(t *testing.T) {
	t.Parallel()
	compose := needCompose(t)
	const version = "v0.0.0-compose-test"
	var tag, log bytes.Buffer
	err := command.Run(t.Context(), command.Env{Getenv: func(string) string { return "" }, Stdout: &tag, Stderr: &log},
		[]string{"load", "-root", root, "-version", version})
	if err != nil {
		t.Fatal(err, log.String())
	}
	dir := t.TempDir()
	for _, name := range []string{"compose.yaml", "config.yaml", "example.env"} {
		text, err := os.ReadFile(filepath.Join(root, "deploy/compose", name))
		if err != nil {
			t.Fatal(err)
		}
		if name == "example.env" {
			name = ".env"
			for _, secret := range []string{"WEBHOOK", "AGENT", "OPERATOR"} {
				text = bytes.Replace(text, []byte(secret+"_SECRET=\n"), []byte(secret+"_SECRET="+secretOf(secret)+"\n"), 1)
			}
			text = fmt.Appendf(text, "FOREMAND_IMAGE=%sFOREMAND_PORT=%d\n", tag.String(), freePort(t))
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	project := "foreman-compose-" + strings.ToLower(filepath.Base(dir)) + fmt.Sprint(os.Getpid())
	run := func(ctx context.Context, args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, compose[0], append(append(compose[1:], "-p", project), args...)...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
		defer cancel()
		if out, err := run(ctx, "down", "--volumes", "--timeout", "5"); err != nil {
			t.Errorf("compose down: %v\n%s", err, out)
		}
		_ = exec.CommandContext(ctx, "docker", "rmi", strings.TrimSpace(tag.String())).Run()
	})
	if out, err := run(t.Context(), "up", "--detach"); err != nil {
		t.Fatalf("compose up: %v\n%s", err, out)
	}
	env, err := os.ReadFile(filepath.Join(dir, ".env"))
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := strings.Cut(string(env), "FOREMAND_PORT=")
	url := "http://127.0.0.1:" + strings.TrimSpace(port)
	failed := func(what string) {
		out, _ := run(t.Context(), "logs")
		t.Fatalf("%s\n%s", what, out)
	}
	if !within(time.Minute, func() bool { return get(t, url+"/readyz", "") == http.StatusOK }) {
		failed("the server is not ready within a minute")
	}
	deliver(t, url)
	done := func() bool {
		return strings.Contains(ask(t, url+"/queue/status", secretOf("OPERATOR")), `"done":1`)
	}
	if !within(time.Minute, done) {
		failed("the task is not done within a minute: " + ask(t, url+"/queue/status", secretOf("OPERATOR")))
	}
	if out, err := run(t.Context(), "exec", "-T", "foremand", "/foremand", "queue", "show", "--config", "/etc/foremand/config.yaml"); err != nil || !strings.Contains(out, "add_label  documentation") {
		t.Errorf("the task has no plan with a label: %v\n%s", err, out)
	}
}

// secretOf returns the secret of a test.
func secretOf(name string) string {
	return strings.Repeat("0123456789abcdef", 2) + strings.ToLower(name)
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// within reports whether a state arrives in time.
func within(limit time.Duration, state func() bool) bool {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(limit); time.Now().Before(end); <-tick.C {
		if state() {
			return true
		}
	}
	return false
}

// get returns the status of a page; 0: there is no answer.
func get(t *testing.T, url, secret string) int {
	t.Helper()
	res := fetch(t, url, secret)
	if res == nil {
		return 0
	}
	_ = res.Body.Close()
	return res.StatusCode
}

func ask(t *testing.T, url, secret string) string {
	t.Helper()
	res := fetch(t, url, secret)
	if res == nil {
		return ""
	}
	defer res.Body.Close()
	body, _ := io.ReadAll(res.Body)
	return string(body)
}

func fetch(t *testing.T, url, secret string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if secret != "" {
		r.Header.Set("Authorization", "Bearer "+secret)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil
	}
	return res
}

// deliver sends a signed event, as GitHub does.
func deliver(t *testing.T, url string) {
	t.Helper()
	body, err := os.ReadFile(filepath.Join(root, "testdata/events/issues/opened.payload.json"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/github/webhook", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	mac := hmac.New(sha256.New, []byte(secretOf("WEBHOOK")))
	mac.Write(body)
	for name, value := range map[string]string{
		"Content-Type": "application/json", "X-GitHub-Event": "issues", "X-GitHub-Delivery": "compose-1",
		"X-Hub-Signature-256": "sha256=" + hex.EncodeToString(mac.Sum(nil)),
	} {
		r.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	answer, _ := io.ReadAll(res.Body)
	_ = res.Body.Close()
	if res.StatusCode != http.StatusAccepted {
		t.Fatalf("the webhook answered %d: %s", res.StatusCode, answer)
	}
}
