package dashboard

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/trackrecord"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/policy"
	"github.com/org/foreman-action/queue"
)

// outcomes returns outcomes of pairs: a text of k, u, a, r, e and - for each source, action and value.
func outcomes(pairs ...[4]string) *memory.Outcomes {
	o := &memory.Outcomes{Judged: noon().AddDate(0, 0, -14)}
	n := 0
	for _, p := range pairs {
		for _, c := range p[3] {
			n++
			at := noon().AddDate(0, 0, -10).Add(time.Duration(n) * time.Minute)
			o.Count(memory.PairKey{Source: p[0], Action: "add_label", Value: p[2]}, p[1], memory.Result{
				Outcome: map[rune]memory.Outcome{'k': memory.OutcomeKept, 'u': memory.OutcomeUndone, 'a': memory.OutcomeAccepted, 'r': memory.OutcomeRejected, 'e': memory.OutcomeExpired, '-': memory.OutcomeUnjudged}[c],
				Issue:   n, Author: fmt.Sprint(n), Acted: at, At: at,
			}, memory.Threshold{Bound: 0.85, Of: 20})
		}
	}
	return o
}

// planned returns outcomes of an action that shadow mode planned.
func planned(source, name, value, letters string) *memory.Outcomes {
	o := &memory.Outcomes{}
	for n, c := range letters {
		at := noon().Add(time.Duration(n) * time.Minute)
		out := memory.OutcomeKept
		if c == 'u' {
			out = memory.OutcomeUndone
		}
		o.Count(memory.PairKey{Source: source, Action: "add_label", Value: value}, name, memory.Result{
			Outcome: out, Shadow: true, Issue: n + 1, Author: fmt.Sprint(n), Acted: at, At: at,
		}, memory.Threshold{Bound: 0.85, Of: 20})
	}
	return o
}

// TestTrackRecordShadow shows what became of actions that were only planned.
func TestTrackRecordShadow(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ letters, want string }{
		{strings.Repeat("k", 30), `<span class="state done">ready</span></td>
<td role="cell" class="number" data-label="right: ">30 of 30</td>`},
		{"kku", `<td role="cell" class="said">–</td>
<td role="cell" class="number" data-label="right: ">2 of 3</td>`},
	} {
		d := serve(t, Options{Queue: &still{}, TrackRecord: tracked(planned("rule:00ff", "crash</td><script>", "bug", tt.letters), policy.Policy{}), Repos: []string{"o/r"}})
		page := between(text(t, call{path: "/track-record"}.do(t, d)), "<main", "</main>")
		if !strings.Contains(page, tt.want) || strings.Count(page, "<table") != 1 || !strings.Contains(page, "<h2>Shadow mode</h2>") || strings.Contains(page, "<script") {
			t.Errorf("%s: got\n%s", tt.letters, page)
		}
	}
}

// tracked returns a function for Options.TrackRecord that reports outcomes.
func tracked(o *memory.Outcomes, p policy.Policy) func(context.Context, string) (trackrecord.Report, error) {
	return func(_ context.Context, repo string) (trackrecord.Report, error) {
		if repo == "o/broken" {
			return trackrecord.Report{}, queue.ErrUnavailable
		}
		return trackrecord.New(o, trackrecord.Options{
			Repo: repo, Memory: "server", Web: "https://github.com", Now: noon(), Policy: p, Waiting: &trackrecord.Waiting{Due: 1, Later: 7, Proposals: 2},
		}), nil
	}
}

