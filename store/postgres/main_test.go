package postgres

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/org/foreman-action/internal/postgrestest"
	"github.com/org/foreman-action/internal/testkit/ramdir"
)

// The server of these tests. If it is nil, the error states why it could not be started.
var (
	cluster *postgrestest.Cluster
	missing error
)

func TestMain(m *testing.M) {
	// Six tests run at a time, because some wait for timeouts. More would wait for locks of each other in
	// busy loops.
	_ = flag.Set("test.parallel", "6")
	// These tests kill connections and the server, not the machine, so commits need no flush.
	if err := ramdir.Use(os.Setenv); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	cluster, missing = postgrestest.Launch(context.Background(), "fsync=off")
	code := m.Run()
	if cluster != nil {
		cluster.Close()
	}
	os.Exit(code)
}

// Server returns the server that the tests share.
func Server(t testing.TB) *postgrestest.Cluster {
	t.Helper()
	if errors.Is(missing, postgrestest.ErrMissing) {
		t.Skip(missing)
	}
	if missing != nil {
		t.Fatal(missing)
	}
	return cluster
}
