package results_test

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/actions/results"
	"github.com/org/foreman-action/internal/actions/results/resultstest"
	"github.com/org/foreman-action/memory"
)

// TestSameRun lets a second job of a run save completely while the first one is stopped at one of
// its calls. If a job's save succeeds, the record contains its task. If the save fails, a second
// try succeeds.
func TestSameRun(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		lenient bool
		base    bool // the run already has an artifact of a third job
	}{
		"new":               {},
		"new, lenient":      {lenient: true},
		"replaced":          {base: true},
		"replaced, lenient": {base: true, lenient: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// Save once without a second job, to get the list of calls.
			alone := newDuel(t, tt.lenient, tt.base)
			before := len(alone.s.Calls())
			if err := alone.first.Save(t.Context(), alone.mine); err != nil {
				t.Fatal(err)
			}
			for i, call := range alone.s.Calls()[before:] {
				path, _, _ := strings.Cut(call.URI, "?")
				t.Run(fmt.Sprint(i+1, path), func(t *testing.T) {
					t.Parallel()
					d := newDuel(t, tt.lenient, tt.base)
					d.fight(t, resultstest.Fault{Nth: i + 1})
				})
			}
		})
	}
}

// TestSameRunTakenBack is like TestSameRun, but another run has saved meanwhile. The second job
// saves while the first one removes its own artifact because of that conflict.
func TestSameRunTakenBack(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"ListArtifacts", "DeleteArtifact"} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			d := newDuel(t, false, false)
			rival := artifact(t, options(d.s))
			created, goOn := make(chan struct{}), make(chan struct{})
			d.s.Fault(resultstest.Fault{Path: "/twirp/*/CreateArtifact", Reached: created, Hold: goOn})
			go func() {
				<-created
				if err := rival.Save(t.Context(), record(0)); err != nil {
					t.Errorf("the other run: %v", err)
				}
				close(goOn)
			}()
			d.fight(t, resultstest.Fault{Path: "/twirp/*/" + method})
		})
	}
}

// A duel is a test in which two jobs of one run save the record of issue 7.
type duel struct {
	s             *resultstest.Server
	first, second memory.Store
	mine          memory.Record // the record that the first job saves
}

func newDuel(t *testing.T, lenient, base bool) *duel {
	t.Helper()
	s := resultstest.New(t, resultstest.Config{Lenient: lenient})
	job := func() memory.Store { return artifact(t, optionsOf(s, s.RuntimeToken(resultstest.Job{Run: 5}))) }
	d := &duel{s: s, first: job(), second: job(), mine: memory.Record{Repo: "org/repo", Issue: 7}}
	if base {
		put(t, job(), "base")
		d.mine = load(t, d.first)
	}
	d.mine.Put(memory.Task{ID: "first", By: "rules"})
	return d
}

// fight lets the second job save while a fault stops the first one, and checks the outcome of each
// job.
func (d *duel) fight(t *testing.T, at resultstest.Fault) {
	t.Helper()
	var other error
	err := heldAt(t, d.s, at, func() error { return d.first.Save(t.Context(), d.mine) }, func() { other = once(t, d.second, "second") })
	if err != nil && !errors.Is(err, memory.ErrConflict) {
		t.Errorf("first job: got %v, want nothing or ErrConflict", err)
	}
	if other != nil && !errors.Is(other, results.ErrTaken) {
		t.Errorf("second job: got %v, want nothing or ErrTaken", other)
	}
	if err != nil && other != nil {
		t.Errorf("got %v and %v, want that one of them saves", err, other)
	}
	list := tasks(t, d.s)
	for id, err := range map[string]error{"first": err, "second": other} {
		if err == nil && !slices.Contains(list, id) {
			t.Errorf("the %s job was told that it saved: got the tasks %q", id, list)
		}
	}
	put(t, d.first, "first")
	put(t, d.second, "second")
	if list := tasks(t, d.s); !slices.Contains(list, "first") || !slices.Contains(list, "second") {
		t.Errorf("got the tasks %q in the end, want those of both", list)
	}
}

// once adds a task with one call of Update, which retries a conflict only a few times.
func once(t *testing.T, store memory.Store, id string) error {
	t.Helper()
	_, err := memory.Update(t.Context(), store, "org/repo", 7, func(r *memory.Record) error {
		r.Put(memory.Task{ID: id, By: "rules"})
		return nil
	})
	return err
}

func tasks(t *testing.T, s *resultstest.Server) []string {
	t.Helper()
	var out []string
	for _, task := range load(t, artifact(t, options(s))).Tasks {
		out = append(out, task.ID)
	}
	return out
}

