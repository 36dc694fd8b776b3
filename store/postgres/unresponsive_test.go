package postgres_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/postgres"
)

// A mute is a proxy in front of a database. When it is silent, it keeps the open connections and
// forwards nothing, not even that a connection was closed.
type mute struct {
	to     string
	silent atomic.Bool
	over   <-chan struct{} // closed by end
	end    func()          // closes all connections
	url    string
}

// newMute starts a mute in front of the database of a URL.
func newMute(t *testing.T, target string) *mute {
	t.Helper()
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	over := make(chan struct{})
	m := &mute{to: u.Host, over: over}
	if host := u.Query().Get("host"); host != "" {
		m.to = host + "/.s.PGSQL." + portOf(u)
	}
	q := u.Query()
	q.Del("host")
	q.Del("port")
	q.Set("sslmode", "disable")
	u.RawQuery, u.Host = q.Encode(), l.Addr().String()
	m.url = u.String()
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { m.serve(t, c) })
		}
	})
	m.end = sync.OnceFunc(func() {
		l.Close()
		close(over)
		wg.Wait()
	})
	t.Cleanup(m.end)
	return m
}

func portOf(u *url.URL) string {
	if port := u.Query().Get("port"); port != "" {
		return port
	}
	return "5432"
}

// serve forwards a connection in both directions.
func (m *mute) serve(t *testing.T, client net.Conn) {
	network := "tcp"
	if m.to[0] == '/' {
		network = "unix"
	}
	server, err := net.Dial(network, m.to)
	if err != nil {
		t.Error(err)
		client.Close()
		return
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		<-m.over
		server.Close()
		client.Close()
	})
	pass := func(to, from net.Conn) {
		buf, deaf := make([]byte, 32<<10), false
		for {
			n, err := from.Read(buf)
			deaf = deaf || m.silent.Load()
			if err == nil && !deaf {
				_, err = to.Write(buf[:n])
			}
			if err != nil && !errors.Is(err, io.ErrShortWrite) {
				if deaf && m.silent.Load() {
					<-m.over
				}
				to.Close()
				from.Close()
				return
			}
		}
	}
	wg.Go(func() { pass(server, client) })
	wg.Go(func() { pass(client, server) })
	wg.Wait()
}

// TestSilent makes a database stop answering without closing connections: no call waits forever.
// When the database answers again, calls succeed, and changes by other processes arrive.
func TestSilent(t *testing.T) {
	t.Parallel()
	direct := postgres.Server(t).Schema(t)
	other := open(t, direct, postgres.Options{}) // creates the tables
	m := newMute(t, direct)
	// The timeout is longer than any answer takes, even on a slow machine.
	s := open(t, m.url, postgres.Options{Timeout: 5 * time.Second})
	defer m.end() // before the store is closed, because closing a silent connection takes a while
	changes, stop := s.Queue().Watch()
	defer stop()
	enqueue(t, s, "1")
	m.silent.Store(true)
	var wg sync.WaitGroup
	for name, call := range map[string]func() error{
		"Enqueue": func() error {
			_, err := s.Queue().Enqueue(t.Context(), queue.Task{ID: "2", Agent: "http://a/", Repo: "o/r", Message: []byte("{}")})
			return err
		},
		"ClaimNext": func() error {
			_, err := s.Queue().ClaimNext(t.Context(), "http://a/", queue.ClaimOptions{Lease: time.Hour})
			return err
		},
		"Stats": func() error { _, err := s.Queue().Stats(t.Context()); return err },
	} {
		wg.Go(func() {
			begin := time.Now()
			if err := call(); !errors.Is(err, queue.ErrUnavailable) {
				t.Errorf("%s: got %v, want ErrUnavailable", name, err)
			}
			if took := time.Since(begin); took > patience {
				t.Errorf("%s took %s", name, took)
			}
		})
	}
	wg.Wait()
	m.silent.Store(false)
	if _, err := s.Queue().Inspect(t.Context(), "1"); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	// Until the store has reconnected to listen.
	for i, deadline := 0, time.Now().Add(patience); ; i++ {
		agent := fmt.Sprintf("http://b%d/", i)
		if _, err := other.Queue().Enqueue(t.Context(), queue.Task{ID: agent, Agent: agent, Repo: "o/r", Message: []byte("{}")}); err != nil {
			t.Fatal(err)
		}
		if told(changes, agent) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("no change arrived after the database answered again")
		}
	}
}

// told reports whether a change of an agent's tasks arrives within half a second.
func told(changes <-chan queue.Change, agent string) bool {
	timer := time.NewTimer(time.Second / 2)
	defer timer.Stop()
	for {
		select {
		case c := <-changes:
			if c.Agent == agent {
				return true
			}
		case <-timer.C:
			return false
		}
	}
}
