//go:build unix

package faults_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

var (
	soakEvents = flag.Int("soak.events", 200, "how many issues are opened in TestSoak; make soak opens 100,000")
	soakOut    = flag.String("soak.out", "", "file that gets the report of TestSoak")
)

// soakRules ask for the same labels as the agent of the tests, and for two comments, whose text
// is fixed.
const soakRules = `version: 1
policy: {limits: {comment: 2, add_label: 5}}
rules:
  - id: crash
    on: [issues.opened]
    when: issue.title contains "crashes"
    then:
      - add_label: bug
      - comment: "First. As the rules have it."
      - add_label: seen
      - comment: "Second. As the rules have it."
`

const (
	maxOpen     = 300 // issues without their comments at the same time
	soakSamples = 40  // of the memory
)

// TestSoak opens many issues, while some calls to GitHub fail in all known ways. Every issue gets
// its labels and comments once, and the server's memory does not grow.
func TestSoak(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it starts processes, and waits for them for some seconds")
	}
	events := *soakEvents
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute+time.Duration(events)*100*time.Millisecond)
	defer cancel()
	faults := &trouble{random: rand.New(rand.NewPCG(seed, 2)), counts: map[string]int{}}
	s := newStage(t, setting{program: build(t), servers: 1, trouble: faults, rules: soakRules})
	begin := time.Now()
	issues := &feed{stage: s}
	issues.run(ctx)
	var memory []sample
	for asked, finished := 0, 0; finished < events && ctx.Err() == nil; {
		if n := min(events-asked, maxOpen-(asked-finished)); n > 0 {
			issues.more(n)
			asked += n
		}
		before := finished
		for finished < asked && len(s.gh.Issue(repo, finished+1).Comments) >= 2 {
			finished++
		}
		if n := samplesDue(before, finished, events); n > 0 {
			now := sample{finished, s.resident("server0"), s.resident("agent")}
			memory = append(memory, slices.Repeat([]sample{now}, n)...)
		}
		if finished == before {
			wait(ctx, 20*time.Millisecond)
		}
	}
	last := issues.stop(t)
	finished := s.finished(ctx, last)
	lost, doubled := s.judge(t, last)
	report := soakReport(soakResult{time.Since(begin), last, lost, doubled, memory}, faults)
	t.Log(report)
	if *soakOut != "" {
		if err := os.WriteFile(*soakOut, []byte(report), 0o644); err != nil {
			t.Error(err)
		}
	}
	if !finished || last != events || lost+doubled > 0 {
		t.Errorf("%d issues, %d lost, %d doubled, all finished: %v\n%s", last, lost, doubled, finished, s.logs())
	}
	if total := faults.total(); total < events/50 {
		t.Errorf("only %d faults on %d events", total, events)
	}
	switch before, after, err := growth(memory); {
	case err != nil:
		t.Logf("the memory is not judged: %v", err)
	case after > before*5/4+8<<10:
		t.Errorf("the server has %d kB in the last quarter, %d in the second", after, before)
	}
}

// A sample is the memory of the processes in kB after a number of finished events.
type sample struct{ finished, server, agent int }

// samplesDue returns how many samples to take when the number of finished events has grown from the
// value before to the value finished. The soakSamples samples are spread evenly over all events, so
// several may be due at once.
func samplesDue(before, finished, events int) int {
	return finished*soakSamples/events - before*soakSamples/events
}

// growth returns the peak memory of the server in the second quarter and in the last quarter. Its
// error is the reason why they cannot be compared.
func growth(memory []sample) (before, after int, err error) {
	switch n := len(memory); {
	case n < soakSamples:
		return 0, 0, fmt.Errorf("%d samples, want %d", n, soakSamples)
	case slices.ContainsFunc(memory, func(m sample) bool { return m.server == 0 }):
		return 0, 0, errors.New("the memory of the process cannot be read on this system")
	}
	quarter := len(memory) / 4
	peak := func(part []sample) int {
		return slices.MaxFunc(part, func(a, b sample) int { return a.server - b.server }).server
	}
	return peak(memory[quarter : 2*quarter]), peak(memory[3*quarter:]), nil
}

func TestSamplesDue(t *testing.T) {
	t.Parallel()
	for _, steps := range [][]int{{200}, {1, 200}, {99, 100, 101, 200}, {199, 200}} {
		sum, before := 0, 0
		for _, finished := range steps {
			sum += samplesDue(before, finished, 200)
			before = finished
		}
		if sum != soakSamples {
			t.Errorf("%d samples when %v of 200 events are finished, want %d", sum, steps, soakSamples)
		}
	}
	if n := samplesDue(0, 4, 200); n != 0 {
		t.Errorf("%d samples before the first threshold", n)
	}
}

