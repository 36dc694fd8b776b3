package deployment_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
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
	// both has databases in the folder for state and in that of the published harness.
	both := t.TempDir()
	for _, file := range []string{".foreman/queue.db", ".local/state/foreman/memory.db"} {
		path := filepath.Join(both, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
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
		{name: "the published folder beside a newer one", vars: map[string]string{"HOME": both}, want: in(both, ".local", "state", "foreman")},
		{name: "a HOME that is no folder", vars: map[string]string{"HOME": os.DevNull, "XDG_STATE_HOME": state}, want: in(state, "foreman")},
		{
			name: "a flag for the queue", vars: map[string]string{"HOME": home}, flags: database.Locations{Queue: "q.db"},
			want: database.Locations{Queue: "q.db"},
		},
		{
			name: "a queue beside the memory of another server", vars: map[string]string{"HOME": both}, s: serverconfig.Config{Queue: serverconfig.Queue{DBPath: "q.db"}},
			want: database.Locations{Queue: "q.db", Left: in(both, ".local", "state", "foreman").Memory},
		},
		{
			name: "a flag for the default queue", vars: map[string]string{"HOME": both}, flags: database.Locations{Queue: "file:" + in(both, ".local", "state", "foreman").Queue},
			want: database.Locations{Queue: "file:" + in(both, ".local", "state", "foreman").Queue, Memory: in(both, ".local", "state", "foreman").Memory},
		},
		{
			name: "a flag for the memory of the default place", vars: map[string]string{"HOME": both}, flags: database.Locations{Queue: "q.db", Memory: in(both, ".local", "state", "foreman").Memory},
			want: database.Locations{Queue: "q.db", Memory: in(both, ".local", "state", "foreman").Memory},
		},
		{
			name: "a configured memory", vars: map[string]string{"HOME": home}, s: serverconfig.Config{Memory: serverconfig.Memory{DBPath: "m.db"}},
			want: database.Locations{Queue: filepath.Join(home, ".local", "state", "foreman", "queue.db"), Memory: "m.db"},
		},
		{
			name: "PostgreSQL for both", flags: database.Locations{Queue: "postgres://db/foreman"},
			s:    serverconfig.Config{Memory: serverconfig.Memory{DBPath: "postgres://bot:hunter2@db/foreman"}},
			want: database.Locations{Queue: "postgres://db/foreman"},
		},
		{
			name: "PostgreSQL", flags: database.Locations{Queue: "postgres://db/foreman"},
			want: database.Locations{Queue: "postgres://db/foreman"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			env := process.Env{Getenv: func(name string) string { return tt.vars[name] }}.Complete()
			got, err := deployment.Databases(env, tt.flags, tt.s.Queue, tt.s.Memory)
			if err != nil || got != tt.want {
				t.Errorf("got %+v and %v, want %+v", got, err, tt.want)
			}
		})
	}
}

// TestOtherMemory checks that the memory cannot be in another database.
func TestOtherMemory(t *testing.T) {
	t.Parallel()
	for _, at := range []database.Locations{
		{Queue: "q.db", Memory: "postgres://bot:hunter2@db/memory"}, {Queue: "postgres://bot:hunter2@db/queue", Memory: "m.db"},
		{Queue: "postgres://bot:hunter2@db/queue", Memory: "postgres://bot:hunter2@db/memory"},
	} {
		_, err := deployment.Databases(process.Env{}.Complete(), at, serverconfig.Queue{}, serverconfig.Memory{})
		if !errors.Is(err, serverconfig.ErrOtherMemory) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%v: got %v", at, err)
		}
	}
}

// TestUnreadable checks that a folder that cannot be searched is an error: its databases must not be
// replaced by empty ones.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	loop := filepath.Join(home, ".foreman")
	if err := os.Symlink(loop, loop); err != nil {
		t.Skip(err)
	}
	env := process.Env{Getenv: func(name string) string { return map[string]string{"HOME": home}[name] }}.Complete()
	if at, err := deployment.Find(t.Context(), env, "", database.Locations{}); err == nil || !strings.Contains(err.Error(), "--queue-db") {
		t.Errorf("got %+v and the error %v, want one that names --queue-db", at, err)
	}
}

// TestFindQueue checks that the place of the queue alone needs neither the folder for state nor the secrets of the
// configuration.
func TestFindQueue(t *testing.T) {
	t.Parallel()
	config := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(config, []byte("identity: {github_token: \"${TOKEN}\"}\nqueue: {db_path: \"${FOLDER}/q.db\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	vars := map[string]string{"FOLDER": "data"}
	env := process.Env{
		Getenv:    func(name string) string { return vars[name] },
		LookupEnv: func(name string) (string, bool) { v, ok := vars[name]; return v, ok },
	}.Complete()
	for _, tt := range []struct{ name, config, flag, want string }{
		{name: "a flag alone", flag: "q.db", want: "q.db"},
		{name: "a configuration with secrets", config: config, want: "data/q.db"},
		{name: "both", config: config, flag: "other.db", want: "other.db"},
	} {
		if got, err := deployment.FindQueue(t.Context(), env, tt.config, tt.flag); err != nil || got != tt.want {
			t.Errorf("%s: got %q and the error %v, want %q", tt.name, got, err, tt.want)
		}
	}
}
