package database

import "testing"

func TestKey(t *testing.T) {
	t.Parallel()
	if key := Key("postgres://u:hunter2@db/q?sslpassword=hunter2"); key != "postgres://db/q" {
		t.Errorf("got %s", key)
	}
}