func TestGrowth(t *testing.T) {
	t.Parallel()
	memory := make([]sample, soakSamples)
	for i := range memory {
		memory[i] = sample{i * 5, 1000 + i, 1}
	}
	if before, after, err := growth(memory); err != nil || before != 1019 || after != 1039 {
		t.Errorf("got %d, %d, %v", before, after, err)
	}
	if _, _, err := growth(memory[:15]); err == nil {
		t.Error("15 samples are judged")
	}
	memory[soakSamples-1].server = 0
	if _, _, err := growth(memory); err == nil {
		t.Error("a sample without a memory is judged")
	}
}

// resident returns the memory of a process in kB; 0: the system does not report it.
func (s *stage) resident(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.procs[name].cmd.Process.Pid))
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			n, _ := strconv.Atoi(strings.Fields(rest)[0])
			return n
		}
	}
	return 0
}

// referenceAgent builds foreman, and returns a function that returns the command of its agent.
func referenceAgent(t testing.TB, dir, rules string, port int) func() *exec.Cmd {
	t.Helper()
	program, file := filepath.Join(dir, "foreman"), filepath.Join(dir, "rules.yml")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../../..").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	if err := os.WriteFile(file, []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	return func() *exec.Cmd {
		return exec.Command(program, "agent", "serve", "--rules", file, "--concurrency", "16", "--listen", fmt.Sprintf("127.0.0.1:%d", port))
	}
}

// trouble makes calls to GitHub fail by a seeded schedule. It is safe for concurrent use.
type trouble struct {
	mu     sync.Mutex
	random *rand.Rand
	counts map[string]int
}

// A fault is a way in which a call fails. often is its number per 10,000 calls.
type fault struct {
	name   string
	often  int
	answer func(w http.ResponseWriter, r *http.Request, h http.Handler)
}

// faults returns the ways in which calls fail.
func faults() []fault {
	page := func(status int, body string, header ...string) func(http.ResponseWriter, *http.Request, http.Handler) {
		return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
			for i := 0; i+1 < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	return []fault{
		{"cut before it arrives", 40, func(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) }},
		{"carried out, the answer cut", 40, func(_ http.ResponseWriter, r *http.Request, h http.Handler) {
			h.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		}},
		{"carried out, answered 502", 40, func(w http.ResponseWriter, r *http.Request, h http.Handler) {
			h.ServeHTTP(httptest.NewRecorder(), r)
			page(http.StatusBadGateway, "<html>Unicorn</html>")(w, r, h)
		}},
		{"502", 40, page(http.StatusBadGateway, "<html>Unicorn</html>")},
		{"503", 20, page(http.StatusServiceUnavailable, `{"message":"No server is currently available"}`, "Content-Type", "application/json")},
		{"a page with status 200", 10, page(http.StatusOK, "<html>Maintenance</html>", "Content-Type", "text/html")},
		{"429", 1, page(http.StatusTooManyRequests, `{"message":"You have exceeded a secondary rate limit"}`, "Content-Type", "application/json", "Retry-After", "1")},
	}
}

// before returns a handler that injects faults into the requests to h.
func (f *trouble) before(h http.Handler) http.Handler {
	if f == nil {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		// A fault may carry out a call that the client has cancelled.
		r = r.WithContext(context.WithoutCancel(r.Context()))
		r.Body = io.NopCloser(bytes.NewReader(body))
		f.next(h).ServeHTTP(w, r)
	})
}

// next returns the handler of the next call: h or a fault, at random.
func (f *trouble) next(h http.Handler) http.Handler {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.random.IntN(10_000)
	for _, one := range faults() {
		if n -= one.often; n < 0 {
			f.counts[one.name]++
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { one.answer(w, r, h) })
		}
	}
	return h
}

func (f *trouble) total() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	sum := 0
	for _, n := range f.counts {
		sum += n
	}
	return sum
}

// A soakResult is the outcome of a run.
type soakResult struct {
	took                  time.Duration
	events, lost, doubled int
	memory                []sample
}

// soakReport renders a run as Markdown.
func soakReport(r soakResult, f *trouble) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var b strings.Builder
	fmt.Fprintf(&b, "%d events in %s (%.0f a second): %d lost, %d doubled\n\n", r.events, r.took.Round(time.Second), float64(r.events)/r.took.Seconds(), r.lost, r.doubled)
	b.WriteString("| fault of a call to GitHub | times |\n|---|---:|\n")
	for _, name := range slices.Sorted(maps.Keys(f.counts)) {
		fmt.Fprintf(&b, "| %s | %d |\n", name, f.counts[name])
	}
	b.WriteString("\n| events finished | foremand, MB | agent, MB |\n|---:|---:|---:|\n")
	for i, m := range r.memory {
		if i%4 == 3 || len(r.memory) < soakSamples {
			fmt.Fprintf(&b, "| %d | %.1f | %.1f |\n", m.finished, float64(m.server)/1024, float64(m.agent)/1024)
		}
	}
	return b.String()
}
