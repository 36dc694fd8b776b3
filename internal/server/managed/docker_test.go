package managed_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/secret"
	"github.com/org/foreman-action/internal/server/managed"
	"github.com/org/foreman-action/internal/testkit/freeport"
	"github.com/org/foreman-action/internal/wait"
)

// A host is a container engine of this machine, and the environment in which the program docker
// talks to it.
type host struct {
	*managed.Docker

	env []string
}

// engines are the engines by which agents can be run. They skip the test where there is none.
var engines = map[string]func(t *testing.T) host{"docker": docker, "podman": podman}

// docker returns the Docker engine of this machine.
func docker(t *testing.T) host {
	t.Helper()
	d, err := managed.OpenDocker("")
	if err != nil {
		t.Fatal(err)
	}
	return answering(t, host{Docker: d})
}

// podman starts Podman's service with a storage of its own.
func podman(t *testing.T) host {
	t.Helper()
	dir := t.TempDir()
	socket := "unix://" + dir + "/sock"
	// Podman raises the limits of its containers by default, which a sandbox may forbid.
	conf := filepath.Join(dir, "containers.conf")
	limits := "[containers]\ndefault_ulimits = [\"nofile=1024:1024\", \"nproc=1024:1024\"]\n"
	if err := os.WriteFile(conf, []byte(limits), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("podman", "--root", dir+"/root", "--runroot", dir+"/run", "--storage-driver", "vfs", "system", "service", "--time", "0", socket)
	cmd.Env = append(os.Environ(), "CONTAINERS_CONF="+conf)
	if err := cmd.Start(); err != nil {
		absent(t, err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	d, err := managed.OpenPodman(socket, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for range 100 { // the service needs a moment until it listens
		if err = d.Ping(t.Context()); err == nil || wait.For(t.Context(), 100*time.Millisecond) != nil {
			break
		}
	}
	return answering(t, host{d, []string{"DOCKER_HOST=" + socket}})
}

// answering returns an engine that answers, and skips the test if it does not.
func answering(t *testing.T, e host) host {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the containers run programs of this machine")
	}
	t.Cleanup(func() { _ = e.Close() })
	if err := e.Ping(t.Context()); err != nil {
		absent(t, err)
	}
	return e
}

// absent skips the test, or fails it where engines are required.
func absent(t *testing.T, err error) {
	t.Helper()
	if os.Getenv("FOREMAN_E2E_REQUIRE_DOCKER") != "" {
		t.Fatalf("no container engine answers, and one must: %v", err)
	}
	t.Skipf("no container engine answers: %v", err)
}

// command runs a program with the standard input that it gets.
func command(t *testing.T, in io.Reader, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Stdin, cmd.Env = in, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
	return strings.TrimSpace(string(out))
}

// image builds an image that contains only the test's agent.
func image(t *testing.T, e host) string {
	t.Helper()
	dir := t.TempDir()
	command(t, nil, []string{"CGO_ENABLED=0"}, "go", "build", "-o", filepath.Join(dir, "agent"), "./testdata/agent")
	tar := command(t, nil, nil, "tar", "-C", dir, "-cf", filepath.Join(dir, "image.tar"), "agent") + filepath.Join(dir, "image.tar")
	file, err := os.ReadFile(tar)
	if err != nil {
		t.Fatal(err)
	}
	name := "foreman-managed-test:" + strings.ToLower(filepath.Base(dir)) + fmt.Sprint(os.Getpid())
	command(t, bytes.NewReader(file), e.env, "docker", "import", "-c", `ENTRYPOINT ["/agent"]`, "-", name)
	t.Cleanup(func() {
		rm := exec.Command("docker", "image", "rm", "-f", name)
		rm.Env = append(os.Environ(), e.env...)
		_ = rm.Run()
	})
	return name
}

// harness starts a server without tasks at an address that containers can reach.
func harness(t *testing.T, e host) (address string, last func() string) {
	t.Helper()
	listen, host, err := e.Reach(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", net.JoinHostPort(listen.String(), "0"))
	if err != nil {
		t.Skipf("the address is not this machine's: %v", err)
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	var asked atomic.Value
	srv := &httptest.Server{Listener: l, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, password, _ := r.BasicAuth()
		body, _ := io.ReadAll(r.Body)
		asked.Store(name + " " + password + " " + r.URL.Path + " " + string(body))
		w.WriteHeader(http.StatusNoContent)
	})}}
	srv.Start()
	t.Cleanup(srv.Close)
	return net.JoinHostPort(host, port), func() string { text, _ := asked.Load().(string); return text }
}

// freePort returns an unused port.
func freePort(t *testing.T) int {
	t.Helper()
	at, err := freeport.Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return int(at.Port())
}

func get(t *testing.T, url string) string {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// TestEngines checks an agent in a real container of each engine: it gets its own and the server's
// address, is isolated, is restarted once and then fails, and leaves no container behind.
func TestEngines(t *testing.T) {
	t.Parallel()
	for name, open := range engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testEngine(t, open(t))
		})
	}
}

