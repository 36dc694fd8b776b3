package intake_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/secret"
	"github.com/org/foreman-action/internal/server/intake"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/sqlite"
)

// peak returns the maximum additional memory that the Go runtime got from the system while f ran.
func peak(f func()) int {
	debug.FreeOSMemory()
	sample := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	now := func() int {
		metrics.Read(sample)
		return int(sample[0].Value.Uint64() - sample[1].Value.Uint64())
	}
	base, most := now(), 0
	stop, done := make(chan struct{}), make(chan struct{})
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	go func() {
		defer close(done)
		for {
			most = max(most, now())
			select {
			case <-stop:
				return
			case <-tick.C:
			}
		}
	}()
	f()
	close(stop)
	<-done
	return most - base
}

// repeated returns a reader of a head, n equal bytes and a tail, without keeping them in memory.
func repeated(head string, n int64, tail string) io.Reader {
	return io.MultiReader(strings.NewReader(head), io.LimitReader(same('x'), n), strings.NewReader(tail))
}

// same is an endless reader of one byte value.
type same byte

func (s same) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	p[0] = byte(s)
	for n := 1; n < len(p); n *= 2 {
		copy(p[n:], p[:n])
	}
	return len(p), nil
}

// TestWebhookMemory checks that many large concurrent deliveries are accepted with bounded memory.
func TestWebhookMemory(t *testing.T) { //nolint:paralleltest // measures memory
	const deliveries, size, most = 16, 10 << 20, 64 << 20
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "foreman.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	in, err := intake.New(intake.Options{Queue: s.Queue(), Routes: []intake.Route{{Repo: "o/r", URL: "http://a/", Type: "issue-triage"}}})
	if err != nil {
		t.Fatal(err)
	}
	hook, err := intake.NewWebhook(intake.WebhookOptions{Take: in.Take, Secrets: []secret.Text{"hook-secret"}, SpoolDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := hook.Handle(w, r); err != nil {
			http.Error(w, err.Error(), http.StatusTeapot)
		}
	}))
	defer srv.Close()
	send := func(n int) {
		head := fmt.Sprintf(`{"action":"opened","repository":{"full_name":"o/r"},"sender":{"login":"mona"},"issue":{"number":%d,"title":"t","user":{"login":"mona"},"body":"`, n)
		tail := `"}}`
		mac := hmac.New(sha256.New, []byte("hook-secret"))
		if _, err := io.Copy(mac, repeated(head, size, tail)); err != nil {
			t.Error(err)
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, srv.URL, repeated(head, size, tail))
		if err != nil {
			t.Error(err)
			return
		}
		req.ContentLength = int64(len(head) + size + len(tail))
		req.Header = http.Header{"X-Github-Event": {"issues"}, "X-Github-Delivery": {fmt.Sprint(n)}, "X-Hub-Signature-256": {"sha256=" + hex.EncodeToString(mac.Sum(nil))}}
		res, err := srv.Client().Do(req)
		if err != nil {
			t.Error(err)
			return
		}
		defer res.Body.Close()
		var b bytes.Buffer
		if _, err := b.ReadFrom(res.Body); err != nil || res.StatusCode != http.StatusAccepted {
			t.Errorf("delivery %d: %d %s, %v", n, res.StatusCode, b.String(), err)
		}
	}
	got := peak(func() {
		var group sync.WaitGroup
		for n := range deliveries {
			group.Go(func() { send(n + 1) })
		}
		group.Wait()
	})
	t.Logf("%d deliveries of %d MB took %d MB", deliveries, size>>20, got>>20)
	if got > most {
		t.Errorf("they took %d MB of memory, want at most %d", got>>20, most>>20)
	}
	list, err := queue.List(t.Context(), s.Queue(), queue.Filter{})
	if err != nil || len(list) != deliveries {
		t.Errorf("got %d tasks, %v", len(list), err)
	}
}
