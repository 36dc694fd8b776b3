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

	"github.com/org/foreman-action/postgres"
	"github.com/org/foreman-action/queue"
)

// A mute stands before a database and passes on what is said, until it is told to be silent:
// then it keeps all connections, and says nothing any more over those there were until then.
type mute struct {
	to     string
	silent atomic.Bool
	url    string
}

// newMute returns one before the database of a URL.
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
	m := &mute{to: u.Host}
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
	t.Cleanup(func() {
		l.Close()
		wg.Wait()
	})
	return m
}

func portOf(u *url.URL) string {
	if port := u.Query().Get("port"); port != "" {
		return port
	}
	return "5432"
}

// serve passes on what is said over a connection.
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
	pass := func(to, from net.Conn) {
		buf, deaf := make([]byte, 32<<10), false
		for {
			n, err := from.Read(buf)
			deaf = deaf || m.silent.Load()
			if err == nil && !deaf {
				_, err = to.Write(buf[:n])
			}
			if err != nil && !errors.Is(err, io.ErrShortWrite) {
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

// TestSilent lets a database stop answering without a word: no call waits for ever, and when
// it answers again, all goes on, the news of other processes too.
func TestSilent(t *testing.T) {
	t.Parallel()
	direct := schema(t)
	other := open(t, direct, postgres.Options{}) // it makes the tables
	m := newMute(t, direct)
	s := open(t, m.url, postgres.Options{Timeout: 5 * time.Second}) // enough for what is answered, on any machine
	changes, stop := s.Watch()
	defer stop()
	enqueue(t, s, "1")
	m.silent.Store(true)
	var wg sync.WaitGroup
	for name, call := range map[string]func() error{
		"Enqueue": func() error {
			_, err := s.Enqueue(t.Context(), queue.Task{ID: "2", Agent: "http://a/", Repo: "o/r", Message: []byte("{}")})
			return err
		},
		"ClaimNext": func() error {
			_, err := s.ClaimNext(t.Context(), "http://a/", queue.ClaimOptions{Lease: time.Hour})
			return err
		},
		"Stats": func() error { _, err := s.Stats(t.Context()); return err },
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
	if _, err := s.Inspect(t.Context(), "1"); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	for i, deadline := 0, time.Now().Add(patience); ; i++ { // until the connection that listens is a new one
		agent := fmt.Sprintf("http://b%d/", i)
		if _, err := other.Enqueue(t.Context(), queue.Task{ID: agent, Agent: agent, Repo: "o/r", Message: []byte("{}")}); err != nil {
			t.Fatal(err)
		}
		if told(changes, agent) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("was told of nothing after the database answered again")
		}
	}
}

// told reports whether news of an agent come soon.
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
