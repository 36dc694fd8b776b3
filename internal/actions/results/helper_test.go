package results_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/org/foreman-action/internal/actions/results"
	"github.com/org/foreman-action/internal/actions/results/resultstest"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/memory/memorytest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// options returns the options of a new job of the server. Its waits take no time.
func options(s *resultstest.Server) results.Options {
	return optionsOf(s, s.RuntimeToken(resultstest.Job{}))
}

func optionsOf(s *resultstest.Server, token string) results.Options {
	return results.Options{
		ResultsURL: s.URL, ServerURL: "https://github.com", RuntimeToken: token, Repo: s.Repo(),
		RepositoryID: s.RepositoryID(), DefaultBranch: s.Branch(), APIURL: s.URL, Token: s.RESTToken(),
		Now:   func() time.Time { return time.Date(2026, 4, 10, 8, 30, 0, 0, time.UTC) },
		Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	}
}

// v1 returns the options for a server that supports version 1 of the cache service.
func v1(o results.Options) results.Options {
	o.CacheURL, o.ResultsURL, o.ServerURL = o.ResultsURL, "", "https://github.example.com"
	return o
}

func artifact(t *testing.T, o results.Options) *results.Artifact {
	t.Helper()
	a, err := results.NewArtifact(o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func cache(t *testing.T, o results.Options) *results.Cache {
	t.Helper()
	c, err := results.NewCache(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func save(t *testing.T, s memory.Store, r memory.Record) {
	t.Helper()
	if err := s.Save(t.Context(), r); err != nil {
		t.Fatalf("Save at revision %d: %v", r.Revision, err)
	}
}

func load(t *testing.T, s memory.Store) memory.Record {
	t.Helper()
	r, err := s.Load(t.Context(), "org/repo", 7)
	if err != nil {
		t.Fatalf("Load: %v", err)
	}
	return r
}

// record returns the sample record of issue 7 with the given revision.
func record(revision int) memory.Record {
	r := memorytest.Sample("org/repo", 7)
	r.Revision = revision
	return r
}

// encode returns a record as a program of an earlier run stored it.
func encode(t *testing.T, r memory.Record) []byte {
	t.Helper()
	data, err := memory.Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func zipOf(t *testing.T, r memory.Record) []byte {
	t.Helper()
	data, err := results.Pack(encode(t, r))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// A journal collects texts.
type journal struct {
	mu   sync.Mutex
	list []string
}

func (j *journal) add(s string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.list = append(j.list, s)
}

func (j *journal) all() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.list)
}

// methods returns the calls in short form: the method and the last part of each path.
func methods(s *resultstest.Server) string {
	var out []string
	for _, c := range s.Calls() {
		path, query, _ := strings.Cut(c.URI, "?")
		name := filepath.Base(path)
		if strings.HasPrefix(path, "/blob/") {
			name = "blob"
		}
		if strings.Contains(query, "comp=blocklist") {
			name += " list"
		}
		out = append(out, c.Method+" "+name)
	}
	return strings.Join(out, "\n")
}

// archives runs a test for each txtar archive and compares its result with the file "want", or
// rewrites that file.
func archives(t *testing.T, pattern string, test func(t *testing.T, files map[string]string) string) {
	t.Helper()
	list, err := filepath.Glob(pattern)
	if err != nil || len(list) == 0 {
		t.Fatalf("no files %s: %v", pattern, err)
	}
	for _, file := range list {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			files := map[string]string{}
			for _, f := range ar.Files {
				files[f.Name] = string(f.Data)
			}
			got := test(t, files)
			if *update {
				ar.Files[len(ar.Files)-1] = txtar.File{Name: "want", Data: []byte(got)}
				if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(files["want"], got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
