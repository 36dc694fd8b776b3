//go:build unix

package faults_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/org/foreman-action/protocol"
)

// BenchmarkHeartbeat measures how long heartbeats wait for their answer while the server
// carries out 50 decisions on a GitHub that takes 2 seconds for a call. The agent and the
// fake GitHub run on the same machine, and decide and answer meanwhile.
func BenchmarkHeartbeat(b *testing.B) {
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	s := newStage(b, setting{program: build(b), servers: 1, slow: 2 * time.Second})
	var feeding sync.WaitGroup
	for n := 1; n <= 50; n++ {
		feeding.Go(func() {
			if err := s.deliver(ctx, n); err != nil {
				b.Error(err)
			}
		})
	}
	feeding.Wait()
	for len(s.gh.Calls()) < 20 && wait(ctx, 10*time.Millisecond) { // until decisions are under way
	}
	s.end("agent")
	if err := s.deliver(ctx, 51); err != nil {
		b.Fatal(err)
	}
	server := fmt.Sprintf("http://127.0.0.1:%d", s.ports[0])
	task, err := claim(ctx, server, s.nudge.URL)
	if err != nil {
		b.Fatal(err)
	}
	times := make([]time.Duration, 0, b.N)
	b.ResetTimer()
	for range max(b.N, 200) {
		start := time.Now()
		if err := heartbeat(ctx, server, task); err != nil {
			b.Fatal(err)
		}
		times = append(times, time.Since(start))
		wait(ctx, 5*time.Millisecond)
	}
	b.StopTimer()
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Microseconds()), "p50-us")
	b.ReportMetric(float64(times[len(times)*99/100].Microseconds()), "p99-us")
	b.ReportMetric(0, "ns/op")
}

// claim claims a task by hand.
func claim(ctx context.Context, server, agent string) (id string, err error) {
	body, err := post(ctx, server+"/queue/next", fmt.Sprintf(`{"agent_url":%q}`, agent), http.StatusOK)
	if err != nil {
		return "", err
	}
	task, err := protocol.ParseTask(body)
	return task.TaskID, err
}

func heartbeat(ctx context.Context, server, task string) error {
	_, err := post(ctx, server+"/queue/heartbeat", fmt.Sprintf(`{"task_id":%q}`, task), http.StatusAccepted)
	return err
}

func post(ctx context.Context, url, body string, want int) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewBufferString(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != want {
		err = fmt.Errorf("%s: status %s", url, resp.Status)
	}
	return answer, err
}
