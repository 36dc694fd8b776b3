package importer_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/importer"
	"github.com/org/foreman-action/internal/othertools"
	"github.com/org/foreman-action/internal/ruleset"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/triage"
)

var now = time.Date(2026, 6, 30, 0, 0, 0, 0, time.UTC)

func ago(days int) time.Time { return now.AddDate(0, 0, -days) }

// decide imports a file and evaluates its rules for an event. It returns the rules that fire.
func decide(t *testing.T, tool, src string, f facts.Facts) string {
	t.Helper()
	return strings.Join(decision(t, othertools.Request{Tool: tool, File: othertools.Source{Name: "in.yml", Data: []byte(src)}}, f).Fired, " ")
}

// added imports a file, evaluates its rules for an event and returns the labels that they add.
func added(t *testing.T, r othertools.Request, f facts.Facts) string {
	t.Helper()
	var labels []string
	for _, a := range decision(t, r, f).Message.Actions {
		list, _, err := a.Texts("labels")
		one, _, errOne := a.Text("label")
		if err != nil || errOne != nil {
			t.Fatal(err, errOne)
		}
		if one != "" {
			list = append(list, one)
		}
		labels = append(labels, list...)
	}
	return strings.Join(labels, " ")
}

func decision(t *testing.T, request othertools.Request, f facts.Facts) rules.Result {
	t.Helper()
	res, err := importer.Import(request)
	if err != nil {
		t.Fatal(err)
	}
	c, err := config.Parse("imported.yml", res.Config, nil)
	if err != nil {
		t.Fatal(err)
	}
	f.Now, f.Issue.Number = now, 7
	r, err := c.Rules.Decide(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

const staleInput = "days-before-stale: 60\ndays-before-close: 7\nexempt-issue-labels: pinned\nstale-issue-label: stale\n" +
	"close-issue-label: closed\ndays-before-pr-stale: -1\ndays-before-pr-close: -1\n"

// TestStale: the rules mark idle issues, close those that stay idle, and skip active ones.
func TestStale(t *testing.T) {
	t.Parallel()
	const unmarked, marked = "is:open is:issue -label:stale", "is:open is:issue label:stale"
	labeled := func(days int) facts.Change {
		return facts.Change{Kind: "labeled", Label: "stale", At: ago(days), Ours: true}
	}
	comment := func(days int) facts.Change {
		return facts.Change{Kind: "commented", At: ago(days), Human: true, Login: "ann"}
	}
	tests := []struct {
		name   string
		scan   string
		labels []string
		past   []facts.Change
		want   string
	}{
		{"idle for long", unmarked, nil, []facts.Change{comment(61)}, "stale-issues"},
		{"idle, but not long", unmarked, nil, []facts.Change{comment(59)}, ""},
		{"a program counts, as in the source", unmarked, nil, []facts.Change{{Kind: "commented", At: ago(1)}}, ""},
		{"exempt", unmarked, []string{"pinned"}, []facts.Change{comment(80)}, ""},
		{"marked for long", marked, []string{"stale"}, []facts.Change{comment(80), labeled(8)}, "close-stale-issues"},
		{"marked, but not long", marked, []string{"stale"}, []facts.Change{comment(80), labeled(6)}, ""},
		{"answered since", marked, []string{"stale"}, []facts.Change{labeled(20), comment(10)}, "no-longer-stale-issues"},
		{"assigned since", marked, []string{"stale"}, []facts.Change{labeled(20), {Kind: "assigned", At: ago(1), Human: true}}, "no-longer-stale-issues"},
		{"a program did something since", marked, []string{"stale"}, []facts.Change{comment(80), labeled(20), {Kind: "labeled", At: ago(10), Label: "x"}}, "no-longer-stale-issues"},
		{"marked by a person", marked, []string{"stale"}, []facts.Change{{Kind: "labeled", Label: "stale", At: ago(8), Human: true}}, "close-stale-issues"},
		{"marked by a person, with another label", marked, []string{"stale"}, []facts.Change{
			{Kind: "labeled", Label: "stale", At: ago(8), Human: true}, {Kind: "labeled", Label: "x", At: ago(8).Add(2 * time.Second), Human: true},
		}, "close-stale-issues"},
		{"open with the label of closed ones", "is:open is:issue label:closed", []string{"closed"}, nil, "reopened-issues"},
		{"marked and exempt", marked, []string{"stale", "Pinned"}, []facts.Change{comment(80), labeled(8)}, ""},
		{"marked, exempt and answered", marked, []string{"stale", "Pinned"}, []facts.Change{labeled(8), comment(1)}, ""},
		{"marked before, and again now", unmarked, nil, []facts.Change{labeled(200), comment(100)}, "stale-issues"},
	}
	for _, tt := range tests {
		f := facts.Facts{Event: triage.Event{Name: "schedule"}, Scans: []string{tt.scan}, Lookup: facts.Known{History: facts.Timeline{Changes: tt.past}}}
		f.Issue = triage.Issue{State: "open", CreatedAt: ago(300), UpdatedAt: lastChange(tt.past), Labels: tt.labels, URL: "https://github.com/o/r/issues/7"}
		if got := decide(t, "stale", staleInput, f); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

// lastChange returns when an issue that is 300 days old was last changed.
func lastChange(past []facts.Change) time.Time {
	last := ago(300)
	for _, c := range past {
		if c.At.After(last) {
			last = c.At
		}
	}
	return last
}

// TestStaleVersions checks the differences between the versions of actions/stale.
func TestStaleVersions(t *testing.T) {
	t.Parallel()
	const workflow = "on: {schedule: [{cron: '0 0 * * *'}]}\njobs: {stale: {steps: [{uses: actions/stale@VERSION, with: {" +
		"stale-issue-label: stale, exempt-issue-labels: pinned, stale-issue-message: Stale., days-before-pr-stale: -1, days-before-pr-close: -1MORE}}]}}\n"
	tests := []struct {
		name, version, more string
		labels              []string
		want                string // the rules that fire, and the reason
	}{
		{"its own reason", "v9", "", []string{"stale"}, "close-stale-issues not_planned"},
		{"from version 6 on", "v6", "", []string{"stale"}, "close-stale-issues not_planned"},
		{"GitHub's reason", "v5", "", []string{"stale"}, "close-stale-issues completed"},
		{"GitHub's reason, in version 3", "v3.0.19", "", []string{"stale"}, "close-stale-issues completed"},
		{"a reason that version 5 has", "v5", ", close-issue-reason: not_planned", []string{"stale"}, "close-stale-issues not_planned"},
		{"a reason that version 4 lacks", "v4", ", close-issue-reason: not_planned", []string{"stale"}, "close-stale-issues completed"},
		{"exempt", "v7", "", []string{"stale", "pinned"}, ""},
		{"the exempt label is the stronger", "v6", "", []string{"stale", "pinned"}, "no-longer-stale-issues"},
		{"also when the label stays", "v6", ", remove-stale-when-updated: false", []string{"stale", "pinned"}, "no-longer-stale-issues"},
	}
	for _, tt := range tests {
		past := []facts.Change{{Kind: "labeled", Label: "stale", At: ago(20), Ours: true}}
		f := facts.Facts{Event: triage.Event{Name: "schedule"}, Lookup: facts.Known{History: facts.Timeline{Changes: past}}}
		f.Issue = triage.Issue{State: "open", CreatedAt: ago(300), UpdatedAt: ago(20), Labels: tt.labels}
		src := strings.NewReplacer("VERSION", tt.version, "MORE", tt.more).Replace(workflow)
		d := decision(t, othertools.Request{Tool: "stale", File: othertools.Source{Name: ".github/workflows/stale.yml", Data: []byte(src)}}, f)
		got := d.Fired
		for _, a := range d.Message.Actions {
			if reason, _, _ := a.Text("reason"); reason != "" {
				got = append(got, reason)
			}
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestStaleActivity checks that a change of the issue removes the label at once.
func TestStaleActivity(t *testing.T) {
	t.Parallel()
	both := strings.ReplaceAll(staleInput, "-1", "60") + "stale-pr-label: stale\n"
	same := "days-before-stale: 60\nstale-pr-label: stale\nstale-issue-label: stale\n"
	tests := []struct {
		name, input, key, actor string
		pull                    bool
		label, added, want      string
	}{
		{"a comment", staleInput, "issue_comment.created", "User", false, "stale", "", "no-longer-stale-issues"},
		{"a program's comment", staleInput, "issue_comment.created", "Bot", false, "stale", "", "no-longer-stale-issues"},
		{"on a pull request", staleInput, "issue_comment.created", "User", true, "stale", "", ""},
		{"not marked", staleInput, "issue_comment.created", "User", false, "bug", "", ""},
		{"opened again", staleInput, "issues.reopened", "User", false, "closed", "", "reopened-issues"},
		{"edited", staleInput, "issues.edited", "User", false, "stale", "", "no-longer-stale-issues"},
		{"assigned", staleInput, "issues.assigned", "User", false, "stale", "", "no-longer-stale-issues"},
		{"another label", staleInput, "issues.labeled", "User", false, "stale", "bug", "no-longer-stale-issues"},
		{"the label itself", staleInput, "issues.labeled", "User", false, "stale", "stale", ""},
		{"a comment on a pull request", both, "issue_comment.created", "User", true, "stale", "", "no-longer-stale-prs"},
		{"a push", both, "pull_request.synchronize", "User", true, "stale", "", "no-longer-stale-prs"},
		{"a review asked for", both, "pull_request.review_requested", "User", true, "stale", "", "no-longer-stale-prs"},
		{"a program's push", both, "pull_request.synchronize", "Bot", true, "stale", "", "no-longer-stale-prs"},
		{"one rule for both, issue", same, "issue_comment.created", "User", false, "stale", "", "no-longer-stale"},
		{"one rule for both, pull request", same, "pull_request.edited", "User", true, "stale", "", "no-longer-stale"},
	}
	for _, tt := range tests {
		event, action, _ := strings.Cut(tt.key, ".")
		since := ago(9)
		if tt.added == "stale" {
			since = now
		}
		f := facts.Facts{
			Event: triage.Event{Name: event, Action: action, Label: tt.added}, Actor: triage.Actor{Login: "ann", Type: tt.actor},
			Lookup: facts.Known{History: facts.Timeline{Changes: []facts.Change{{Kind: "labeled", Label: tt.label, At: since, Ours: true}}}},
		}
		f.Issue = triage.Issue{State: "open", CreatedAt: ago(90), UpdatedAt: now, Labels: []string{tt.label}, PullRequest: tt.pull}
		if got := decide(t, "stale", tt.input, f); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
		if f.Issue.State = "closed"; tt.key != "issues.reopened" && decide(t, "stale", tt.input, f) != "" {
			t.Errorf("%s: something is done when it is closed", tt.name)
		}
	}
}

// TestStalePulls checks that pull requests become stale like issues, with their own exemptions.
func TestStalePulls(t *testing.T) {
	t.Parallel()
	const input = "days-before-stale: 60\ndays-before-pr-stale: 30\ndays-before-pr-close: 5\nexempt-draft-pr: true\nexempt-pr-labels: keep, wip\n" +
		"stale-pr-label: stale\nclose-pr-label: rotten\nexempt-pr-milestones: V1\nexempt-pr-assignees: ann\nonly-pr-labels: ours\nany-of-pr-labels: a,b\n" +
		"start-date: 2020-01-01\nignore-issue-updates: true\nremove-pr-stale-when-updated: true\ninclude-only-assigned: true\n"
	const unmarked, marked = "is:open is:pr -label:stale label:ours", "is:open is:pr label:stale label:ours"
	since := func(days int) []facts.Change { return []facts.Change{{Kind: "reviewed", At: ago(days), Human: true}} }
	base := triage.Issue{State: "open", CreatedAt: ago(300), PullRequest: true, Labels: []string{"ours", "a"}, Assignees: []string{"bob"}}
	stale := append(since(50), facts.Change{Kind: "labeled", Label: "stale", At: ago(6), Ours: true})
	tests := []struct {
		name, scan string
		change     func(*triage.Issue)
		past       []facts.Change
		want       string
	}{
		{"idle", unmarked, func(*triage.Issue) {}, since(31), "stale-prs"},
		{"not idle", unmarked, func(*triage.Issue) {}, since(29), ""},
		{"a person asks about it", "", func(*triage.Issue) {}, since(31), "stale-prs"},
		{"a person asks about an issue", "", func(i *triage.Issue) { i.PullRequest, i.CreatedAt = false, ago(59) }, since(31), ""},
		{"a draft", unmarked, func(i *triage.Issue) { i.Draft = true }, since(31), ""},
		{"exempt", unmarked, func(i *triage.Issue) { i.Labels = append(i.Labels, "WIP") }, since(31), ""},
		{"its milestone", unmarked, func(i *triage.Issue) { i.Milestone = "v1" }, since(31), ""},
		{"its assignee", unmarked, func(i *triage.Issue) { i.Assignees = []string{"Ann"} }, since(31), ""},
		{"no assignee", unmarked, func(i *triage.Issue) { i.Assignees = nil }, since(31), ""},
		{"none of the labels", unmarked, func(i *triage.Issue) { i.Labels = []string{"ours"} }, since(31), ""},
		{"too old", unmarked, func(i *triage.Issue) { i.CreatedAt = ago(9000) }, since(31), ""},
		{"locked", unmarked, func(i *triage.Issue) { i.Locked = true }, since(31), ""},
		{"stale for long", marked, func(i *triage.Issue) { i.Labels = append(i.Labels, "stale") }, stale, "close-stale-prs"},
		{"reviewed since", marked, func(i *triage.Issue) { i.Labels = append(i.Labels, "stale") }, append(stale, since(1)...), "no-longer-stale-prs"},
		{"pushed since", marked, func(i *triage.Issue) { i.Labels = append(i.Labels, "stale") }, append(stale, facts.Change{Kind: "committed", At: ago(1), Human: true}), "no-longer-stale-prs"},
		{"open again", "is:open is:pr label:rotten label:ours", func(i *triage.Issue) { i.Labels = append(i.Labels, "rotten") }, nil, "reopened-prs"},
	}
	for _, tt := range tests {
		f := facts.Facts{Event: triage.Event{Name: "schedule"}, Lookup: facts.Known{History: facts.Timeline{Changes: tt.past}}}
		if tt.scan != "" {
			f.Scans = []string{tt.scan}
		}
		f.Issue = base
		f.Issue.Labels = slices.Clone(base.Labels)
		f.Issue.UpdatedAt = lastChange(tt.past)
		tt.change(&f.Issue)
		if got := decide(t, "stale", input, f); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestStaleAgainstPeople checks that the rules remove labels that people have added, as
// actions/stale does.
func TestStaleAgainstPeople(t *testing.T) {
	t.Parallel()
	res, err := importer.Import(othertools.Request{Tool: "stale", File: othertools.Source{Name: "in.yml", Data: []byte(staleInput)}})
	if err != nil {
		t.Fatal(err)
	}
	c, err := config.Parse("imported.yml", res.Config, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range c.Rules.IDs() {
		if !(*ruleset.Set)(c.Rules).Rules().OverridesHumans(id) {
			t.Errorf("the rule %s leaves alone what people did", id)
		}
	}
}

// TestLabeler checks that the globs match the same files as in actions/labeler.
func TestLabeler(t *testing.T) {
	t.Parallel()
	src := `
root: [{changed-files: [{any-glob-to-any-file: '*'}]}]
md: [{changed-files: [{any-glob-to-any-file: '**/*.md'}]}]
only-docs: [{changed-files: [{any-glob-to-all-files: ['docs/**', '**/*.md']}]}]
every: [{changed-files: [{all-globs-to-all-files: ['docs/**', '!**/*.png']}]}]
source: [{all: [{changed-files: [{any-glob-to-any-file: 'src/**/*'}, {all-globs-to-all-files: '!src/docs/*'}]}]}]
feature: [{head-branch: ['^feat(ure)?/']}]
large: [{changed-files: [{any-glob-to-any-file: 'big/**'}]}, {base-branch: main}]
`
	tests := []struct {
		files []string
		head  string
		want  string
	}{
		{[]string{"README.md"}, "x", "root md only-docs"},
		{[]string{"docs/a.txt", "docs/b/c.md"}, "x", "md only-docs every"},
		{[]string{"docs/a.png"}, "x", "only-docs"},
		{[]string{"docs/a.txt", "x/README.md"}, "x", "md"},
		{[]string{"src/a/b.go", "src/c.go"}, "feature/x", "source feature"},
		{[]string{"src/a/b.go", "src/docs/c.go"}, "feat/y", "feature"},
		{[]string{".github/workflows/x.yml"}, "main", "large"},
		{[]string{".gitignore"}, "x", "root"},
		{[]string{"big/x"}, "x", "large"},
		{nil, "x", ""},
	}
	for _, tt := range tests {
		f := facts.Facts{Event: triage.Event{Name: "pull_request", Action: "opened"}, Lookup: facts.Known{Changed: tt.files}}
		f.Issue.PullRequest, f.Pull = true, &triage.PullRequest{Head: tt.head, Base: tt.head, ChangedFiles: len(tt.files)}
		if got := added(t, othertools.Request{Tool: "labeler", File: othertools.Source{Name: "in.yml", Data: []byte(src)}}, f); got != tt.want {
			t.Errorf("%q on %s: got %q, want %q", tt.files, tt.head, got, tt.want)
		}
	}
}

// TestLabelerHidden checks names that begin with a dot. Before version 5, and without the input
// "dot", a star does not match them. One file may match several globs.
func TestLabelerHidden(t *testing.T) {
	t.Parallel()
	const src = `
any-yml: ['**/*.yml']
github: ['.github/**']
hidden: ['.*']
one: [{any: ['src/**', '!src/docs/*']}]
all: [{all: ['src/**']}]
not-src: ['!src/**']
star: ['*/.cache/*']
`
	workflow := func(version, with string) othertools.Source {
		return othertools.Source{Name: ".github/workflows/l.yml", Data: []byte(
			"on: {pull_request: {}}\njobs: {l: {steps: [{uses: actions/labeler@" + version + ", with: {sync-labels: ''" + with + "}}]}}\n")}
	}
	tests := []struct {
		files []string
		v4    string
		dots  string // labels that are added with dot: true
	}{
		{[]string{".github/a.yml"}, "github not-src", "any-yml github not-src"},
		{[]string{".github/.a.yml"}, "not-src", "any-yml github not-src"},
		{[]string{"a/b.yml"}, "any-yml not-src", "any-yml not-src"},
		{[]string{".gitignore"}, "hidden not-src", "hidden not-src"},
		{[]string{"src/a/b"}, "one all", "one all"},
		{[]string{"src/.a", "src/b"}, "one not-src", "one all"},
		{[]string{"src/.a"}, "not-src", "one all"},
		{[]string{"src/docs/a"}, "all", "all"},
		{[]string{"src/docs/.a"}, "not-src", "all"},
		{[]string{"src/docs/a", "src/b"}, "one all", "one all"},
		{[]string{"a/.cache/b"}, "not-src", "star not-src"},
	}
	for _, tt := range tests {
		f := facts.Facts{Event: triage.Event{Name: "pull_request", Action: "opened"}, Lookup: facts.Known{Changed: tt.files}}
		f.Issue.PullRequest, f.Pull = true, &triage.PullRequest{ChangedFiles: len(tt.files)}
		for with, want := range map[string]string{"": tt.v4, ", dot: true": tt.dots} {
			r := othertools.Request{Tool: "labeler", File: othertools.Source{Name: ".github/labeler.yml", Data: []byte(src)}, Workflow: workflow("v4", with)}
			got := strings.Fields(added(t, r, f))
			if slices.Sort(got); strings.Join(got, " ") != strings.Join(slices.Sorted(slices.Values(strings.Fields(want))), " ") {
				t.Errorf("%q with %q: got %q, want %q", tt.files, with, got, want)
			}
		}
	}
}

// TestComment checks that a comment is posted unchanged even if it contains template syntax, and
// that the placeholder of the author is replaced by the author's login.
func TestComment(t *testing.T) {
	t.Parallel()
	res, err := importer.Import(othertools.Request{Tool: "label-actions", File: othertools.Source{Name: "in.yml", Data: []byte("bug: {comment: '{{ x }} {{{ ${{ y }} @{issue-author}: \"`'}")}})
	if err != nil {
		t.Fatal(err)
	}
	c, err := config.Parse("imported.yml", res.Config, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.Rules.Decide(t.Context(), facts.Facts{
		Issue: triage.Issue{Number: 7, Author: "octocat"},
		Event: triage.Event{Name: "issues", Action: "labeled", Label: "bug"},
		Actor: triage.Actor{Type: "User"},
	})
	if err != nil || len(r.Message.Actions) != 1 {
		t.Fatalf("%v: %v", err, r.Message.Actions)
	}
	body, _, err := r.Message.Actions[0].Text("body")
	if diff := cmp.Diff("{{ x }} {{{ ${{ y }} @octocat: \"`", body); err != nil || diff != "" {
		t.Errorf("(-want +got): %v\n%s", err, diff)
	}
}

// TestHostile imports files that were made to take much time or memory. Each must be imported or
// refused quickly.
func TestHostile(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 100_000)
	aliases := func(item, alias string, n int) string { return item + strings.Repeat(alias, n) }
	tests := map[string][2]string{
		"deep":            {"labeler", strings.Repeat("[", 5000)},
		"many labels":     {"issue-labeler", numbered("l%d: x\n", 20_000)},
		"long alias":      {"label-actions", "a: {comment: &c " + long + "}\n" + numbered("b%d: {comment: *c}\n", 5000)},
		"comments":        {"label-actions", "a:\n  comment:\n" + aliases("  - &c "+long[:50_000]+"\n", "  - *c\n", 20_000)},
		"patterns":        {"issue-labeler", "a:\n" + aliases("- &c "+long[:2900]+"\n", "- *c\n", 100_000)},
		"bad patterns":    {"issue-labeler", "a: &c '" + long[:2900] + "(?=x)'\n" + numbered("b%d: *c\n", 40_000)},
		"globs":           {"labeler", "a:\n" + aliases("- &c '{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}'\n", "- *c\n", 100_000)},
		"glob lists":      {"labeler", "a: &c\n" + strings.Repeat("- '{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}'\n", 1000) + numbered("b%d: *c\n", 150)},
		"branches":        {"labeler", "a:\n- head-branch:\n" + aliases("  - &c "+long[:2900]+"\n", "  - *c\n", 50_000)},
		"steps":           {"stale", "jobs:\n" + numbered("  j%d: {steps: [{uses: actions/stale@v9}]}\n", 10_000)},
		"words":           {"stale", "days-before-stale: 1\nexempt-issue-labels: '" + strings.Repeat("a,", 25_000) + "'\n"},
		"laughs":          {"stale", "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: [*e,*e,*e,*e,*e,*e,*e,*e,*e]\n"},
		"one long line":   {"labeler", "a: [" + strings.Repeat("'/x', ", 100_000) + "]"},
		"too large":       {"labeler", strings.Repeat("#", 2<<20)},
		"not UTF-8":       {"labeler", "a: \xff"},
		"alias in itself": {"labeler", "a: &a [*a]"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			checkImport(t, othertools.Request{Tool: tt[0], File: othertools.Source{Name: "in.yml", Data: []byte(tt[1])}})
			t.Log(time.Since(start))
		})
	}
}

// numbered repeats a line with the numbers from 0.
func numbered(line string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, line, i)
	}
	return b.String()
}
