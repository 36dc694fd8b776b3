package memory_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/triage"
)

// hostileRecord returns a record that Encode never writes: many empty tasks, and many types.
func hostileRecord(tasks, types int) memory.Record {
	r := memory.Record{Repo: "org/repo", Issue: 42, Revision: 1, Tasks: make([]memory.Task, tasks)}
	r.Earlier = &memory.Earlier{Tasks: 1, Done: map[string]int{protocol.ActionComment: 3}}
	for i := range types {
		r.Earlier.Done[fmt.Sprint("type ", i)] = 1
	}
	return r
}

// wild returns records that each exceed one bound. The key names the bound.
func wild() map[string]memory.Record {
	task := func(t memory.Task) memory.Record {
		return memory.Record{Tasks: []memory.Task{{ID: "before"}, t}}
	}
	action := func(a memory.Action) memory.Record {
		return task(memory.Task{ID: "x", Actions: []memory.Action{{Type: protocol.ActionComment, Result: triage.Done}, a}})
	}
	human := func(c memory.Change) memory.Record {
		r := task(memory.Task{ID: "x"})
		r.Humans = []memory.Change{c}
		return r
	}
	earlier := func(e memory.Earlier) memory.Record { return memory.Record{Earlier: &e} }
	long, invalid := strings.Repeat("x", 5_000), strings.Repeat("\xff", 400)
	last := time.Date(9999, 12, 31, 23, 59, 59, 0, time.FixedZone("", -3600))
	many := hostileRecord(0, 28_600)
	return map[string]memory.Record{
		"tasks":                 hostileRecord(2_000, 0),
		"types":                 many,
		"a type of 262,000":     earlier(memory.Earlier{Tasks: 1, Done: map[string]int{strings.Repeat("x", 262_000): 1}}),
		"a type of no UTF-8":    earlier(memory.Earlier{Tasks: 1, Done: map[string]int{invalid: 1}}),
		"no earlier task":       earlier(memory.Earlier{}),
		"many earlier tasks":    earlier(memory.Earlier{Tasks: math.MaxInt, Escalated: math.MaxInt, Done: map[string]int{"x": math.MaxInt}}),
		"fewer than no tasks":   earlier(memory.Earlier{Tasks: math.MinInt, Escalated: -1, Done: map[string]int{"x": -1}}),
		"earlier from 10000":    earlier(memory.Earlier{Tasks: 1, From: last}),
		"earlier to -1":         earlier(memory.Earlier{Tasks: 1, To: time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC)}),
		"year 10000":            task(memory.Task{ID: "x", At: time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC)}),
		"year 10000 in UTC":     task(memory.Task{ID: "x", At: last}),
		"year 10000 in a zone":  task(memory.Task{ID: "x", At: last.Add(-2 * time.Hour).In(time.FixedZone("", 7200))}),
		"year -1":               task(memory.Task{ID: "x", At: time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC)}),
		"a zone of days":        task(memory.Task{ID: "x", At: april.In(time.FixedZone("", 100*3600))}),
		"rationale":             task(memory.Task{ID: "x", Rationale: long}),
		"rationale of no UTF-8": task(memory.Task{ID: "x", Rationale: strings.Repeat("\xff", 4_000)}),
		"id":                    task(memory.Task{ID: long}),
		"decision":              task(memory.Task{ID: "x", Decision: protocol.DecisionType(long)}),
		"by of no UTF-8":        task(memory.Task{ID: "x", By: invalid}),
		"actions":               task(memory.Task{ID: "x", Actions: make([]memory.Action, 401)}),
		"index -1":              action(memory.Action{Index: -1}),
		"index":                 action(memory.Action{Index: math.MaxInt}),
		"hash":                  action(memory.Action{Hash: long}),
		"value":                 action(memory.Action{Values: []string{long}}),
		"values":                action(memory.Action{Values: make([]string, 101)}),
		"a human's comment":     human(memory.Change{At: april, Type: protocol.ActionComment}),
		"a human's type":        human(memory.Change{At: april, Type: "Lock"}),
		"a human's year":        human(memory.Change{At: last, Type: protocol.ActionLock}),
		"a human's login":       human(memory.Change{At: april, Type: protocol.ActionLock, By: invalid}),
		"a human's values":      human(memory.Change{At: april, Type: protocol.ActionLock, Values: make([]string, 101)}),
	}
}

// TestPutBounds puts a task into records that are out of bounds. Encode rejects them before Put
// and accepts them afterwards, and no comment is lost.
func TestPutBounds(t *testing.T) {
	t.Parallel()
	for name, r := range wild() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r.Repo, r.Issue, r.Revision = "org/repo", 42, 1
			if _, err := memory.Encode(r); err == nil {
				t.Error("Encode before Put: got no error")
			}
			comment := posted(r)
			r.Put(memory.Task{ID: "new", At: april, Decision: protocol.Skip})
			data, err := memory.Encode(r)
			if err != nil {
				t.Fatalf("Encode after Put: %v", err)
			}
			again, err := memory.Decode(data, "org/repo", 42)
			r.Schema = r.StoredSchema()
			if diff := cmp.Diff(r, again, cmpopts.EquateEmpty()); diff != "" || err != nil {
				t.Errorf("on its way: %v (-put +decoded):\n%s", err, diff)
			}
			if !strings.Contains(fmt.Sprint(again.Tasks), "new") || posted(again) != comment {
				t.Errorf("lost: %+v", again)
			}
		})
	}
}

