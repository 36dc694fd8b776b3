package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// fsyncFloor measures how often a second this disk keeps 4 KiB for good.
func fsyncFloor(ctx context.Context, dir string, n int) (sample, error) {
	f, err := os.Create(filepath.Join(dir, "floor"))
	if err != nil {
		return sample{}, err
	}
	defer f.Close()
	block := make([]byte, 4096)
	return each(ctx, 1, n, func(context.Context, int) error {
		if _, err := f.Write(block); err != nil {
			return err
		}
		return f.Sync()
	})
}

// bareHandler answers every request with 1 KiB of JSON.
func bareHandler() http.Handler {
	body := []byte(payload)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(body)
	})
}

// posts measures how often a second a handler on loopback answers a POST with 200.
func posts(ctx context.Context, h http.Handler, clients, n int) (sample, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return sample{}, err
	}
	srv := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
	var serving sync.WaitGroup
	serving.Go(func() { _ = srv.Serve(ln) }) // it returns when it is closed
	defer func() {
		_ = srv.Close()
		serving.Wait()
	}()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
	defer client.CloseIdleConnections()
	body := []byte(`{"agent_url":"` + benchAgent + `"}`)
	url := "http://" + ln.Addr().String() + "/queue/next"
	return each(ctx, clients, n, func(ctx context.Context, _ int) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
		if err != nil {
			return err
		}
		req.Header.Set("Content-Type", "application/json")
		resp, err := client.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			return err
		}
		if resp.StatusCode != http.StatusOK {
			return errors.New(resp.Status)
		}
		return nil
	})
}

// benchAgent is the agent whose tasks are measured.
const benchAgent = "http://agent.example:9001"
