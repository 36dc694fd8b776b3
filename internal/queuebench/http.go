package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"time"

	"github.com/org/foreman-action/internal/server/api"
	"github.com/org/foreman-action/queue"
)

// overHTTP compares claims through our HTTP server with requests to a bare handler, which parses
// no JSON and stores nothing. They receive the same requests from the same clients, and their
// answers have the same size.
func overHTTP(ctx context.Context, s settings, r *results) error {
	return sqliteQueue(s.dir)(ctx, func(q queue.Queue) error {
		handler, err := api.New(api.Options{Queue: q, Lease: lease})
		if err != nil {
			return err
		}
		ours := httptest.NewServer(handler)
		defer ours.Close()
		client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
		defer client.CloseIdleConnections()
		var answer bytes.Buffer
		if err := errors.Join(fill(ctx, q, 1), post(ctx, client, ours.URL, &answer)); err != nil {
			return err
		}
		bare := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(answer.Bytes())
		}))
		defer bare.Close()
		for _, clients := range clientCounts {
			turns, l := s.turns(10), load{clients, s.calls(min(1000*clients, 16_000))}
			if err := fill(ctx, q, l.n*turns); err != nil {
				return err
			}
			floor := fmt.Sprintf("floor: net/http, %d clients", clients)
			err := r.takeTurns(ctx, turns,
				measurement{floor, "", l, posts(client, bare.URL)},
				measurement{fmt.Sprintf("claim over HTTP: SQLite, %d clients", clients), floor, l, posts(client, ours.URL)})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// posts sends claims to a server in this process.
func posts(client *http.Client, url string) workload {
	return func(ctx context.Context, l load) (sample, error) {
		before := processorTime()
		s, err := measure(ctx, l, func(ctx context.Context, _ int) error { return post(ctx, client, url, io.Discard) })
		s.cpu = (processorTime() - before) / time.Duration(l.n)
		return s, err
	}
}

// processorTime returns the processor time that this process has used, by clients and server
// together.
func processorTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // it cannot fail for the process itself
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// post claims a task, and copies the body of the response to answer.
func post(ctx context.Context, client *http.Client, url string, answer io.Writer) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/queue/next", strings.NewReader(`{"agent_url":"`+benchAgent+`"}`))
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