// TestEncodeRevision encodes the smallest and the largest revision.
func TestEncodeRevision(t *testing.T) {
	t.Parallel()
	for revision, want := range map[int]error{math.MinInt: memory.ErrConflict, 0: memory.ErrConflict, 1: nil, memory.MaxRevision - 1: nil, memory.MaxRevision: memory.ErrBroken} {
		data, err := memory.Encode(memory.Record{Repo: "org/repo", Issue: 42, Revision: revision})
		if err == nil {
			_, err = memory.Decode(data, "org/repo", 42)
		}
		if !errors.Is(err, want) {
			t.Errorf("revision %d: got %v, want %v", revision, err, want)
		}
	}
	if _, err := memory.Encode(memory.Record{Repo: "org/repo", Issue: 42, Revision: memory.MaxRevision + 1}); err == nil || errors.Is(err, memory.ErrConflict) {
		t.Errorf("after the last: got %v", err)
	}
}

// TestPutShares puts tasks into a copy of a record: the original record stays unchanged.
func TestPutShares(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]memory.Record{"many": hostileRecord(memory.MaxTasks, 20), "few": tasked(0, 1, 2)} {
		r.Tasks = append(r.Tasks, memory.Task{ID: "last"})[:len(r.Tasks)]
		r.Tasks[0].Actions = actions([]string{"0 comment - done"})
		was := fmt.Sprint(r.Tasks[:len(r.Tasks)+1], r.Earlier)
		other := r
		other.Put(memory.Task{ID: "0", At: april.AddDate(1, 0, 0), Actions: actions([]string{"0 comment - done"})})
		other.Put(memory.Task{ID: "x", At: april.AddDate(-1, 0, 0), Actions: actions([]string{"0 comment - done"})})
		if got := fmt.Sprint(r.Tasks[:len(r.Tasks)+1], r.Earlier); got != was {
			t.Errorf("%s: got %s\nwas %s", name, got, was)
		}
	}
}

// TestPutSaturates folds tasks into counts that are at their maximum.
func TestPutSaturates(t *testing.T) {
	t.Parallel()
	const most = 1 << 30
	r := memory.Record{Repo: "org/repo", Issue: 42, Revision: 1}
	r.Earlier = &memory.Earlier{Tasks: most, Escalated: most, Done: map[string]int{protocol.ActionComment: most - 1}}
	if _, err := memory.Encode(r); err != nil {
		t.Fatal(err)
	}
	for i := range memory.MaxTasks + 3 {
		r.Put(memory.Task{ID: fmt.Sprint(i), At: april, Decision: protocol.Escalate, Actions: actions([]string{"0 comment - done"})})
	}
	if e := r.Earlier; e.Tasks != most || e.Escalated != most || e.Done[protocol.ActionComment] != most {
		t.Errorf("got %+v, want counts up to %d", e, most)
	}
	if _, err := memory.Encode(r); err != nil {
		t.Error(err)
	}
}

// TestPutWork counts the encodings of one Put: each part once, even when tasks are folded.
func TestPutWork(t *testing.T) {
	t.Parallel()
	large := memory.Record{Repo: "org/repo", Issue: 42}
	for i := range memory.MaxTasks {
		task := memory.Task{ID: fmt.Sprint(i), At: april, Rationale: strings.Repeat("x", 4_000)}
		task.Actions = []memory.Action{{Type: fmt.Sprint("type ", i), Result: triage.Done}}
		large.Tasks = append(large.Tasks, task)
	}
	for name, r := range map[string]memory.Record{"many": hostileRecord(43_000, 12_000), "large": large} {
		if steps := memory.Fit(&r); steps > memory.MaxTasks+5 {
			t.Errorf("%s: encoded %d parts", name, steps)
		}
		if len(r.Tasks) == 0 || r.Earlier == nil {
			t.Errorf("%s: got %d tasks and %+v", name, len(r.Tasks), r.Earlier)
		}
	}
}

