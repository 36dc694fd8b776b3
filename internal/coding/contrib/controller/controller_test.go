package controller_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/coding/contrib/contract"
	"github.com/org/foreman-action/internal/coding/contrib/controller"
	"github.com/org/foreman-action/internal/filelock"
	"github.com/org/foreman-action/triage"
)

func folder(t *testing.T, config string) controller.Controller {
	t.Helper()
	c := controller.Controller{Root: t.TempDir()}
	if config != "" {
		if err := c.WriteFile(controller.ConfigPath, []byte(config)); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// TestConfigFiles parses the configurations in testdata/config. The file .txt beside one contains
// the expected mistakes, one a line. Without such a file, the configuration is valid.
func TestConfigFiles(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/config/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			c := folder(t, "")
			if err := c.WriteFile(controller.ConfigPath, data); err != nil {
				t.Fatal(err)
			}
			_, exists, err := c.Config()
			want, readErr := os.ReadFile(strings.TrimSuffix(file, ".json") + ".txt")
			if readErr != nil {
				want = nil
			}
			got := ""
			if err != nil {
				got = err.Error() + "\n"
			}
			if !exists || got != string(want) {
				t.Errorf("exists %v, got\n%swant\n%s", exists, got, want)
			}
			if after, err := c.ReadFile(controller.ConfigPath); err != nil || !bytes.Equal(after, data) {
				t.Error("the file changed")
			}
		})
	}
}

func TestConfigDefaults(t *testing.T) {
	t.Parallel()
	config, exists, err := folder(t, "").Config()
	if exists || err != nil || config.StaleAfterDays != 180 || config.Sandbox.Memory != "4g" {
		t.Errorf("got %+v, %v, %v", config, exists, err)
	}
	config, exists, err = folder(t, `{"maxChangedFiles": 3, "sandbox": {"cpus": 0.5}, "unknown": {"a": [1]}}`).Config()
	if !exists || err != nil || config.MaxChangedFiles != 3 || config.MaxLinesChanged != 300 || config.Sandbox.CPUs != 0.5 || config.Sandbox.PIDs != 512 {
		t.Errorf("got %+v, %v, %v", config, exists, err)
	}
}

func FuzzConfig(f *testing.F) {
	files, _ := filepath.Glob("testdata/config/*.json")
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		root := t.TempDir()
		if err := os.Mkdir(filepath.Join(root, controller.Folder), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, controller.ConfigPath), data, 0o600); err != nil {
			t.Fatal(err)
		}
		config, _, err := controller.Controller{Root: root}.Config()
		if err == nil && (config.MaxChangedFiles < 1 || config.Sandbox.PIDs < 1 || config.BranchPrefix == "") {
			t.Errorf("got %+v", config)
		}
		if err == nil && !json.Valid(data) {
			t.Error("read a file that is not JSON")
		}
	})
}

