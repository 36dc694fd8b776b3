package lint

import (
	"maps"
	"slices"
	"strings"

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
		if (ruleRuns{checker: c}).writes() && !run.dry() {
			c.denied(run, infos)
		}
	}
}

// denied warns of a step whose token cannot write what the rules decide. For a pull request, either
// of two permissions suffices.
func (c *checker) denied(run Run, infos []rules.Info) {
	const issues, pulls = "issues: write", "pull-requests: write"
	var needs []string
	for _, i := range infos {
		if !slices.ContainsFunc(i.On, run.startedBy) || !run.lacks(issues) {
			continue
		}
		need := issues
		if !slices.ContainsFunc(i.On, func(on string) bool { return !strings.HasPrefix(on, "pull_request.") }) {
			need = pulls
		}
		if run.lacks(need) && !slices.Contains(needs, need) {
			needs = append(needs, need)
		}
	}
	if len(needs) > 0 {
		c.warn(run.place, "the job %s runs rules that write, and its token may not: add %q to its permissions, or set mode: shadow", cut(run.Job), strings.Join(needs, ", "))
	}
}
