package starter

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/cli/grants"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/triage"
)

// WorkflowPath is the workflow that is proposed.
const WorkflowPath = ".github/workflows/foreman.yml"

// baseWorkflow is the workflow for rules that listen to new and edited issues.
//
//go:embed workflow.yml
var baseWorkflow string

// The parts of baseWorkflow that depend on the rules, and on the release.
const (
	defaultAction = "org/foreman-action"

	baseAction   = "uses: " + defaultAction + "@"
	baseTypes    = "    types: [opened, edited, reopened]\n" + baseAnswer + "    types: [created, edited]\n" + baseSchedule + "    - cron: \"17 4 * * *\"\n"
	baseAnswer   = "  issue_comment: # commands such as /foreman why, and the answers to proposals\n"
	baseSchedule = "  schedule: # judges what people did after the decisions\n"
	baseIssues   = "  issues: read # with mode: apply in .github/foreman.yml, make this write\n"
	baseGroup    = "github.event.issue.number ||"
	baseQueue    = "  queue: max # keeps all queued runs; an Enterprise Server may not know this key\n"
)

// workflow returns the workflow that runs the rules of a configuration. It also starts at the times of crons, or
// once a day if there are none.
func workflow(cfg *config.Config, o Options, crons []string) []byte {
	w := triggers{crons: crons, types: map[string][]string{
		triage.EventIssues: {"opened", "edited", "reopened"}, triage.EventIssueComment: {"created", "edited"},
	}}
	for _, i := range rules.Infos(cfg.Rules) {
		for _, on := range i.On {
			w.add(on)
		}
	}
	text := strings.Replace(baseWorkflow, baseTypes, w.text(), 1)
	for _, need := range grants.Needs(cfg, false) {
		if !strings.HasPrefix(need, "pull-requests: ") {
			continue
		}
		why := "for look-ups of the rules"
		if slices.Contains(grants.Writes(cfg), "pull-requests: write") {
			why = "this too"
		}
		text = strings.Replace(text, baseIssues, fmt.Sprintf("%s  %s # %s\n", baseIssues, need, why), 1)
	}
	if _, pulls := w.types[triage.EventPullRequest]; pulls {
		text = strings.Replace(text, baseGroup, "github.event.issue.number || github.event.pull_request.number ||", 1)
	}
	if o.Action != "" {
		text = strings.Replace(text, baseAction, "uses: "+o.Action+"@", 1)
	}
	if o.Enterprise {
		text = strings.Replace(text, baseQueue, "", 1)
	}
	return []byte(text)
}

// crons returns the times that a workflow can repeat, each once.
func crons(times []string) []string {
	var list []string
	for _, c := range times {
		if isCron().MatchString(c) && !slices.Contains(list, c) {
			list = append(list, c)
		}
	}
	return list
}

var isCron = text.Regexp(`^[0-9A-Za-z*/, -]+$`)

// triggers are the events of a workflow with their activities.
type triggers struct {
	types map[string][]string // by event
	crons []string            // when schedule starts the workflow; empty: once a day
}

// add adds an event in the form of a rule's "on", such as issues.opened.
func (t *triggers) add(on string) {
	event, activity, _ := strings.Cut(on, ".")
	switch {
	case activity == "*":
		for _, known := range rules.Events() {
			if name, a, _ := strings.Cut(known, "."); name == event && a != "*" && a != "" {
				t.add(known)
			}
		}
	case slices.Contains([]string{triage.EventIssues, triage.EventPullRequest, triage.EventIssueComment}, event):
		if !slices.Contains(t.types[event], activity) {
			t.types[event] = append(t.types[event], activity)
		}
	}
}

// text returns the lines of the events, which begin below the key issues.
func (t triggers) text() string {
	var b strings.Builder
	types := func(event string) { fmt.Fprintf(&b, "    types: [%s]\n", strings.Join(t.types[event], ", ")) }
	types(triage.EventIssues)
	if t.types[triage.EventPullRequest] != nil {
		b.WriteString("  pull_request_target: # nothing of the pull request is checked out or run\n")
		types(triage.EventPullRequest)
	}
	b.WriteString(baseAnswer)
	types(triage.EventIssueComment)
	b.WriteString(baseSchedule)
	if len(t.crons) == 0 {
		t.crons = []string{"17 4 * * *"}
	}
	for _, c := range t.crons {
		fmt.Fprintf(&b, "    - cron: %q\n", c)
	}
	return b.String()
}
