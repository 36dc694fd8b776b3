package database

import (
	"path/filepath"
	"testing"
)

func TestKey(t *testing.T) {
	t.Parallel()
	if key := Key("postgres://u:hunter2@db/q?sslpassword=hunter2"); key != "postgres://db/q" {
		t.Errorf("got %s", key)
	}
}

func TestFolder(t *testing.T) {
	t.Parallel()
	for at, want := range map[Locations]string{
		{Queue: "/var/lib/q.db", Memory: "/home/m.db"}: "/var/lib",
		{Queue: "file:q.db", Memory: "m.db"}:           ".",
		{Queue: "postgres://db/q"}:                     "",
	} {
		if got := at.Folder(); got != filepath.FromSlash(want) {
			t.Errorf("%v: got %q, want %q", at, got, want)
		}
	}
}
