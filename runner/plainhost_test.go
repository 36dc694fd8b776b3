package runner_test

import (
	"context"
	"strings"
	"testing"

	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/runner/hosttest"
	"github.com/org/foreman-action/runner/unimplemented"
	"github.com/org/foreman-action/triage"
)

// A plainHost has issues and labels, and nothing else.
type plainHost struct {
	runner.Issues
	unimplemented.Repository
	unimplemented.Search

	labels runner.Repository
}

func (h plainHost) Label(ctx context.Context, ref triage.Ref, name string) (string, error) {
	return h.labels.Label(ctx, ref, name)
}

// TestPlainHost checks that a host needs only the methods that the rules use, and that the report
// of a run names a missing method.
func TestPlainHost(t *testing.T) {
	t.Parallel()
	const rules = "rules:\n  - {id: a, on: issues.opened, then: [{add_labels: [docs, triage]}]}\n"
	for src, want := range map[string]string{
		rules: "",
		rules + "  - {id: b, on: issues.opened, when: 'actor.permission == \"admin\"', then: [lock]}\n": "Repository.Permission",
	} {
		_, e, o := world(t, src)
		host := hosttest.New(hosttest.Repo{Owner: e.Repo.Owner, Name: e.Repo.Name, Labels: []string{"docs", "triage"}, Issues: []hosttest.Issue{{Issue: *e.Issue}}}).Host("")
		o.Host = runner.HostOf(plainHost{Issues: host.Issues, labels: host.Repository})
		rep, err := run(t, o, e)
		if (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) || rep.Executed != 1 {
			t.Errorf("%q: got %v, executed %d; want one action, and an error that names %q", src, err, rep.Executed, want)
		}
	}
}
