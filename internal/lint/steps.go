package lint

import (
	"maps"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/rules"
)

// steps warns of the steps that run the rules: of inputs that do not exist, and of permissions that
// do not suffice to write.
func (c *checker) steps(runs []Run) {
	infos := rules.Infos(c.config.Rules)
	for _, run := range runs {
		for _, name := range slices.Sorted(maps.Keys(run.given)) {
			if c.repo.Inputs != nil && !slices.Contains(c.repo.Inputs, strings.ToLower(name)) {
				c.warn(run.given[name], "the step has no input %s%s; it is ignored", cut(name), yamlfile.DidYouMean(name, c.repo.Inputs))
			}
		}
		if !run.selects && !run.dry() {
			c.denied(run, infos)
		}
	}
}

// denied warns of a step whose token cannot write what the rules decide on the events that start it. The
// step has no condition that may leave out some of them.
func (c *checker) denied(run Run, infos []rules.Info) {
	var needs []string
	for _, i := range infos {
		if !(ruleRuns{checker: c, info: i}).writes() {
			continue
		}
		for _, on := range i.On {
			if !run.startedBy(on) {
				continue
			}
			for _, need := range writesOn(on, i) {
				if run.lacks(need) && !slices.Contains(needs, need) {
					needs = append(needs, need)
				}
			}
		}
	}
	slices.Sort(needs)
	if len(needs) > 0 {
		c.warn(run.place, "the job %s runs rules that write, and its token may not: add %q to its permissions, or set mode: shadow", cut(run.Job), strings.Join(needs, ", "))
	}
}

// writesOn lists the permissions that a rule needs to write on an event. Only the events of issues and of
// pull requests are always of one kind. On schedule, the searches of the rule decide.
func writesOn(on string, rule rules.Info) []string {
	issues, pulls := true, rule.Pulls
	switch event, _, _ := strings.Cut(on, "."); event {
	case "pull_request":
		issues, pulls = false, true
	case "issues":
		pulls = false
	case "schedule":
		pulls = pulls && slices.ContainsFunc(rule.Scans, text.FindsPulls)
		issues = !pulls || slices.ContainsFunc(rule.Scans, func(query string) bool {
			return !text.FindsPulls(query) || strings.Contains(query, " OR ")
		})
	}
	var needs []string
	if issues {
		needs = append(needs, "issues: write")
	}
	if pulls {
		needs = append(needs, "pull-requests: write")
	}
	return needs
}
