// Package memorytest contains the tests that every memory.Store, memory.Journal and memory.Agenda
// must pass.
package memorytest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/triage"
)

// Run runs the tests that every memory.Store must pass. open returns an empty store. It is called
// once per subtest and may use t.Cleanup to close the store.
func Run(t *testing.T, open func(t *testing.T) memory.Store) {
	t.Helper()
	runSuite(t, open, []subtest[memory.Store]{
		{"load missing", loadMissing},
		{"round trip", roundTrip},
		{"revisions", revisions},
		{"conflict", conflict},
		{"the repository's record", repository},
		{"outcomes", outcomes},
		{"nothing shared", nothingShared},
		{"isolation", isolation},
		{"case of the repository", foldedCase},
		{"concurrent saves", concurrentSaves},
		{"cancelled", cancelled},
		{"big record", bigRecord},
		{"too big", tooBig},
		{"hostile names", hostileNames},
		{"hostile text", hostileText},
		{"proposals", proposals},
	})
}

// A subtest is one test of a suite.
type subtest[T any] struct {
	name string
	test func(*testing.T, T)
}

// runSuite runs each test with a new store or journal.
func runSuite[T any](t *testing.T, open func(*testing.T) T, tests []subtest[T]) {
	t.Helper()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.test(t, open(t))
		})
	}
}