// TestTrackRecord shows a rule that earned its permission, one that lost it, one that is trusted, and an agent.
func TestTrackRecord(t *testing.T) {
	t.Parallel()
	o := outcomes(
		[4]string{"rule:00000000000000aa", "crash", "bug", "kkkkkkkkkkkkkaakakkkk-e"},
		[4]string{"rule:00000000000000bb", "stale", "wontfix", "kkkkkkkkkkkkkkkkkkkkkkkkkkuukukuk"},
		[4]string{"rule:00000000000000cc", "docs", "docs", "kr"},
		[4]string{"agent:triage@1.2", "", "needs info", "kkr"},
	)
	earned := policy.Policy{Earned: true, Earn: policy.Earn{Trust: []string{"docs"}, Distrust: []string{"agent:triage"}}}
	d := serve(t, Options{Queue: &still{}, TrackRecord: tracked(o, earned), Repos: []string{"o/r", "o/other", "o/broken"}, Operators: ada})
	page := text(t, call{path: "/track-record?repo=O/R", auth: true}.do(t, d))
	golden(t, "testdata/record.html", body(page))
	for _, tt := range []struct {
		path   string
		status int
		want   string
	}{
		{"/track-record", 200, "<h1>Track record of o/r</h1>"},
		{"/track-record?repo=o/other", 200, `<a href="/track-record?repo=o%2Fother" aria-current="page">o/other</a>`},
		{"/track-record?repo=o/none", 404, "There is no such repository in the configuration."},
		{"/track-record?repo=%22%3E%3Cscript%3E", 404, "There is no such repository in the configuration."},
		{"/track-record?repo=o/broken", 503, "cannot be read or written now"},
		{"/", 200, `<a href="/track-record">Track record</a>`},
	} {
		r := call{path: tt.path, auth: true}.do(t, d)
		if page := text(t, r); r.StatusCode != tt.status || !strings.Contains(page, tt.want) {
			t.Errorf("%s: got status %d, want %d with %s in\n%s", tt.path, r.StatusCode, tt.status, tt.want, page)
		}
	}
	if r := (call{path: "/track-record"}).do(t, d); r.StatusCode == http.StatusOK {
		t.Error("the track record is shown to a visitor who is not signed in")
	}
}

// TestTrackRecordWithout checks a server without permissions that are earned, one without outcomes, and one
// without a track record.
func TestTrackRecordWithout(t *testing.T) {
	t.Parallel()
	show := func(o Options) string {
		o.Queue = &still{}
		return between(text(t, call{path: "/track-record"}.do(t, serve(t, o))), "<main", "</main>")
	}
	unearned := show(Options{TrackRecord: tracked(outcomes([4]string{"rule:00ff", "crash", "bug", "kkr"}), policy.Policy{}), Repos: []string{"o/r"}})
	if strings.Contains(unearned, ">State<") || strings.Contains(unearned, "needs") || strings.Contains(unearned, "<nav") || !strings.Contains(unearned, "2 of 3") {
		t.Errorf("got %s", unearned)
	}
	if none := show(Options{TrackRecord: tracked(nil, policy.Policy{Earned: true}), Repos: []string{"o/r"}}); strings.Contains(none, "<table") || !strings.Contains(none, "No action was judged yet.") {
		t.Errorf("got %s", none)
	}
	r := call{path: "/track-record"}.do(t, serve(t, Options{Queue: &still{}, TrackRecord: tracked(nil, policy.Policy{})}))
	if r.StatusCode != http.StatusNotFound {
		t.Errorf("without repositories: got status %d", r.StatusCode)
	}
	if page := text(t, call{path: "/"}.do(t, serve(t, Options{Queue: &still{}}))); strings.Contains(page, "/track-record") {
		t.Error("a server without a track record links to it")
	}
}

// TestTrackRecordHostile shows names that try to become elements, attributes or scripts, and more rows than fit.
func TestTrackRecordHostile(t *testing.T) {
	t.Parallel()
	list := [][4]string{
		{`rule:"><script>alert(1)</script>`, `</td><img src=x onerror=alert(1)>`, `' onclick='x`, "kkru"},
		{"agent:a\u202eb\x1b[31m", "", strings.Repeat("W", 2000), "kr"},
		{"neither", "", "javascript:alert(1)", "u"},
	}
	for n := range 3 * maxRecordRows / 2 {
		list = append(list, [4]string{fmt.Sprintf("rule:%016x", n), fmt.Sprint("rule-", n), "l", "k"})
	}
	d := serve(t, Options{Queue: &still{}, TrackRecord: tracked(outcomes(list...), policy.Policy{Earned: true}), Repos: []string{"o/r", `o/"><script>`}})
	page := between(text(t, call{path: "/track-record"}.do(t, d)), "<main", "</main>")
	if m := regexp.MustCompile(`(?i)<script|<img|<[^>]* on\w+=|style=|href="javascript:`).FindString(page); m != "" || strings.ContainsAny(page, "\u202e\x1b") {
		t.Errorf("%q in\n%s", m, page)
	}
	if strings.Contains(page, strings.Repeat("W", 100)) {
		t.Error("a long name is not shortened")
	}
	if n := strings.Count(page, `<th role="rowheader"`); n != maxRecordRows || !strings.Contains(page, "Not shown: ") {
		t.Errorf("%d rows are shown, want %d", n, maxRecordRows)
	}
}
