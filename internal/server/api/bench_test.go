package api_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/server/api"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/sqlite"
)

// endless is a queue that always has the same task, so that HTTP alone is measured.
type endless struct {
	queue.Queue

	claim queue.Claim
}

func (e endless) ClaimNext(context.Context, string, queue.ClaimOptions) (queue.Claim, error) {
	return e.claim, nil
}

// BenchmarkClaim compares claims of 2 kB tasks by 64 clients: through the API, and through a bare
// handler that decodes the same body and sends the same answer. They run side by side, so that
// their "requests/s" can be compared.
func BenchmarkClaim(b *testing.B) {
	task := message(taskID(1), 7, 1700)
	s, err := api.New(api.Options{Queue: endless{claim: queue.Claim{ID: taskID(1), Message: task, Attempt: 1}}, Log: slog.New(slog.NewJSONHandler(io.Discard, nil))})
	if err != nil {
		b.Fatal(err)
	}
	bare := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			AgentURL string `json:"agent_url"`
		}
		if json.NewDecoder(r.Body).Decode(&body) != nil || body.AgentURL == "" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(task)
	})
	b.Run("bare", func(b *testing.B) { benchmarkHTTP(b, bare) })
	b.Run("api", func(b *testing.B) { benchmarkHTTP(b, s) })
	b.Run("sqlite", func(b *testing.B) {
		q, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "queue.db"), sqlite.Options{})
		if err != nil {
			b.Fatal(err)
		}
		defer func() { _ = q.Close() }()
		fill(b, q.Queue(), b.N)
		s, err := api.New(api.Options{Queue: q.Queue()})
		if err != nil {
			b.Fatal(err)
		}
		benchmarkHTTP(b, s)
	})
}

// fill enqueues n tasks, many at a time so that they share commits.
func fill(b *testing.B, q queue.Queue, n int) {
	b.Helper()
	var all sync.WaitGroup
	var next atomic.Int64
	for range 256 {
		all.Go(func() {
			for i := int(next.Add(1)); i <= n; i = int(next.Add(1)) {
				id := taskID(i)
				if _, err := q.Enqueue(b.Context(), queue.Task{ID: id, Agent: "http://a:9001", Repo: "o/r", Issue: i, Message: message(id, i, 1700)}); err != nil {
					b.Error(err)
				}
			}
		})
	}
	all.Wait()
}

func benchmarkHTTP(b *testing.B, h http.Handler) {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	hs := &http.Server{Handler: h, ReadHeaderTimeout: time.Second}
	go func() { _ = hs.Serve(l) }()
	defer func() { _ = hs.Close() }()
	const clients = 64
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
	url := "http://" + l.Addr().String() + "/queue/next"
	var failed atomic.Int64
	b.ReportAllocs()
	b.SetParallelism(clients / runtime.GOMAXPROCS(0))
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			res, err := client.Post(url, "application/json", strings.NewReader(`{"agent_url":"http://a:9001"}`))
			if err != nil {
				failed.Add(1)
				continue
			}
			if n, err := io.Copy(io.Discard, res.Body); err != nil || n < 1700 || res.StatusCode != http.StatusOK {
				failed.Add(1)
			}
			_ = res.Body.Close()
		}
	})
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
	if failed.Load() > 0 {
		b.Errorf("%d requests failed", failed.Load())
	}
}
