package sqlite

import (
	"slices"
	"testing"
	"time"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/triage"
)

// FuzzPublishedTask converts arbitrary rows. Each result can be stored, and only tasks with
// decodable messages are handed out.
func FuzzPublishedTask(f *testing.F) {
	f.Add("id", "http://a", "pending", []byte(`{"repo":"o/r","payload":{"number":1}}`), []byte(nil))
	f.Add("id", "HTTP://A:80/task", "completed", []byte(`{"repo":"o/r","payload":{"issue":{"number":1}}}`),
		[]byte(`{"task_id":"id","decision":"skip","rationale":"","actions":[]}`))
	f.Add("", "\xff", "done", []byte("{"), []byte(`{"decision":"skip"}`))
	f.Fuzz(func(t *testing.T, id, agent, status string, payload, result []byte) {
		k := convert(publishedTask{id: id, agent: agent, status: status, payload: payload, result: result})
		for _, text := range []string{k.id, k.agent, k.repo, k.reason} {
			if !queue.IsText(text) {
				t.Errorf("%q is no text", text)
			}
		}
		if k.id == "" || (k.state == isFailed) != (k.reason != "") {
			t.Errorf("got %+v", k)
		}
		alive := slices.Contains([]int64{isPending, isClaimed, isCompleted}, k.state)
		if alive && (!queue.Decodable(payload) || k.issue < 1 || k.repo == "" || k.id != id) {
			t.Errorf("got %+v from %q", k, payload)
		}
	})
}

// FuzzPublishedMemory converts records of any form.
func FuzzPublishedMemory(f *testing.F) {
	f.Add(`[{"type":"comment","body":"Hi"},{"type":"close_issue"}]`, "decision=skip; rationale=why", "2026-04-10 08:00:00")
	f.Add(`[1, {"type":"x"}]`, "", "yesterday")
	f.Fuzz(func(t *testing.T, actions, summary, at string) {
		list := logged(actions)
		for _, a := range list {
			if a.Result == triage.Done {
				t.Errorf("%+v counts as done", a)
			}
		}
		carryOut(list)
		decision, rationale := summarized(summary)
		if decision == "" && rationale != summary && len(summary) > len("decision=; rationale=")+len(rationale) {
			t.Errorf("%q became %q and %q", summary, decision, rationale)
		}
		r := memory.Record{Repo: "o/r", Issue: 1}
		r.Put(memory.Task{ID: "x", At: timeOf(at, time.Time{}), Rationale: rationale, Actions: list})
		r.Revision = 1
		if _, err := memory.Encode(r); err != nil {
			t.Error(err)
		}
	})
}
