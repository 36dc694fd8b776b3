//go:build unix

package main

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/testkit/programtest"
)

// TestSocketOfSystemd restarts the server on a socket that systemd would keep open. Webhooks that
// arrive during the restart are answered by the next server.
func TestSocketOfSystemd(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "config.yaml"), "mode: shadow\nidentity: {github_user: bot}\npolling: {enabled: false}\n"+
		"server: {webhook_secret: "+hookSecret+", port: 1}\nqueue: {db_path: q.db, max_tasks_per_hour: 0}\n"+
		"repos: [{owner: Codertocat, name: Hello-World, agents: [{type: issue-triage, config: {url: \"http://127.0.0.1:2\"}}]}]\n")
	socket, url := openSocket(t)
	event := read(t, "../../testdata/events/issues/opened.payload.json")
	begin := func() *exec.Cmd { return serveOn(t, dir, socket) }
	server := begin()
	var during sync.WaitGroup
	var failed error
	err := storm(40, func(int) error { return deliver(url, event) }, func(n int) {
		if n == 20 {
			end(t, server)
			during.Go(func() { failed = deliver(url, event) }) // while no server runs
			server = begin()
		}
	})
	during.Wait()
	if err := errors.Join(err, failed); err != nil {
		t.Error(err)
	}
	end(t, server)
}

// openSocket returns a listening socket, as systemd passes it on, and its address.
func openSocket(t *testing.T) (socket *os.File, url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	if socket, err = l.(*net.TCPListener).File(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { socket.Close() })
	return socket, "http://" + l.Addr().String()
}

// TestSocketWithoutStream starts the server with sockets that cannot be its listener: systemd must not
// start it again, so the exit code is 2.
func TestSocketWithoutStream(t *testing.T) {
	t.Parallel()
	datagrams, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { datagrams.Close() })
	packets, err := datagrams.(*net.UDPConn).File()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { packets.Close() })
	plain, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { plain.Close() })
	for name, socket := range map[string]*os.File{"datagrams": packets, "a file": plain} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "config.yaml"), "mode: shadow\nidentity: {github_user: bot}\nqueue: {db_path: q.db}\n")
		server := serveOn(t, dir, socket)
		_ = server.Wait() // the exit code is checked below
		log := server.Stderr.(*strings.Builder).String()
		if code := server.ProcessState.ExitCode(); code != 2 || !strings.Contains(log, "want a stream, as ListenStream= opens one") {
			t.Errorf("%s: got exit code %d and %s", name, code, log)
		}
	}
}

// TestDescriptors opens more idle connections than the server may have, and then checks that it
// answers another client, and warns.
func TestDescriptors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "config.yaml"), "mode: shadow\nidentity: {github_user: bot}\npolling: {enabled: false}\n"+
		"server: {webhook_secret: "+hookSecret+", port: 1}\nqueue: {db_path: q.db}\n")
	socket, url := openSocket(t)
	server := serveOn(t, dir, socket)
	idle := make([]http.Client, 200)
	for i := range idle {
		via := &http.Transport{}
		t.Cleanup(via.CloseIdleConnections)
		idle[i] = http.Client{Transport: via, Timeout: 20 * time.Second}
	}
	for i := range idle {
		res, err := idle[i].Get(url + "/healthcheck")
		if err != nil {
			t.Fatalf("connection %d: %v", i+1, err)
		}
		_, _ = io.Copy(io.Discard, res.Body) // the connection is idle afterwards
		_ = res.Body.Close()
	}
	end(t, server)
	log := server.Stderr.(*strings.Builder).String()
	if !strings.Contains(log, `"msg":"out of file descriptors`) || !strings.Contains(log, `"limit":100,`) {
		t.Errorf("the log has no warning:\n%s", log)
	}
}

// serveOn starts the server as systemd would: with the socket as file 3.
func serveOn(t *testing.T, dir string, socket *os.File) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/bin/sh", "-c", `ulimit -n 100; LISTEN_PID=$$ exec "$0" serve --config config.yaml`, filepath.Join(dir, "foremand"))
	if err := os.Symlink(self, filepath.Join(dir, "foremand")); err != nil && !errors.Is(err, os.ErrExist) {
		t.Fatal(err)
	}
	var log strings.Builder
	cmd.Dir, cmd.Stderr, cmd.ExtraFiles = dir, &log, []*os.File{socket}
	cmd.Env = []string{"LISTEN_FDS=1", "HOME=" + dir, programtest.RaceDetector(os.Getenv)}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it has ended, unless the test failed
		if t.Failed() {
			t.Log(log.String())
		}
	})
	return cmd
}

func end(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
