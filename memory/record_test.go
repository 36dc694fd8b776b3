package memory_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/triage"
)

var april = time.Date(2026, 4, 10, 8, 30, 0, 0, time.UTC)

func TestPutOrder(t *testing.T) {
	t.Parallel()
	var r memory.Record
	for _, day := range []int{2, 0, 3, 1} {
		r.Put(memory.Task{ID: fmt.Sprint(day), At: april.AddDate(0, 0, day).In(time.FixedZone("", 3600))})
	}
	var got []string
	for _, task := range r.Tasks {
		got = append(got, task.ID)
		if task.At.Location() != time.UTC {
			t.Errorf("task %s: time in %v, want UTC", task.ID, task.At.Location())
		}
	}
	if diff := cmp.Diff([]string{"0", "1", "2", "3"}, got); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

// TestPutMerges puts two attempts at one task. Each action has the form "index type value
// result".
func TestPutMerges(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name             string
		first, then, out []string
	}{
		{"the same again", []string{"0 add_label bug done"}, []string{"0 add_label bug already"}, []string{"0 add_label bug done"}},
		{"the rest", []string{"0 comment - done", "1 add_label bug failed"}, []string{"0 comment - skipped", "1 add_label bug done"}, []string{"0 comment - done", "1 add_label bug done"}},
		{"only failures", []string{"0 comment - failed"}, []string{"0 comment - refused"}, []string{"0 comment - refused"}},
		{"done twice", []string{"0 comment - done"}, []string{"0 comment - done"}, []string{"0 comment - done"}},
		{"decided anew", []string{"0 add_label bug done", "1 comment - done"}, []string{"0 add_label docs done", "1 close_issue - done"},
			[]string{"0 add_label bug done", "0 add_label docs done", "1 comment - done", "1 close_issue - done"}},
		{"shorter the second time", []string{"0 add_label bug done", "1 comment - done"}, nil, []string{"0 add_label bug done", "1 comment - done"}},
		{"longer the second time", nil, []string{"0 comment - failed"}, []string{"0 comment - failed"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := memory.Record{Repo: "org/repo", Issue: 42}
			r.Put(memory.Task{ID: "t", At: april, Status: "failed", Actions: actions(tt.first)})
			r.Put(memory.Task{ID: "other", At: april})
			kept := r.Tasks[0]
			r.Put(memory.Task{ID: "t", At: april.Add(time.Minute), Status: "applied", Actions: actions(tt.then)})
			if len(r.Tasks) != 2 || r.Tasks[1].ID != "t" || r.Tasks[1].Status != "applied" {
				t.Fatalf("tasks: got %+v", r.Tasks)
			}
			var got []string
			for _, a := range r.Tasks[1].Actions {
				got = append(got, fmt.Sprint(a.Index, " ", a.Type, " ", strings.Join(append(a.Values, "-")[:1], ""), " ", a.Result))
			}
			if diff := cmp.Diff(tt.out, got); diff != "" {
				t.Errorf("actions (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(actions(tt.first), kept.Actions); diff != "" {
				t.Errorf("the first attempt was changed in place:\n%s", diff)
			}
		})
	}
}

func actions(list []string) []memory.Action {
	var out []memory.Action
	for _, s := range list {
		var a memory.Action
		var value string
		if _, err := fmt.Sscan(s, &a.Index, &a.Type, &value, &a.Result); err != nil {
			panic(err)
		}
		if value != "-" {
			a.Values = []string{value}
		}
		out = append(out, a)
	}
	return out
}

func TestPutFolds(t *testing.T) {
	t.Parallel()
	r := memory.Record{Repo: "org/repo", Issue: 42}
	const more = 7
	for i := range memory.MaxTasks + more {
		task := memory.Task{ID: fmt.Sprint(i), At: april.AddDate(0, 0, i), Actions: actions([]string{"0 comment - done", "1 add_label bug failed"})}
		if i == 2 {
			task.Decision = protocol.Escalate
		}
		r.Put(task)
	}
	want := &memory.Earlier{Tasks: more, From: april, To: april.AddDate(0, 0, more-1), Done: map[string]int{"comment": more}, Escalated: 1}
	if diff := cmp.Diff(want, r.Earlier); diff != "" {
		t.Errorf("earlier (-want +got):\n%s", diff)
	}
	if len(r.Tasks) != memory.MaxTasks || r.Tasks[0].ID != fmt.Sprint(more) {
		t.Errorf("got %d tasks from %s, want %d from %d", len(r.Tasks), r.Tasks[0].ID, memory.MaxTasks, more)
	}
}

// TestPutFoldsSuppressed checks that tasks which shadow mode suppressed are not counted as earlier ones.
func TestPutFoldsSuppressed(t *testing.T) {
	t.Parallel()
	r := memory.Record{Repo: "org/repo", Issue: 42}
	put := func(days, tasks int, action string) {
		for i := range tasks {
			r.Put(memory.Task{ID: fmt.Sprint(days + i), At: april.AddDate(0, 0, days+i), Actions: actions([]string{action})})
		}
	}
	encodes := func() {
		r.Revision = 1
		if _, err := memory.Encode(r); err != nil {
			t.Error(err)
		}
	}
	put(0, memory.MaxTasks+7, "0 add_label bug planned")
	encodes()
	if r.Earlier != nil || len(r.Tasks) != memory.MaxTasks {
		t.Errorf("got %+v and %d tasks", r.Earlier, len(r.Tasks))
	}
	put(500, 3, "0 add_label bug done")
	put(600, memory.MaxTasks-1, "0 add_label bug planned")
	encodes()
	want := &memory.Earlier{Tasks: 2, From: april.AddDate(0, 0, 500), To: april.AddDate(0, 0, 501), Done: map[string]int{"add_label": 2}}
	if diff := cmp.Diff(want, r.Earlier); diff != "" {
		t.Errorf("earlier (-want +got):\n%s", diff)
	}
}

// TestPutLarge puts tasks as large as an agent can make them: the record can still be saved, and
// no comment is lost.
func TestPutLarge(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("<é\n\xff", 2_000)
	task := memory.Task{At: april, Decision: protocol.LabelAndRespond, Event: text, Rationale: text, By: text, Status: text}
	for i := range 300 {
		a := memory.Action{Index: i, Type: fmt.Sprint(i, text), Result: triage.Done, Reason: text, Rule: text, URL: text, Verdict: triage.Verdict(text)}
		for range 10 {
			a.Values = append(a.Values, text)
		}
		task.Actions = append(task.Actions, a)
	}
	task.Actions[0].Type = protocol.ActionComment
	r := memory.Record{Repo: "org/repo", Issue: 42}
	for i := range 3 {
		task.ID = fmt.Sprint(i)
		r.Put(task)
	}
	r.Put(memory.Task{ID: "small", At: april.Add(time.Hour), Rationale: text})
	r.Revision = math.MaxInt32
	if _, err := memory.Encode(r); err != nil {
		t.Fatalf("the record cannot be saved: %v", err)
	}
	last := r.Tasks[len(r.Tasks)-1]
	if last.ID != "small" || len(last.Rationale) > 4<<10 || !utf8.ValidString(last.Rationale) || !strings.HasSuffix(last.Rationale, "…") {
		t.Errorf("the newest task: got %s with %d bytes of rationale", last.ID, len(last.Rationale))
	}
	text, ok := memory.Summary(r)
	checkSummary(t, r, text, ok)
	if !strings.Contains(text, "commented 3 times") {
		t.Errorf("a comment is forgotten: %s", text)
	}
	if len(r.Earlier.Done) > 40 {
		t.Errorf("%d types are counted apart", len(r.Earlier.Done))
	}
}

func TestNewAction(t *testing.T) {
	t.Parallel()
	tests := []struct {
		item string
		want []string
	}{
		{`{"type":"add_label","label":"bug","extra":"x"}`, []string{"bug"}},
		{`{"type":"add_labels","labels":["a","b"]}`, []string{"a", "b"}},
		{`{"type":"assign","assignees":"octocat"}`, []string{"octocat"}},
		{`{"type":"close_issue","reason":"not_planned"}`, []string{"not_planned"}},
		{`{"type":"close_issue"}`, nil},
		{`{"type":"mark_duplicate","of":7.0}`, []string{"7"}},
		{`{"type":"mark_duplicate","of":"free text"}`, nil},
		{`{"type":"comment","body":"secret"}`, nil},
		{`{"type":"update_comment","body":"secret","key":"k"}`, nil},
		{`{"type":"add_label","label":{"a":"b"}}`, nil},
		{`{"type":"launch_rocket","to":"moon"}`, nil},
	}
	for _, tt := range tests {
		var item protocol.ActionItem
		if err := item.UnmarshalJSON([]byte(tt.item)); err != nil {
			t.Fatal(err)
		}
		want := memory.Action{Index: 3, Type: item.Type, Values: tt.want, Hash: memory.HashAction(item)}
		if diff := cmp.Diff(want, memory.NewAction(3, item)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.item, diff)
		}
	}
}