func testEngine(t *testing.T, d host) {
	t.Helper()
	name := image(t, d)
	at, asked := harness(t, d)
	owner := fmt.Sprintf("test%d", os.Getpid())
	agent := managed.Agent{
		Name: "triage", Image: name, Port: freePort(t), MemoryMB: 64, CPUs: 0.5, PIDs: 32, User: "65534:65533",
		HarnessURL: secret.Text("http://managed-1:hunter22@" + at), Env: map[string]secret.Text{"KEY": "hunter23"},
	}
	agent.URL = fmt.Sprintf("http://127.0.0.1:%d", agent.Port)

	// Simulate a crashed server, which leaves a container with the same name. It must be removed.
	left, err := d.Start(t.Context(), owner, agent)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Remove(context.WithoutCancel(t.Context()), left) })

	states := make(chan [2]string, 20)
	f, err := managed.New(managed.Options{
		Engine: d, Owner: owner, Agents: []managed.Agent{agent}, Log: newJournal(func(state, reason string) { states <- [2]string{state, reason} }),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- f.Run(ctx) }()
	defer func() { stop(); <-done }()

	want := func(s managed.State, reason string) {
		t.Helper()
		select {
		case got := <-states:
			if got[0] != string(s) || !strings.Contains(got[1], reason) || strings.Contains(got[1], "hunter") {
				t.Fatalf("got %q, want %s: %s", got, s, reason)
			}
		case err := <-done:
			done <- err
			t.Fatalf("the supervisor ended: %v", err)
		case <-time.After(5 * time.Minute):
			t.Fatalf("still %+v, want %s", f.Statuses(), s)
		}
	}
	want(managed.Healthy, "")
	facts := get(t, agent.URL+"/facts")
	for _, fact := range []string{"root writable: false", "both addresses: true", "tmp writable: true", "key: hunter23", "Uid:\t65534", "Gid:\t65533", "CapEff:\t0000000000000000", "NoNewPrivs:\t1"} {
		if !strings.Contains(facts, fact) {
			t.Errorf("%q is missing in:\n%s", fact, facts)
		}
	}
	if got, want := asked(), `managed-1 hunter22 /queue/next {"agent_url":"`+agent.URL+`"}`; got != want {
		t.Errorf("the agent asked %s, want %s", got, want)
	}
	inspected := command(t, nil, d.env, "docker", "inspect", "foreman-triage-"+owner, "--format",
		"{{.HostConfig.Memory}} {{.HostConfig.NanoCpus}} {{.HostConfig.PidsLimit}} {{(index (index .NetworkSettings.Ports \"8000/tcp\") 0).HostIp}}")
	if inspected != "67108864 500000000 32 127.0.0.1" {
		t.Errorf("limits: %s", inspected)
	}
	get(t, agent.URL+"/exit")
	want(managed.Unhealthy, "it ended with exit code 3: I was asked to end; my key is ***")
	want(managed.Starting, "restarting")
	want(managed.Healthy, "")
	get(t, agent.URL+"/exit")
	want(managed.Unhealthy, "exit code 3")
	want(managed.Failed, "exit code 3")
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	done <- nil
	if out := command(t, nil, d.env, "docker", "ps", "-aq", "--filter", "label=io.foreman.owner="+owner); out != "" {
		t.Errorf("containers are left: %s", out)
	}
}

// TestDockerStopsAndPulls checks that a missing image is reported with the command to pull it, and
// does not prevent the supervisor from stopping.
func TestDockerStopsAndPulls(t *testing.T) {
	t.Parallel()
	d := docker(t)
	owner := fmt.Sprintf("stop%d", os.Getpid())
	states := make(chan [2]string, 20)
	f, err := managed.New(managed.Options{
		Engine: d, Owner: owner, Log: newJournal(func(state, reason string) { states <- [2]string{state, reason} }),
		Agents: []managed.Agent{{Name: "none", Image: "127.0.0.1:1/no/such:image", Port: freePort(t), HarnessURL: "http://x"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- f.Run(ctx) }()
	if s := <-states; s[0] != string(managed.Waiting) || !strings.Contains(s[1], "try: docker pull 127.0.0.1:1/no/such:image") {
		t.Errorf("got %q", s)
	}
	stop()
	<-done
}
