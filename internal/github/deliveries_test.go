package github_test

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/triage"
)

// TestFailedDeliveries checks that deliveries without a later success are found on all pages, and
// only those since a time.
func TestFailedDeliveries(t *testing.T) {
	t.Parallel()
	s := fake(t)
	c, _ := client(t, s.URL)
	if _, err := github.RepositoryDeliveries(t.Context(), c, "octo/hello", "/github/webhook"); err == nil {
		t.Error("got success, want the missing permission")
	} else if need, ok := errors.AsType[*triage.PermissionError](err); !ok || need.Need != "webhooks: write" {
		t.Errorf("got %v, want the missing permission", err)
	}
	repeated := make(chan string, 1)
	add := func(guid string, status int) { s.Deliver(guid, status, func(guid string) { repeated <- guid }) }
	add("before", http.StatusBadGateway)
	s.Advance(time.Hour)
	since := time.Now().Add(30 * time.Minute)
	add("repaired", http.StatusBadGateway)
	add("repaired", http.StatusAccepted)
	add("failed twice", http.StatusBadGateway)
	for n := range 150 {
		add(fmt.Sprint("ok ", n), http.StatusAccepted)
	}
	add("failed twice", http.StatusServiceUnavailable)
	add("no answer", 0)
	hooks, err := github.RepositoryDeliveries(t.Context(), c, "octo/hello", "/github/webhook")
	if err != nil || len(hooks) != 1 {
		t.Fatalf("got %d hooks, %v", len(hooks), err)
	}
	ids, err := hooks[0].Failed(t.Context(), since)
	if err != nil || len(ids) != 2 {
		t.Fatalf("got %v, %v; want 2 deliveries", ids, err)
	}
	if err := hooks[0].Redeliver(t.Context(), ids[0]); err != nil {
		t.Fatal(err)
	}
	if got := <-repeated; got != "no answer" {
		t.Errorf("GitHub repeats %q, want the newest", got)
	}
	if ids, err = hooks[0].Failed(t.Context(), since); err != nil || len(ids) != 1 {
		t.Errorf("got %v, %v; want the other one only", ids, err)
	}
	if other, err := github.RepositoryDeliveries(t.Context(), c, "octo/hello", "/another"); err != nil || len(other) != 0 {
		t.Errorf("got %d hooks for another address, %v", len(other), err)
	}
}
