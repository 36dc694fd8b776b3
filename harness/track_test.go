package harness_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/harness/observe"
	"github.com/org/foreman-action/memory"
)

// TestTrackRecords lets people answer what an agent did and proposed. The outcomes count at once in the record of the
// repository, although no agent and no rule takes the last event.
func TestTrackRecords(t *testing.T) {
	t.Parallel()
	propose(t, "policy: {automation: full_control}\n", func(p *proposing) {
		p.options.Agents[0].Name = "labeller"
		p.restart()
		tracks := func() string {
			r, err := p.options.Agenda.Load(t.Context(), repo, memory.Repository)
			if err != nil {
				return err.Error()
			}
			var list []string
			for _, o := range r.Outcomes.Pairs {
				list = append(list, fmt.Sprintf("%s %s %s accepted %d undone %d rejected %d", o.Source, o.Action, o.Value, o.Accepted, o.Undone, o.Rejected))
			}
			return strings.Join(list, "\n")
		}
		want := func(lines ...string) {
			t.Helper()
			if got := tracks(); got != strings.Join(lines, "\n") {
				t.Errorf("got\n%s\n%s", got, p.log)
			}
		}
		p.deliver("issues", "opened", "octocat", 7, nil)
		time.Sleep(time.Hour)
		p.tick("mona", 7, 1)
		want("agent:labeller add_label docs accepted 1 undone 0 rejected 0")
		p.say("mona", 7, "/foreman reject 2")
		want("agent:labeller add_label docs accepted 1 undone 0 rejected 0", "agent:labeller comment  accepted 0 undone 0 rejected 1")
		time.Sleep(time.Hour)
		for range 2 {
			p.gh.Repo(repo).UnlabelAs("mona", 7, "docs")
			if got := p.deliver("issues", "unlabeled", "mona", 7, map[string]any{"label": map[string]any{"name": "docs"}}); got.Task == "" {
				t.Errorf("no task: %s", got.Reason)
			}
			want("agent:labeller add_label docs accepted 0 undone 1 rejected 0", "agent:labeller comment  accepted 0 undone 0 rejected 1")
			p.gh.Repo(repo).LabelAs("mona", 7, "docs")
		}
		if got := p.deliver("issues", "labeled", "mona", 7, map[string]any{"label": map[string]any{"name": "docs"}}); got.Task != "" {
			t.Error("an event that undoes nothing has a task")
		}
	})
}

// TestPermissionLost lets the undoing of a label end the permission of an agent: the log and the metrics say so.
func TestPermissionLost(t *testing.T) {
	t.Parallel()
	propose(t, "policy: {automation: full}\n", func(p *proposing) {
		p.options.Agents[0].Name = "labeller"
		p.restart()
		p.deliver("issues", "opened", "octocat", 7, nil)
		_, err := memory.Update(t.Context(), p.options.Agenda, repo, memory.Repository, func(r *memory.Record) error {
			r.Outcomes = &memory.Outcomes{}
			for i := range 63 {
				res := memory.Result{Outcome: memory.OutcomeAccepted, Issue: 100 + i, Author: fmt.Sprint("author-", i), Acted: time.Now(), At: time.Now()}
				if i >= 60 {
					res.Outcome = memory.OutcomeRejected
				}
				r.Outcomes.Count(memory.PairKey{Source: "agent:labeller", Action: "add_label", Value: "docs"}, "", res, memory.Threshold{Bound: 0.85, Of: 20})
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		c := *p.options.Config
		c.Policy.Earned = true
		p.options.Config = &c
		var seen []observe.Observation
		p.options.Observe = func(o observe.Observation) {
			p.mu.Lock()
			defer p.mu.Unlock()
			if o.Event == observe.ActionsJudged || o.Event == observe.PermissionChanged {
				seen = append(seen, o)
			}
		}
		p.restart()
		time.Sleep(time.Hour)
		p.gh.Repo(repo).UnlabelAs("mona", 7, "docs")
		p.deliver("issues", "unlabeled", "mona", 7, map[string]any{"label": map[string]any{"name": "docs"}})
		const want = `level=WARN msg="permission lost: the action is proposed to people again" part=executor repo=octo/hello issue=7 source=agent:labeller rule="" action=add_label value=docs since=2000-01-01T02:00:00.000Z why="people undid or rejected 4 of the last 10"`
		if got := fmt.Sprint(p.log); !strings.Contains(got, want) {
			t.Errorf("got\n%s", got)
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		if diff := cmp.Diff([]observe.Observation{
			{Event: observe.ActionsJudged, Status: "undone", Repo: repo, N: 1}, {Event: observe.ActionsJudged, Status: "other", Repo: repo},
			{Event: observe.PermissionChanged, Status: "lost", Repo: repo, N: 1},
		}, seen); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}