// wantError fails the test if the error of a call is not the wanted one. what names the call.
func wantError(t *testing.T, what string, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// canceled returns a context that has ended.
func canceled(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// Sample returns a new record of one task, which is not stored yet.
func Sample(repo string, issue int) memory.Record {
	return memory.Record{Repo: repo, Issue: issue, Tasks: []memory.Task{{
		ID: "a3f8c2d1-4b5e-4f6a-8c9d-0e1f2a3b4c5d", At: time.Date(2026, 4, 10, 8, 30, 0, 0, time.UTC),
		Event: "issues.opened", Decision: protocol.LabelAndRespond, Rationale: "a crash", By: "rules", Status: "applied",
		Actions: []memory.Action{
			{Index: 0, Type: protocol.ActionAddLabel, Values: []string{"bug"}, Rule: "crash", Verdict: triage.Do, Result: triage.Done},
			{Index: 1, Type: protocol.ActionCloseIssue, Verdict: triage.Refuse, Result: triage.Refused, Reason: "close is not allowed"},
		},
	}}}
}

func loadMissing(t *testing.T, s memory.Store) {
	if _, err := s.Load(t.Context(), "org/repo", 1); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("Load of nothing: got %v, want ErrNotFound", err)
	}
}

func roundTrip(t *testing.T, s memory.Store) {
	want := Sample("org/repo", 7)
	want.Earlier = &memory.Earlier{
		Tasks: 3, From: time.Date(2025, 1, 2, 0, 0, 0, 0, time.UTC), To: time.Date(2025, 3, 4, 0, 0, 0, 0, time.UTC),
		Done: map[string]int{protocol.ActionComment: 2}, Escalated: 1,
	}
	checkSaved(t, s, want)
}

func revisions(t *testing.T, s memory.Store) {
	save(t, s, Sample("org/repo", 7))
	for want := 1; want <= 5; want++ {
		r := load(t, s, "org/repo", 7)
		if r.Revision != want {
			t.Fatalf("revision: got %d, want %d", r.Revision, want)
		}
		save(t, s, r)
	}
}

func conflict(t *testing.T, s memory.Store) {
	first := Sample("org/repo", 7)
	for _, revision := range []int{1, 2} {
		r := first
		r.Revision = revision
		if err := s.Save(t.Context(), r); !errors.Is(err, memory.ErrConflict) {
			t.Errorf("first Save with revision %d: got %v, want ErrConflict", revision, err)
		}
	}
	save(t, s, first)
	for _, revision := range []int{0, 2, -1} {
		r := first
		r.Revision, r.Tasks = revision, nil
		if err := s.Save(t.Context(), r); !errors.Is(err, memory.ErrConflict) {
			t.Errorf("Save with revision %d over 1: got %v, want ErrConflict", revision, err)
		}
	}
	if r := load(t, s, "org/repo", 7); r.Revision != 1 || len(r.Tasks) != 1 {
		t.Errorf("after conflicts: got revision %d and %d tasks, want 1 and 1", r.Revision, len(r.Tasks))
	}
}

// outcomes counts outcomes in the repository's record, and saves it after each.
func outcomes(t *testing.T, s memory.Store) {
	at := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	r := memory.Record{Repo: "org/repo", Issue: memory.Repository, Outcomes: &memory.Outcomes{}}
	for i, value := range []string{"bug", "", "\x00\xff<b>\u2028"} {
		k := memory.PairKey{Source: "agent:bot@1.0", Action: "add_label", Value: value}
		for _, o := range []memory.Outcome{memory.OutcomeKept, memory.OutcomeRejected, memory.OutcomeAccepted} {
			at = at.Add(time.Hour)
			res := memory.Result{Outcome: o, Issue: at.Hour(), Author: "Mona", Acted: at, At: at}
			if !r.Outcomes.Count(k, "", res, memory.Threshold{Bound: 0.85, Of: 20}) {
				t.Errorf("pair %d, %s: not counted", i, o)
			}
		}
		save(t, s, r)
		r.Schema, r.Revision, r.Tasks = r.StoredSchema(), r.Revision+1, []memory.Task{}
		got := load(t, s, "org/repo", memory.Repository)
		if diff := cmp.Diff(r, got); diff != "" || got.Schema != memory.Schema {
			t.Errorf("schema %d, record changed on its way (-saved +loaded):\n%s", got.Schema, diff)
		}
	}
}

func nothingShared(t *testing.T, s memory.Store) {
	r := Sample("org/repo", 7)
	save(t, s, r)
	r.Tasks[0].Actions[0].Values[0] = "changed after Save"
	got := load(t, s, "org/repo", 7)
	got.Tasks[0].Actions[0].Values[0] = "changed after Load"
	if v := load(t, s, "org/repo", 7).Tasks[0].Actions[0].Values[0]; v != "bug" {
		t.Errorf("stored value: got %q, want %q", v, "bug")
	}
}

func isolation(t *testing.T, s memory.Store) {
	ids := []struct {
		repo  string
		issue int
	}{
		{"org/repo", 7}, {"org/repo", 71}, {"org/repo", 1}, {"org/repo7", 1}, {"org7/repo", 1}, {"org-repo/x", 7}, {"org/repo-x", 7}, {"o/rg.repo", 7},
	}
	for i, id := range ids {
		r := Sample(id.repo, id.issue)
		r.Tasks[0].ID = fmt.Sprint("task ", i)
		save(t, s, r)
	}
	for i, id := range ids {
		r := load(t, s, id.repo, id.issue)
		if want := fmt.Sprint("task ", i); r.Tasks[0].ID != want || r.Repo != id.repo || r.Issue != id.issue {
			t.Errorf("%s#%d: got %s of %s#%d, want %s", id.repo, id.issue, r.Tasks[0].ID, r.Repo, r.Issue, want)
		}
	}
}

func foldedCase(t *testing.T, s memory.Store) {
	save(t, s, Sample("Org/Repo", 7))
	if r := load(t, s, "org/repo", 7); r.Revision != 1 {
		t.Errorf("org/repo: got revision %d, want that of Org/Repo", r.Revision)
	}
	wantError(t, "Save of ORG/REPO", s.Save(t.Context(), Sample("ORG/REPO", 7)), memory.ErrConflict)
}

func concurrentSaves(t *testing.T, s memory.Store) {
	const writers = 8
	var wg sync.WaitGroup
	errs := make(chan error, writers)
	for i := range writers {
		wg.Go(func() {
			// A writer may lose against each of the other writers.
			for {
				_, err := memory.Update(t.Context(), s, "org/repo", 7, func(r *memory.Record) error {
					r.Put(memory.Task{ID: fmt.Sprint(i), By: "rules"})
					return nil
				})
				if !errors.Is(err, memory.ErrConflict) {
					errs <- err
					return
				}
			}
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			t.Errorf("update: %v", err)
		}
	}
	if r := load(t, s, "org/repo", 7); len(r.Tasks) != writers || r.Revision != writers {
		t.Errorf("got %d tasks at revision %d, want %d at %d", len(r.Tasks), r.Revision, writers, writers)
	}
}

func cancelled(t *testing.T, s memory.Store) {
	ctx := canceled(t)
	wantError(t, "Save", s.Save(ctx, Sample("org/repo", 7)), context.Canceled)
	if _, err := s.Load(ctx, "org/repo", 7); !errors.Is(err, context.Canceled) {
		t.Errorf("Load: got %v, want context.Canceled", err)
	}
	loadMissing(t, s)
}

func bigRecord(t *testing.T, s memory.Store) {
	r := memory.Record{Repo: "org/repo", Issue: 7}
	for i := range 70 {
		task := Sample("org/repo", 7).Tasks[0]
		task.ID, task.At = fmt.Sprint(i), task.At.Add(time.Duration(i)*time.Hour)
		task.Rationale = strings.Repeat("because ", 500)
		r.Put(task)
	}
	checkSaved(t, s, r)
}

func tooBig(t *testing.T, s memory.Store) {
	save(t, s, Sample("org/repo", 7))
	r := load(t, s, "org/repo", 7)
	for name, change := range map[string]func(*memory.Record){
		"MaxSize":  func(r *memory.Record) { r.Tasks[0].Rationale = strings.Repeat("x", memory.MaxSize) },
		"MaxTasks": func(r *memory.Record) { r.Tasks = make([]memory.Task, memory.MaxTasks+1) },
	} {
		big := r
		big.Tasks = slices.Clone(r.Tasks)
		change(&big)
		if err := s.Save(t.Context(), big); err == nil {
			t.Errorf("Save of a record beyond %s: got no error", name)
		}
	}
	if r := load(t, s, "org/repo", 7); r.Revision != 1 {
		t.Errorf("after it: got revision %d, want 1", r.Revision)
	}
}

func repository(t *testing.T, s memory.Store) {
	at := time.Date(2026, 4, 10, 8, 30, 0, 0, time.UTC)
	want := memory.Record{Repo: "org/repo", Issue: memory.Repository, Outcomes: &memory.Outcomes{}}
	want.Scores = &memory.Scores{Rules: map[string]memory.Score{"crash": {Agreed: 19, Disagreed: 1, Since: at}}}
	for issue, shadow := range []bool{false, true, true} {
		k := memory.PairKey{Source: memory.RuleSource("00ff"), Action: protocol.ActionAddLabel, Value: "bug"}
		want.Outcomes.Count(k, "crash", memory.Result{Outcome: memory.OutcomeKept, Shadow: shadow, Issue: issue + 1, Author: "mona", Acted: at, At: at}, memory.Threshold{Bound: 0.85, Of: 20})
	}
	want.Move(memory.Cursor{Scan: `is:open -label:"a b"`, Issue: 7, Created: at})
	save(t, s, want)
	save(t, s, Sample("org/repo", 1))
	want.Schema, want.Revision, want.Tasks = want.StoredSchema(), 1, []memory.Task{}
	if diff := cmp.Diff(want, load(t, s, "org/repo", memory.Repository)); diff != "" {
		t.Errorf("the repository's record (-want +got):\n%s", diff)
	}
}

func hostileNames(t *testing.T, s memory.Store) {
	long := strings.Repeat("x", 300)
	for _, repo := range []string{
		"", "/", "org", "org/", "/repo", "../repo", "org/..", "./repo", "org/.", "org/../../etc", "org/re/po", `org\..\repo`,
		"org/re po", "org/repo\n", "org/\x00", "org/%2e%2e", "org/repö", "org/" + long, long + "/repo", ".lock/repo", ".org/repo", "or\u212a/repo", "org/\u212aind",
	} {
		r := Sample(repo, 7)
		if err := s.Save(t.Context(), r); err == nil {
			t.Errorf("Save of %q: got no error", repo)
		}
		if _, err := s.Load(t.Context(), repo, 7); err == nil {
			t.Errorf("Load of %q: got no error", repo)
		}
	}
	for _, issue := range []int{-1, -7} {
		if err := s.Save(t.Context(), Sample("org/repo", issue)); err == nil {
			t.Errorf("Save of issue %d: got no error", issue)
		}
		if _, err := s.Load(t.Context(), "org/repo", issue); err == nil {
			t.Errorf("Load of issue %d: got no error", issue)
		}
	}
	names := []string{"o/.github", "o/a..b", "o-1/_", "o/7.json", "o/.lock"}
	if runtime.GOOS != "windows" { // Windows reserves the name
		names = append(names, "o/con")
	}
	for _, repo := range names {
		save(t, s, Sample(repo, 7))
		load(t, s, repo, 7)
	}
}

func hostileText(t *testing.T, s memory.Store) {
	want := Sample("org/repo", 7)
	for _, text := range []string{"'; drop table record; --", "\x00\x1b[31m", "</script>&", "\u2028\u202e", `"\`, "${{ x }}\n::error::"} {
		want.Tasks[0].Rationale += text
		want.Tasks[0].Actions[0].Values = append(want.Tasks[0].Actions[0].Values, text)
	}
	checkSaved(t, s, want)
}

// checkSaved saves a new record, and compares the record that Load returns with it.
func checkSaved(t *testing.T, s memory.Store, r memory.Record) {
	t.Helper()
	save(t, s, r)
	r.Schema, r.Revision = r.StoredSchema(), 1
	if diff := cmp.Diff(r, load(t, s, r.Repo, r.Issue), equalItems); diff != "" {
		t.Errorf("record changed on its way (-saved +loaded):\n%s", diff)
	}
}

// equalItems compares actions by their JSON.
var equalItems = cmp.Comparer(func(a, b protocol.ActionItem) bool { return a.String() == b.String() })

func save(t *testing.T, s memory.Store, r memory.Record) {
	t.Helper()
	if err := s.Save(t.Context(), r); err != nil {
		t.Fatalf("Save %s#%d at revision %d: %v", r.Repo, r.Issue, r.Revision, err)
	}
}

func load(t *testing.T, s memory.Store, repo string, issue int) memory.Record {
	t.Helper()
	r, err := s.Load(t.Context(), repo, issue)
	if err != nil {
		t.Fatalf("Load %s#%d: %v", repo, issue, err)
	}
	return r
}