// A script is a store that returns fixed errors and counts the calls.
type script struct {
	memory.Store
	loadErr, saveErr error
	loads, saves     int
}

func (s *script) Load(ctx context.Context, repo string, issue int) (memory.Record, error) {
	s.loads++
	if s.loadErr != nil {
		return memory.Record{}, s.loadErr
	}
	return s.Store.Load(ctx, repo, issue)
}

func (s *script) Save(ctx context.Context, r memory.Record) error {
	s.saves++
	if s.saveErr != nil {
		return s.saveErr
	}
	return s.Store.Save(ctx, r)
}

func TestUpdate(t *testing.T) {
	t.Parallel()
	disk := errors.New("the disk is full")
	put := func(r *memory.Record) error { r.Put(memory.Task{ID: "t", At: april}); return nil }
	tests := []struct {
		name             string
		loadErr, saveErr error
		change           func(*memory.Record) error
		want             error
		loads, saves     int
	}{
		{name: "first", change: put, loads: 1, saves: 1},
		{name: "over a broken one", loadErr: fmt.Errorf("load: %w", memory.ErrBroken), change: put, loads: 1, saves: 1},
		{name: "of a newer one", loadErr: memory.ErrNewer, change: put, want: memory.ErrNewer, loads: 1},
		{name: "no medium", loadErr: disk, change: put, want: disk, loads: 1},
		{name: "change of mind", change: func(*memory.Record) error { return disk }, want: disk, loads: 1},
		{name: "full", saveErr: disk, change: put, want: disk, loads: 1, saves: 1},
		{name: "conflict for ever", saveErr: memory.ErrConflict, change: put, want: memory.ErrConflict, loads: 10, saves: 10},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := &script{Store: memory.New(), loadErr: tt.loadErr, saveErr: tt.saveErr}
			r, err := memory.Update(t.Context(), s, "org/repo", 42, tt.change)
			if !errors.Is(err, tt.want) || s.loads != tt.loads || s.saves != tt.saves {
				t.Errorf("got %v after %d loads and %d saves, want %v after %d and %d", err, s.loads, s.saves, tt.want, tt.loads, tt.saves)
			}
			if tt.want != nil {
				return
			}
			s.loadErr = nil
			stored, err := s.Load(t.Context(), "org/repo", 42)
			if diff := cmp.Diff(stored, r); diff != "" || err != nil {
				t.Errorf("returned is not what is stored: %v (-stored +returned):\n%s", err, diff)
			}
		})
	}
}