// TestMakerReplaces pins the remaining race. The service deletes by name and job, so it deletes a
// new artifact if the job replaces its own after we have listed it. The log then contains a
// warning.
func TestMakerReplaces(t *testing.T) {
	t.Parallel()
	s := resultstest.New(t, resultstest.Config{})
	job := func() results.Options { return optionsOf(s, s.RuntimeToken(resultstest.Job{Run: 5})) }
	var log strings.Builder
	o := job()
	o.Log = slog.New(slog.NewTextHandler(&log, nil))
	maker, late := artifact(t, job()), artifact(t, o)
	put(t, maker, "base")
	mine := load(t, late)
	mine.Put(memory.Task{ID: "late", By: "rules"})
	err := heldAt(t, s, resultstest.Fault{Path: "/twirp/*/DeleteArtifact"}, func() error { return late.Save(t.Context(), mine) }, func() {
		put(t, maker, "lost")
	})
	if got := tasks(t, s); err != nil || !slices.Equal(got, []string{"base", "late"}) {
		t.Errorf("got %v and the tasks %q, want base and late", err, got)
	}
	if !strings.Contains(log.String(), "deleted another artifact, which was created after the look-up") {
		t.Errorf("got the log %q, want a warning", log.String())
	}
}

// TestOursIsGone checks a list without our new artifact, which means that it was replaced. Save
// returns ErrConflict and removes our artifact if it still exists.
func TestOursIsGone(t *testing.T) {
	t.Parallel()
	s := resultstest.New(t, resultstest.Config{})
	o := options(s)
	o.Reader = &reader{}
	if err := artifact(t, o).Save(t.Context(), record(0)); !errors.Is(err, memory.ErrConflict) {
		t.Errorf("got %v, want ErrConflict", err)
	}
	if list := s.Artifacts(); len(list) != 0 {
		t.Errorf("got %d artifacts, want ours taken back", len(list))
	}
}

// TestListedArtifacts checks the list of this run's artifacts that Save reads before a removal. "4"
// stands for the id of the known artifact. If the list names another artifact or is invalid, Save
// removes nothing.
func TestListedArtifacts(t *testing.T) {
	t.Parallel()
	const ids = `"workflow_run_backend_id":"r","workflow_job_run_backend_id":"j"`
	tests := map[string]struct {
		list string
		want error
	}{
		"another one":                {`[{"database_id":"99",` + ids + `}]`, memory.ErrConflict},
		"another one, camel case":    {`[{"databaseId":99,"workflowRunBackendId":"r","workflowJobRunBackendId":"j"}]`, memory.ErrConflict},
		"a newer one of an attempt":  {`[{"database_id":"4",` + ids + `},{"database_id":"99",` + ids + `}]`, memory.ErrConflict},
		"the same, the other way":    {`[{"database_id":"99",` + ids + `},{"database_id":"4",` + ids + `}]`, memory.ErrConflict},
		"none":                       {`[]`, results.ErrTaken},
		"none, and not even a list":  {`null`, results.ErrTaken},
		"one without an id":          {`[{` + ids + `}]`, results.ErrTaken},
		"one without a job":          {`[{"database_id":"4","workflow_run_backend_id":"r"}]`, results.ErrTaken},
		"one that is no object":      {`[4]`, results.ErrTaken},
		"something that is no list":  {`{}`, results.ErrTaken},
		"one with an id that is odd": {`[{"database_id":"-4",` + ids + `}]`, results.ErrTaken},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDuel(t, false, true)
			list := strings.ReplaceAll(tt.list, `"4"`, fmt.Sprintf(`"%d"`, d.s.Artifacts()[0].ID))
			d.s.Fault(resultstest.Fault{Path: "/twirp/*/ListArtifacts", Status: 200, Body: `{"artifacts":` + list + `}`})
			if err := d.first.Save(t.Context(), d.mine); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
			if strings.Contains(methods(d.s), "DeleteArtifact") {
				t.Error("something was deleted")
			}
			if got := tasks(t, d.s); !slices.Equal(got, []string{"base"}) {
				t.Errorf("got the tasks %q, want base", got)
			}
		})
	}
}

// infos returns the artifacts of a server as the REST API lists them.
func infos(s *resultstest.Server) []results.Info {
	var out []results.Info
	for _, a := range s.Artifacts() {
		out = append(out, results.Info{ID: a.ID, Name: a.Name, Digest: a.Digest, WorkflowRun: results.Run{
			ID: a.Run, RepositoryID: a.RepositoryID, HeadRepositoryID: a.HeadRepositoryID, HeadBranch: a.HeadBranch,
		}})
	}
	return out
}
