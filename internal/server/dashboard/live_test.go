package dashboard

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/queue"
)

// A moving queue is one whose only task changes.
type moving struct {
	still

	mu      sync.Mutex
	state   queue.State
	changes chan queue.Change
}

func newMoving() *moving {
	m := &moving{changes: make(chan queue.Change, 10)}
	m.Tasks = oneFailed().Tasks
	return m
}

func (m *moving) Inspect(ctx context.Context, id string) (queue.Details, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	d, err := m.still.Inspect(ctx, id)
	if m.state != "" {
		d.State = m.state
	}
	return d, err
}

func (m *moving) set(s queue.State) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.state = s
}

func (m *moving) Watch() (<-chan queue.Change, func()) { return m.changes, func() {} }

// A listener is an open stream. It receives the dashboard's messages over a pipe.
type listener struct {
	in   *bufio.Reader
	stop context.CancelFunc
	done chan int // receives the status when the stream ends
}

// piped is a response that is read while it is written.
type piped struct {
	net.Conn
	header http.Header
	status int
}

func (p *piped) Header() http.Header                { return p.header }
func (p *piped) WriteHeader(status int)             { p.status = status }
func (p *piped) FlushError() error                  { return nil }
func (p *piped) SetReadDeadline(t time.Time) error  { return p.Conn.SetReadDeadline(t) }
func (p *piped) SetWriteDeadline(t time.Time) error { return p.Conn.SetWriteDeadline(t) }

func listen(t *testing.T, d http.Handler, path string, edit func(r *http.Request)) *listener {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = "localhost"
	if edit != nil {
		edit(r)
	}
	here, there := net.Pipe()
	l := &listener{in: bufio.NewReader(here), stop: stop, done: make(chan int, 1)}
	go func() {
		p := &piped{Conn: there, header: http.Header{}, status: http.StatusOK}
		d.ServeHTTP(p, r)
		_ = there.Close()
		l.done <- p.status
	}()
	return l
}

// next returns the next message, without its version.
func (l *listener) next(t *testing.T) string {
	t.Helper()
	var lines []string
	for {
		line, err := l.in.ReadString('\n')
		if err != nil {
			t.Fatalf("the stream ended: %v", err)
		}
		line = strings.TrimSuffix(line, "\n")
		if line == "" {
			return strings.Join(lines, " ")
		}
		name, _, _ := strings.Cut(line, ": ")
		if name == "id" || name == "data" {
			line = name
		}
		lines = append(lines, line)
	}
}

// TestStream follows a task: by change notifications, by periodic checks, and by heartbeats without
// a change.
func TestStream(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newMoving()
		d := serve(t, Options{Queue: q, Now: time.Now, Every: 5 * time.Second})
		begin := time.Now()
		l := listen(t, d, "/events?task=id-1&seen=old", nil)
		at := func(what string, want time.Duration) {
			t.Helper()
			if got := l.next(t); got != what {
				t.Errorf("got %q, want %q", got, what)
			}
			if got := time.Since(begin); got != want {
				t.Errorf("%s: came after %v, want %v", what, got, want)
			}
		}
		const change = "id event: change data"
		at("retry: 2000", 0)
		at(change, 0)
		synctest.Wait()
		q.set(queue.Claimed)
		for range 5 {
			q.changes <- queue.Change{}
		}
		at(change, debounce)
		q.set(queue.Done)
		at(change, 5*time.Second)
		at(":", 20*time.Second)
		close(q.changes) // the queue is closed; periodic checks continue
		q.set(queue.Failed)
		at(change, 20*time.Second)
		l.stop()
		if status := <-l.done; status != http.StatusOK {
			t.Errorf("got status %d", status)
		}
		if n := len(d.live.permits); n != 0 {
			t.Errorf("%d streams are left", n)
		}
	})
}

