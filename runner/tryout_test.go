package runner_test

import (
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

// supply makes a try-out of the options.
func supply(o options, names ...string) options {
	o.Host, o.DryRun, o.Live = runner.Host{}, true, false
	o.Supplied = facts.Supplied{Names: names}
	return o
}

// TestTryoutAgent checks why a try-out does not ask the agent, and that it does once all is known.
func TestTryoutAgent(t *testing.T) {
	t.Parallel()
	const guard = "rules:\n  - {id: guard, on: issues.opened, when: 'author.issues == 0', then: [{add_label: docs}]}\n"
	tests := []struct {
		name, config string
		supplied     []string
		asked        int
		unasked      string
		undecided    string // ids
	}{
		{"nothing is missing", guard, []string{"author.issues"}, 0, "rules fired: guard", ""},
		{"a rule is undecided", guard, nil, 0, "rules are undecided, and decide before the agent: guard", "guard"},
		{"agent.when is undecided", "agent: {url: 'http://agent', when: 'author.pulls == 0'}\n" + guard, nil, 0, "agent.when is undecided: author.pulls is not known here", "guard agent.when"},
		{"agent.when is false", "agent: {url: 'http://agent', when: 'author.pulls > 0'}\n", []string{"author"}, 0, "agent.when is false: author.pulls > 0", ""},
		{"agent.when is true", "agent: {url: 'http://agent', when: 'author.pulls == 0'}\n", []string{"author"}, 1, "", ""},
		{"no rule fired", strings.Replace(guard, "== 0", "> 0", 1), []string{"author"}, 1, "", ""},
		{"a rule stops", strings.Replace(guard, "on:", "stop: true, on:", 1), []string{"author"}, 0, "a rule with stop fired, or a rule escalated", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, e, o := world(t, tt.config)
			o, asked := supply(o, tt.supplied...), 0
			o.Agent.Agent = answers(&asked, protocol.Skip)
			rep, err := run(t, o, e)
			var ids []string
			for _, u := range rep.Undecided {
				ids = append(ids, u.ID)
			}
			if got := strings.Join(ids, " "); err != nil || asked != tt.asked || rep.Unasked != tt.unasked || got != tt.undecided {
				t.Errorf("got %v, asked %d times, unasked %q, undecided %s", err, asked, rep.Unasked, got)
			}
			if (rep.Status == runner.StatusIncomplete) != (tt.undecided != "") {
				t.Errorf("got the status %s", rep.Status)
			}
		})
	}
}

// TestTryoutPull checks that Supplied has the fields of a pull request, also for its own events, and that
// an issue has none.
func TestTryoutPull(t *testing.T) {
	t.Parallel()
	const rule = "rules:\n  - {id: small, on: [pull_request.opened, issues.opened], when: 'pr.additions < 10', then: [{add_label: docs}]}\n"
	_, issue, o := world(t, rule)
	for name, tt := range map[string]struct {
		e        triage.Delivery
		supplied []string
		status   runner.Status
	}{
		"an issue":          {issue, nil, runner.StatusDryRun},
		"not supplied":      {pullOpened(t, o.Clock.Now()), nil, runner.StatusIncomplete},
		"the whole is":      {pullOpened(t, o.Clock.Now()), []string{"pr"}, runner.StatusDryRun},
		"another field is":  {pullOpened(t, o.Clock.Now()), []string{"pr.deletions"}, runner.StatusIncomplete},
		"the same field is": {pullOpened(t, o.Clock.Now()), []string{"pr.additions"}, runner.StatusDryRun},
	} {
		if rep, err := run(t, supply(o, tt.supplied...), tt.e); err != nil || rep.Status != tt.status {
			t.Errorf("%s: got %v, %s", name, err, rep.Status)
		}
	}
}

// TestTryoutTimes checks that the times of the issue decide a comparison with the timeline.
func TestTryoutTimes(t *testing.T) {
	t.Parallel()
	_, e, o := world(t, "rules:\n  - {id: quiet, on: issues.opened, when: 'idle() > duration(\"1h\")', then: [{add_label: docs}]}\n")
	if rep, err := run(t, supply(o), e); err != nil || rep.Status != runner.StatusSkipped {
		t.Errorf("got %v, %s", err, rep.Status)
	}
	e.Issue.CreatedAt = e.Issue.CreatedAt.Add(-2 * time.Hour)
	if rep, err := run(t, supply(o), e); err != nil || rep.Status != runner.StatusIncomplete {
		t.Errorf("an older issue: got %v, %s", err, rep.Status)
	}
}

// TestTryoutNeedsDryRun checks that supplied values cannot lead to a write.
func TestTryoutNeedsDryRun(t *testing.T) {
	t.Parallel()
	_, _, o := world(t, "")
	o.Supplied = facts.Supplied{}
	if _, err := runner.New(o.Options); err == nil || !strings.Contains(err.Error(), "Options.DryRun is false") {
		t.Errorf("got %v", err)
	}
	o.Config.Mode = config.ModeShadow
	if _, err := runner.New(o.Options); err == nil {
		t.Error("shadow mode alone is enough")
	}
}
