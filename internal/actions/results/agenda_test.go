package results_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/actions/results/resultstest"
	"github.com/org/foreman-action/memory"
)

// TestHostileAnnouncements adds untrusted artifacts that announce or cancel scheduled closes. Only
// the one trusted announcement counts.
func TestHostileAnnouncements(t *testing.T) {
	t.Parallel()
	s := resultstest.New(t, resultstest.Config{})
	store := artifact(t, options(s))
	r := record(0)
	r.Plan(memory.ScheduledClose{Due: time.Date(2026, 5, 1, 8, 30, 0, 0, time.UTC)})
	save(t, store, r)
	for _, a := range []resultstest.Artifact{
		{Name: "foreman-closing-i7-none", HeadRepositoryID: 666},
		{Name: "foreman-closing-i7-none", HeadBranch: "feature"},
		{Name: "foreman-closing-i7-none", RepositoryID: 666},
		{Name: "foreman-closing-i7-none", Expired: true},
		{Name: "foreman-closing-i7-none", Digest: "none"},
		{Name: "foreman-closing-i007-none"},
		{Name: "foreman-closing-i7-None"},
		{Name: "foreman-closing-i7-"},
		{Name: "foreman-closing-i7"},
		{Name: "foreman-closing-i-7-20260501T083000Z"},
		{Name: "foreman-closing-i0-20260501T083000Z"},
		{Name: "foreman-closing-i8-20260501T083000"},
		{Name: "foreman-closing-i8-20269901T083000Z"},
		{Name: "foreman-closing-i8-00010101T000000Z"},
		{Name: "foreman-closing-i99999999999999999999-20260501T083000Z"},
		{Name: "foreman-closing-i8-20260501T083000Z-20260501T083000Z"},
	} {
		s.Add(a)
	}
	list, complete, err := store.Pending(t.Context(), "org/repo")
	if got := fmt.Sprint(list); err != nil || !complete || got != "[{7 2026-05-01 08:30:00 +0000 UTC}]" {
		t.Errorf("got %s, complete %t, %v", got, complete, err)
	}
}

// TestManyArtifacts looks for scheduled closes in a repository with more artifacts than the store
// lists.
func TestManyArtifacts(t *testing.T) {
	t.Parallel()
	s := resultstest.New(t, resultstest.Config{})
	s.Add(resultstest.Artifact{Name: "foreman-closing-i1-20260501T083000Z"})
	for range 1998 {
		s.Add(resultstest.Artifact{Name: "coverage"})
	}
	store := artifact(t, options(s))
	look := func(want int, whole bool) {
		t.Helper()
		list, complete, err := store.Pending(t.Context(), "org/repo")
		if err != nil || len(list) != want || complete != whole {
			t.Errorf("got %v, complete %t, %v, want %d, complete %t", list, complete, err, want, whole)
		}
	}
	look(1, true)
	s.Add(resultstest.Artifact{Name: "coverage"})
	s.Add(resultstest.Artifact{Name: "coverage"})
	look(0, false)
}

// TestAnnouncementFails checks that a record with a scheduled close is not saved if the close
// cannot be announced, because later runs would not find it.
func TestAnnouncementFails(t *testing.T) {
	t.Parallel()
	s := resultstest.New(t, resultstest.Config{})
	store := artifact(t, options(s))
	save(t, store, record(0))
	r := record(1)
	r.Plan(memory.ScheduledClose{Due: time.Date(2026, 5, 1, 8, 30, 0, 0, time.UTC)})
	s.Deny(resultstest.ArtifactWrite, true)
	if err := store.Save(t.Context(), r); err == nil || !strings.Contains(err.Error(), "announce the due time of the issue in artifact foreman-closing-i7-20260501T083000Z") {
		t.Errorf("got %v", err)
	}
	if got := load(t, store); got.Revision != 1 {
		t.Errorf("got revision %d, want 1", got.Revision)
	}
}

// TestOrdinarySave checks that a record without a scheduled close is saved as a single artifact.
func TestOrdinarySave(t *testing.T) {
	t.Parallel()
	s := resultstest.New(t, resultstest.Config{})
	save(t, artifact(t, options(s)), record(0))
	if list := s.Artifacts(); len(list) != 1 || list[0].Name != "foreman-memory-i7" {
		t.Errorf("got %v, want that of the record", list)
	}
}

// TestAnnouncementOrder checks that an earlier due time is announced before the record is saved, and a
// later one, or none, afterwards. Otherwise a run that is killed between the two uploads would hide
// the record from scheduled runs.
func TestAnnouncementOrder(t *testing.T) {
	t.Parallel()
	s := resultstest.New(t, resultstest.Config{})
	store := artifact(t, options(s))
	at := time.Date(2026, 5, 1, 8, 30, 0, 0, time.UTC)
	for i, tt := range []struct {
		due  time.Time // zero: none
		want string
	}{
		{at, "foreman-closing-i7-20260501T083000Z foreman-memory-i7"},
		{at.AddDate(0, 0, 2), "foreman-memory-i7 foreman-closing-i7-20260503T083000Z"},
		{at.AddDate(0, 0, 1), "foreman-closing-i7-20260502T083000Z foreman-memory-i7"},
		{at.AddDate(0, 0, 1), "foreman-memory-i7"},
		{time.Time{}, "foreman-memory-i7 foreman-closing-i7-none"},
		{time.Time{}, "foreman-memory-i7"},
	} {
		was := newest(s)
		r := record(i)
		if !tt.due.IsZero() {
			r.Plan(memory.ScheduledClose{Due: tt.due})
		}
		save(t, store, r)
		var got []string
		for _, a := range s.Artifacts() {
			if a.ID > was {
				got = append(got, a.Name)
			}
		}
		if text := strings.Join(got, " "); text != tt.want {
			t.Errorf("step %d: got %s, want %s", i, text, tt.want)
		}
	}
}

// newest returns the highest id of the artifacts.
func newest(s *resultstest.Server) (id int64) {
	for _, a := range s.Artifacts() {
		id = max(id, a.ID)
	}
	return id
}
