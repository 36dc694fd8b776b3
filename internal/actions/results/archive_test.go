package results_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/actions/results"
	"github.com/org/foreman-action/internal/actions/results/resultstest"
	"github.com/org/foreman-action/memory"
)

// archive returns the archive of a server, as outside of a job.
func archive(t *testing.T, s *resultstest.Server) *results.Archive {
	t.Helper()
	o := options(s)
	o.ResultsURL, o.ServerURL, o.RuntimeToken = "", "", ""
	a, err := results.NewArchive(o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// names returns the names of all artifacts, oldest first.
func names(s *resultstest.Server) []string {
	var list []string
	for _, a := range s.Artifacts() {
		list = append(list, a.Name)
	}
	return list
}

// TestArchive reads what jobs saved, without a job, and deletes the record of one issue alone: all artifacts of its
// name, of forks too, and its announcements.
func TestArchive(t *testing.T) {
	t.Parallel()
	s := resultstest.New(t, resultstest.Config{})
	for _, issue := range []int{7, 70, memory.Repository} {
		r := record(0)
		r.Issue = issue
		if issue == memory.Repository {
			r = memory.Record{Repo: r.Repo}
		}
		save(t, artifact(t, options(s)), r)
	}
	second := load(t, artifact(t, options(s)))
	save(t, artifact(t, options(s)), second)
	s.Add(resultstest.Artifact{Name: "foreman-memory-i7", HeadRepositoryID: 99})
	s.Add(resultstest.Artifact{Name: "foreman-closing-i7-20260501T083000Z"})
	s.Add(resultstest.Artifact{Name: "foreman-closing-i70-none"})
	s.Add(resultstest.Artifact{Name: "foreman-memory-i7x"})
	a := archive(t, s)
	if diff := cmp.Diff(second.Revision+1, load(t, artifact(t, options(s))).Revision); diff != "" {
		t.Error(diff)
	}
	got, err := a.Load(t.Context(), s.Repo(), 7)
	if err != nil || got.Revision != second.Revision+1 {
		t.Fatalf("got revision %d and %v", got.Revision, err)
	}
	if due, whole, err := a.Pending(t.Context(), s.Repo()); err != nil || !whole || len(due) != 1 || due[0].Issue != 7 {
		t.Errorf("pending: got %v, %t and %v", due, whole, err)
	}
	if acted, whole, err := a.Acted(t.Context(), s.Repo(), time.Time{}); err != nil || !whole || len(acted) != 2 {
		t.Errorf("acted: got %v, %t and %v", acted, whole, err)
	}
	deleted, err := a.DeleteRecord(t.Context(), s.Repo(), 7)
	if err != nil || len(deleted) != 4 || !strings.HasPrefix(deleted[0], "foreman-memory-i7 (") || !strings.HasPrefix(deleted[3], "foreman-closing-i7-20260501T083000Z (") {
		t.Errorf("deleted %q, error %v", deleted, err)
	}
	if diff := cmp.Diff([]string{"foreman-memory-i70", "foreman-memory-i0", "foreman-closing-i70-none", "foreman-memory-i7x"}, names(s)); diff != "" {
		t.Errorf("what is left (-want +got):\n%s", diff)
	}
	if deleted, err := a.DeleteRecord(t.Context(), s.Repo(), 7); err != nil || len(deleted) > 0 {
		t.Errorf("a second time: deleted %q, error %v", deleted, err)
	}
	if deleted, err := a.DeleteRecord(t.Context(), s.Repo(), memory.Repository); err != nil || len(deleted) != 1 {
		t.Errorf("the record of the repository: deleted %q, error %v", deleted, err)
	}
}

// TestArchiveDenied names the missing permission, and deletes nothing of another repository.
func TestArchiveDenied(t *testing.T) {
	t.Parallel()
	s := resultstest.New(t, resultstest.Config{})
	s.Add(resultstest.Artifact{Name: "foreman-memory-i7"})
	s.Add(resultstest.Artifact{Name: "foreman-memory-i7", RepositoryID: 99})
	a := archive(t, s)
	s.Deny(resultstest.ActionsWrite, true)
	if _, err := a.DeleteRecord(t.Context(), s.Repo(), 7); !errors.Is(err, results.ErrDenied) || !strings.Contains(err.Error(), "`actions: write`") {
		t.Errorf("got %v", err)
	}
	if _, err := a.DeleteRecord(t.Context(), "org/other", 7); err == nil || !strings.Contains(err.Error(), "org/repo only") {
		t.Errorf("another repository: got %v", err)
	}
	s.Deny(resultstest.ActionsWrite, false)
	if deleted, err := a.DeleteRecord(t.Context(), s.Repo(), 7); err != nil || len(deleted) != 1 || len(s.Artifacts()) != 1 {
		t.Errorf("deleted %q, error %v", deleted, err)
	}
	s.Deny(resultstest.ActionsRead, true)
	for what, err := range map[string]error{
		"load":   func() error { _, err := a.Load(t.Context(), s.Repo(), 8); return err }(),
		"delete": func() error { _, err := a.DeleteRecord(t.Context(), s.Repo(), 8); return err }(),
	} {
		if !errors.Is(err, results.ErrDenied) || !strings.Contains(err.Error(), "`actions: read`") {
			t.Errorf("%s: got %v", what, err)
		}
	}
}

// TestArchiveMany deletes more artifacts of a name than one list has.
func TestArchiveMany(t *testing.T) {
	t.Parallel()
	s := resultstest.New(t, resultstest.Config{})
	const many = 1050
	for range many {
		s.Add(resultstest.Artifact{Name: "foreman-memory-i7"})
	}
	deleted, err := archive(t, s).DeleteRecord(t.Context(), s.Repo(), 7)
	if err != nil || len(deleted) != many || len(s.Artifacts()) > 0 || len(slices.Compact(slices.Sorted(slices.Values(deleted)))) != many {
		t.Errorf("deleted %d, %d left, error %v", len(deleted), len(s.Artifacts()), err)
	}
}

// TestNewArchive names the option that is missing.
func TestNewArchive(t *testing.T) {
	t.Parallel()
	good := results.Options{Repo: "org/repo", RepositoryID: 1, DefaultBranch: "main", APIURL: "https://api.github.com", Token: "t"}
	for want, change := range map[string]func(*results.Options){
		"owner/name": func(o *results.Options) { o.Repo = "org" }, "id of the repository": func(o *results.Options) { o.RepositoryID = 0 },
		"default branch": func(o *results.Options) { o.DefaultBranch = "" }, "GITHUB_API_URL": func(o *results.Options) { o.APIURL = "" },
	} {
		o := good
		change(&o)
		if _, err := results.NewArchive(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if _, err := results.NewArchive(good); err != nil {
		t.Error(fmt.Errorf("a complete one: %w", err))
	}
}
