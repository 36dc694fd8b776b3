package deployment_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/org/foreman-action/internal/cli/foremand/deployment"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/config/serverconfig"
	"github.com/org/foreman-action/internal/server/database"
)

// TestDatabases checks the places of databases that no flag names.
func TestDatabases(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	former := t.TempDir()
	if err := os.Mkdir(filepath.Join(former, ".foreman"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(former, ".foreman", "memory.db"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	state := filepath.Join(home, "state")
	in := func(dir ...string) database.Locations {
		folder := filepath.Join(dir...)
		return database.Locations{Queue: filepath.Join(folder, "queue.db"), Memory: filepath.Join(folder, "memory.db")}
	}
	for _, tt := range []struct {
		name  string
		vars  map[string]string
		flags database.Locations
		s     serverconfig.Config
		want  database.Locations
	}{
		{name: "XDG_STATE_HOME", vars: map[string]string{"HOME": home, "XDG_STATE_HOME": state}, want: in(state, "foreman")},
		{name: "without XDG_STATE_HOME", vars: map[string]string{"HOME": home}, want: in(home, ".local", "state", "foreman")},
		{name: "a relative XDG_STATE_HOME", vars: map[string]string{"HOME": home, "XDG_STATE_HOME": "state"}, want: in(home, ".local", "state", "foreman")},
		{name: "the published folder", vars: map[string]string{"HOME": former, "XDG_STATE_HOME": state}, want: in(former, ".foreman")},
		{
			name: "a flag for the queue", vars: map[string]string{"HOME": home}, flags: database.Locations{Queue: "q.db"},
			want: database.Locations{Queue: "q.db", Memory: filepath.Join(home, ".local", "state", "foreman", "memory.db")},
		},
		{
			name: "a configured memory", vars: map[string]string{"HOME": home}, s: serverconfig.Config{Memory: serverconfig.Memory{DBPath: "m.db"}},
			want: database.Locations{Queue: filepath.Join(home, ".local", "state", "foreman", "queue.db"), Memory: "m.db"},
		},
		{
			name: "PostgreSQL", flags: database.Locations{Queue: "postgres://db/foreman"},
			want: database.Locations{Queue: "postgres://db/foreman", Memory: "postgres://db/foreman"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			env := process.Env{Getenv: func(name string) string { return tt.vars[name] }}.Complete()
			got, err := deployment.Databases(env, tt.flags, &tt.s)
			if err != nil || got != tt.want {
				t.Errorf("got %+v and %v, want %+v", got, err, tt.want)
			}
		})
	}
}