func TestFind(t *testing.T) {
	t.Parallel()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write := func(path string) {
		t.Helper()
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a/.contribflow/config.json")
	write("a/.contribflow/workspaces/o-r-1/.contribflow/config.json") // in a cloned repository
	write("a/.contribflow/workspaces/o-r-1/src/file")
	write("a/below/deep/file")
	write("b/file")
	for from, want := range map[string]string{
		"a": "a", "a/below/deep": "a", "a/.contribflow": "a", "a/.contribflow/workspaces/o-r-1": "a", "a/.contribflow/workspaces/o-r-1/src": "a",
		"a/.contribflow/workspaces/o-r-1/.contribflow": "a", "b": "b",
	} {
		got, err := controller.Find(filepath.Join(root, from))
		if err != nil || got.Root != filepath.Join(root, want) {
			t.Errorf("from %s: got %s, %v", from, got.Root, err)
		}
	}
}

func TestSlug(t *testing.T) {
	t.Parallel()
	c := folder(t, "")
	first, second := triage.Ref{Owner: "a-b", Repo: "c", Number: 1}, triage.Ref{Owner: "a", Repo: "b-c", Number: 1}
	one, err := c.Slug(first)
	if err != nil || one != "a-b-c-1" {
		t.Fatalf("got %s, %v", one, err)
	}
	if err := c.Write(controller.Paths(one).Plan, contract.Plan{Issue: first.String()}); err != nil {
		t.Fatal(err)
	}
	again, err := c.Slug(first)
	if err != nil || again != one {
		t.Errorf("again: got %s, %v", again, err)
	}
	other, err := c.Slug(second)
	if err != nil || other == one || !strings.HasPrefix(other, "a-b-c-1-") || len(other) != len("a-b-c-1-")+6 {
		t.Errorf("other: got %s, %v", other, err)
	}
}

func TestParseIssue(t *testing.T) {
	t.Parallel()
	for _, arg := range []string{"o/r#1", "github:o/r#1", "https://github.com/o/r/issues/1"} {
		if ref, err := controller.ParseIssue(arg); err != nil || ref.String() != "o/r#1" {
			t.Errorf("%s: got %v, %v", arg, ref, err)
		}
	}
	for _, arg := range []string{
		"", "o/r", "o/r#0", "o/r#-1", "o/r#1x", "../x#1", "o/..#1", "o/.#1", "-o/r#1", "o-/r#1", "o--p/r#1", "o/r/s#1", "o/r s#1", "o/r#1\n",
		"https://github.com/o/r/pull/1", "https://example.com/o/r/issues/1", "http://github.com/o/r/issues/1", strings.Repeat("o", 40) + "/r#1", "o/" + strings.Repeat("r", 101) + "#1",
		"o/r#99999999999999999999",
	} {
		if ref, err := controller.ParseIssue(arg); err == nil {
			t.Errorf("%q: got %v", arg, ref)
		}
	}
}

func TestLock(t *testing.T) {
	t.Parallel()
	c := folder(t, "")
	unlock, err := c.Lock(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var waited time.Duration
	_, err = c.Lock(t.Context(), func(_ context.Context, d time.Duration) error { waited += d; return nil })
	if !errors.Is(err, filelock.ErrLocked) || waited < 9*time.Second || waited > 10*time.Second {
		t.Errorf("second: got %v after %s", err, waited)
	}
	unlock()
	again, err := c.Lock(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	again()
}

func TestBackoff(t *testing.T) {
	t.Parallel()
	c := folder(t, "")
	now := time.Date(2026, 6, 4, 0, 0, 0, 0, time.UTC)
	later := contract.Time(now.Add(time.Hour))
	blocked := contract.Throttle{Scope: contract.ScopeDiscovery, FailingQuery: "a", Message: "slow down"}
	named := contract.Throttle{Scope: contract.ScopeDiscovery, FailingQuery: "b", RetryAfterAt: &later}
	for _, one := range []contract.Throttle{blocked, named, blocked} {
		if err := c.Remember(one, now); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Activate("o/r#1", now); err != nil {
		t.Fatal(err)
	}
	s, err := c.State()
	if err != nil || len(s.Backoff) != 2 || *s.ActiveIssue != "o/r#1" || len(s.History) != 1 {
		t.Fatalf("got %+v, %v", s, err)
	}
	for _, tt := range []struct {
		query string
		after time.Duration
		want  bool
	}{{"a", 59 * time.Second, true}, {"a", time.Minute, false}, {"b", 59 * time.Minute, true}, {"b", time.Hour, false}, {"c", 0, false}} {
		if got, ok := s.Waiting(contract.ScopeDiscovery, tt.query, now.Add(tt.after)); ok != tt.want || ok && got.FailingQuery != tt.query {
			t.Errorf("%s after %s: got %v, %v", tt.query, tt.after, got, ok)
		}
	}
	if err := c.Remember(blocked, now.Add(2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if s, err := c.State(); err != nil || len(s.Backoff) != 1 {
		t.Errorf("old entries are kept: %+v, %v", s.Backoff, err)
	}
}

// TestIsOwner accepts the names of all kinds of accounts, and nothing that is a flag or a path.
func TestIsOwner(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"mona": true, "a": true, "0x1": true, "mona-lisa": true, "mona-lisa_acme": true,
		"": false, "-flag": false, "a--b": false, "a-": false, "a_": false, "a_b_c": false, "_x": false, "a/b": false, "a.b": false, "a b": false, "..": false, "é": false, strings.Repeat("a", 40): false,
	} {
		if got := controller.IsOwner(name); got != want {
			t.Errorf("%q: got %t", name, got)
		}
	}
}