// TestRoom compares the calculated size of a record with the size that Encode writes.
func TestRoom(t *testing.T) {
	t.Parallel()
	r := tasked(0, 1, 2)
	r.SetHumans([]memory.Change{change(1, "<a>"), change(2, "b\n")})
	r.Revision = memory.MaxRevision
	propose(t, &r, offer(t, "<id>", `{"type":"comment","body":"<a>\u2028","x":[1, {"b" : 2}]}`))
	propose(t, &r, offer(t, "b", `{"type":"lock"}`))
	r.Render(strings.Repeat("0f", 32))
	r.ProposalComment, r.ProposalsShown = math.MaxInt64, 2
	for _, drop := range []int{0, 2, 0} {
		r.Tasks = r.Tasks[drop:]
		data, err := memory.Encode(r)
		if err != nil || memory.Room(r) != len(data) {
			t.Errorf("%d tasks: reckoned %d bytes, and %d are written, %v", len(r.Tasks), memory.Room(r), len(data), err)
		}
		r.Earlier = &memory.Earlier{Tasks: 1, Done: map[string]int{"x": 1}}
	}
}

// TestPutMergesWithin merges attempts that have nothing in common: actions that were carried
// out come first, and no comment is lost.
func TestPutMergesWithin(t *testing.T) {
	t.Parallel()
	r := memory.Record{Repo: "org/repo", Issue: 42, Revision: 1}
	for attempt := range 4 {
		task := memory.Task{ID: "t", At: april}
		for i := range 250 {
			a := memory.Action{Index: i, Type: "add_label", Values: []string{fmt.Sprint(attempt, i)}, Result: triage.Done}
			if i < 100 {
				a.Result = triage.Failed
			}
			task.Actions = append(task.Actions, a)
		}
		if attempt == 0 {
			task.Actions[249].Type = protocol.ActionComment
		}
		r.Put(task)
	}
	list := r.Tasks[0].Actions
	if len(list) != 400 || !posted(r) {
		t.Errorf("got %d actions, want 400; a comment among them: %v", len(list), posted(r))
	}
	for i, a := range list {
		if a.Result != triage.Done || i > 0 && a.Index < list[i-1].Index {
			t.Fatalf("action %d: got %+v", i, a)
		}
	}
	if _, err := memory.Encode(r); err != nil {
		t.Error(err)
	}
}

// worst returns the worst record that a decoder accepts, whose counts are long to write. The
// returned task is so large that Put folds most of the record's tasks.
func worst(t testing.TB) (memory.Record, memory.Task) {
	t.Helper()
	r := memory.Record{Repo: "org/repo", Issue: 42, Revision: 1, Earlier: &memory.Earlier{Tasks: 1, Done: map[string]int{}}}
	for i := range 64 {
		typ := fmt.Sprint(i)
		r.Earlier.Done[typ+strings.Repeat("\x00", 512-len(typ))] = 1 << 30
	}
	for i := range memory.MaxTasks {
		r.Put(memory.Task{ID: fmt.Sprint(i), At: april, Rationale: strings.Repeat("x", 300)})
	}
	data, err := memory.Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	if r, err = memory.Decode(data, "org/repo", 42); err != nil || len(r.Tasks) != memory.MaxTasks {
		t.Fatalf("%d tasks, %v", len(r.Tasks), err)
	}
	task := memory.Task{ID: "new", At: april.Add(time.Hour)}
	for i := range 80 {
		task.Actions = append(task.Actions, memory.Action{Index: i, Type: fmt.Sprint(i), Reason: strings.Repeat("x", 500)})
	}
	return r, task
}

func TestPutWorst(t *testing.T) {
	t.Parallel()
	r, task := worst(t)
	r.Put(task)
	if _, err := memory.Encode(r); err != nil || len(r.Tasks) < 2 || len(r.Tasks) > 50 {
		t.Errorf("%d tasks are left, %v", len(r.Tasks), err)
	}
	// A task that is too large for a record leaves only its counts.
	for i := range task.Actions {
		task.Actions[i].Result, task.Actions[i].Rule = triage.Done, task.Actions[i].Reason
	}
	task.At = task.At.Add(time.Hour)
	r.Put(task)
	if _, err := memory.Encode(r); err != nil || len(r.Tasks) != 0 || r.Earlier.Done["other"] == 0 {
		t.Errorf("%d tasks are left, %v", len(r.Tasks), err)
	}
}

func BenchmarkPutWorst(b *testing.B) {
	r, task := worst(b)
	for b.Loop() {
		r := r
		r.Put(task)
	}
}

// BenchmarkSummaryWorst summarizes the largest number of tasks that a record keeps, each with 20
// actions.
func BenchmarkSummaryWorst(b *testing.B) {
	r := memory.Record{Repo: "org/repo", Issue: 42, Earlier: hostileRecord(0, 60).Earlier}
	for i := range memory.MaxTasks {
		task := memory.Task{ID: fmt.Sprint(i), At: april}
		for j := range 20 {
			task.Actions = append(task.Actions, memory.Action{
				Index: j, Type: protocol.ActionAddLabels, Values: []string{strings.Repeat("\u0100", 60), fmt.Sprint(i, j)}, Result: triage.Done,
			})
		}
		r.Tasks = append(r.Tasks, task)
	}
	for b.Loop() {
		if _, ok := memory.Summary(r); !ok {
			b.Fatal("nothing is told")
		}
	}
}