// TestStreamResumed connects again: a version that the browser has is not sent again.
func TestStreamResumed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := serve(t, Options{Queue: newMoving(), Now: time.Now})
		c, err := d.contents.task(t.Context(), "id-1")
		if err != nil {
			t.Fatal(err)
		}
		version, err := c.version()
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		l := listen(t, d, "/events?task=id-1&seen=old", func(r *http.Request) { r.Header.Set("Last-Event-ID", version) })
		got := []string{l.next(t), l.next(t)}
		if diff := cmp.Diff([]string{"retry: 2000", ":"}, got); diff != "" || time.Since(begin) < heartbeat {
			t.Errorf("after %v (-want +got):\n%s", time.Since(begin), diff)
		}
		l.stop()
		<-l.done
	})
}

// TestStreamEnds checks that streams end after a logout, after streamLife, and if the browser does
// not read.
func TestStreamEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := serve(t, Options{Queue: newMoving(), Operators: ada, Now: time.Now})
		cookies := signIn(t, d, "correct horse").Cookies()
		l := listen(t, d, "/events?task=id-1", func(r *http.Request) {
			for _, c := range cookies {
				r.AddCookie(c)
			}
		})
		l.next(t)
		l.next(t)
		d.auth.sessions.end(cookies[0].Value)
		<-l.done // or the test would hang

		d = serve(t, Options{Queue: newMoving(), Now: time.Now})
		begin := time.Now()
		l = listen(t, d, "/events", nil)
		go func(in *bufio.Reader) { // simulates a browser that only reads
			for {
				if _, err := in.ReadByte(); err != nil {
					return
				}
			}
		}(l.in)
		<-l.done
		if got := time.Since(begin); got != streamLife {
			t.Errorf("it ended after %v, want %v", got, streamLife)
		}
		// A browser that does not read is disconnected.
		l = listen(t, d, "/events", nil)
		begin = time.Now()
		<-l.done
		if got := time.Since(begin); got > time.Minute {
			t.Errorf("it ended after %v", got)
		}
	})
}

func TestStreamRefused(t *testing.T) {
	t.Parallel()
	full := serve(t, Options{Queue: newMoving()})
	for range maxStreams {
		full.live.permits <- struct{}{}
	}
	tests := []struct {
		name   string
		d      http.Handler
		call   call
		status int
	}{
		{"nobody", serve(t, Options{Operators: ada}), call{}, 401},
		{"private", serve(t, Options{Private: true}), call{}, 401},
		{"a filter that is none", serve(t, Options{}), call{path: "/events?issue=x"}, 400},
		{"too many", full, call{}, 503},
		{"POST", full, call{method: "POST"}, 405},
		{"no such path", full, call{path: "/event"}, 404},
	}
	for _, tt := range tests {
		if tt.call.path == "" {
			tt.call.path = "/events"
		}
		r := tt.call.do(t, tt.d)
		if r.StatusCode != tt.status {
			t.Errorf("%s: got %d, want %d", tt.name, r.StatusCode, tt.status)
		}
		if body := text(t, r); tt.status == 404 && body != `{"detail":"Not Found"}` || tt.status == 405 && r.Header.Get("Allow") == "" {
			t.Errorf("%s: got %s, %v", tt.name, body, r.Header)
		}
	}
}

// TestCounts checks that many open pages share one count of the tasks.
func TestCounts(t *testing.T) {
	t.Parallel()
	now := noon()
	q := &counting{still: still{Stats_: queue.Stats{Held: 1}}}
	r := newReader(q, nil, func() time.Time { return now })
	look := func(want int) {
		t.Helper()
		if _, err := r.counts(t.Context()); err != nil || q.n != want {
			t.Errorf("counted %d times, want %d (%v)", q.n, want, err)
		}
	}
	look(1)
	now = now.Add(freshFor - 1)
	look(1)
	r.changed()
	look(2)
	now = now.Add(freshFor)
	look(3)
	q.cost = func() { now = now.Add(time.Second) }
	now = now.Add(time.Hour)
	look(4)
	now = now.Add(costFactor*time.Second - 1)
	look(4)
	now = now.Add(1)
	look(5)
	now = now.Add(-time.Hour) // the clock was set back
	look(6)
}

// counting counts how often tasks are counted.
type counting struct {
	still

	n    int
	cost func()
}

func (c *counting) Stats(ctx context.Context) (queue.Stats, error) {
	c.n++
	if c.cost != nil {
		c.cost()
	}
	return c.still.Stats(ctx)
}
