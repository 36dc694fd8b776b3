package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"

	"github.com/org/foreman-action/queue"
)

// pairs is how many slices of claims a round has, each beside one of the bare handler.
const pairs = 10

// requests is how many a slice has, by clients: a second's worth at most.
func requests(clients int) int { return min(1000*clients, 16_000) }

// overHTTP measures claims through the server beside a bare handler. What else runs on the
// machine slows both, but not evenly over time: so they take turns in slices shorter than a
// second, who begins changes too, and what counts is the median of the ratios of neighbours.
// Both get the same requests from the same clients, and their answers have the same size.
func (b *bench) overHTTP(ctx context.Context, q queue.Queue) error {
	claims, err := handler(q)
	if err != nil {
		return err
	}
	answer, err := firstAnswer(ctx, q, claims)
	if err != nil {
		return err
	}
	for _, clients := range clientCounts {
		n := b.scale(requests(clients))
		if err := fill(ctx, q, n*pairs); err != nil {
			return err
		}
		name := fmt.Sprintf("%d clients", clients)
		if err := b.takeTurns(ctx, subject{"floor: net/http, " + name, bareHandler(answer)}, subject{"claim over HTTP: SQLite, " + name, claims}, load{clients, n}); err != nil {
			return err
		}
	}
	return nil
}

// A subject is a handler that is measured, and its row.
type subject struct {
	row     string
	handler http.Handler
}

// A load is how many clients send how many requests in a slice.
type load struct{ clients, n int }

// takeTurns measures a subject beside its floor, slice by slice.
func (b *bench) takeTurns(ctx context.Context, floor, ours subject, l load) error {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: l.clients}}
	defer client.CloseIdleConnections()
	bare, stop, err := listen(floor.handler)
	if err != nil {
		return err
	}
	defer stop()
	url, stop, err := listen(ours.handler)
	if err != nil {
		return err
	}
	defer stop()
	urls := map[string]string{floor.row: bare, ours.row: url}
	for i := range pairs {
		turn := []subject{floor, ours}
		if i%2 == 1 {
			turn[0], turn[1] = ours, floor
		}
		rate := map[string]float64{}
		for _, s := range turn {
			before := processorTime()
			got, err := posts(ctx, client, urls[s.row], l)
			if err != nil {
				return fmt.Errorf("%s: %w", s.row, err)
			}
			b.cpu[s.row] = append(b.cpu[s.row], (processorTime()-before).Seconds()*1e6/float64(l.n))
			b.addSample(s.row, got)
			rate[s.row] = got.rate
		}
		b.ratio[ours.row] = append(b.ratio[ours.row], rate[ours.row]/rate[floor.row])
	}
	return nil
}

// processorTime is what this process had of the processors until now: clients and server.
func processorTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // it cannot fail for the process itself
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// firstAnswer returns what a handler answers to the first claim.
func firstAnswer(ctx context.Context, q queue.Queue, h http.Handler) ([]byte, error) {
	if err := fill(ctx, q, 1); err != nil {
		return nil, err
	}
	url, stop, err := listen(h)
	if err != nil {
		return nil, err
	}
	defer stop()
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	var answer bytes.Buffer
	err = post(ctx, client, url, &answer)
	return answer.Bytes(), err
}

// bareHandler reads no JSON and keeps nothing: it has one answer.
func bareHandler(answer []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(answer)
	})
}

// listen serves a handler on loopback.
func listen(h http.Handler) (url string, stop func(), err error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	srv := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
	var serving sync.WaitGroup
	serving.Go(func() { _ = srv.Serve(ln) }) // it returns when it is closed
	return "http://" + ln.Addr().String() + "/queue/next", func() {
		_ = srv.Close()
		serving.Wait()
	}, nil
}

// posts measures how often a second a handler answers a POST with 200.
func posts(ctx context.Context, client *http.Client, url string, l load) (sample, error) {
	return each(ctx, l.clients, l.n, func(ctx context.Context, _ int) error { return post(ctx, client, url, io.Discard) })
}

// post asks for a task, and copies the answer.
func post(ctx context.Context, client *http.Client, url string, answer io.Writer) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader([]byte(`{"agent_url":"`+benchAgent+`"}`)))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(answer, resp.Body); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return errors.New(resp.Status)
	}
	return nil
}
