package dashboard

import (
	"context"
	"encoding/json"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/server/budget"
	"github.com/org/foreman-action/internal/server/proposals"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/triage"
)

// hostileQueue is a queue in which s replaces every untrusted text.
func hostileQueue(t *testing.T, s string, state queue.State) *still {
	t.Helper()
	enc := func(v any) json.RawMessage {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	action := map[string]any{"type": s, "label": s, "list": []string{s}}
	name := s[:min(len(s), queue.MaxText)] // the queue rejects longer names
	task := stillTask{
		Info: queue.Info{
			Seq: 1, ID: "id-1", Agent: name, Repo: name, Issue: 7, State: state, Owner: s, Reason: s, Attempt: 2, Tries: 1,
			Enqueued: noon(), Claimed: noon(), Completed: noon(), Ended: noon(), Until: noon(), Ready: noon(), Held: state == queue.Pending,
		},
		Message: enc(map[string]any{
			"type": s, "payload": map[string]any{"title": s, "author": s}, "context": map[string]any{"memory_summary": s},
		}),
		Origin: enc(map[string]any{"event": s, "delivery": s, "source": s, "trace": s}),
		Result: enc(map[string]any{"decision": s, "rationale": s, "actions": []any{action}}),
		Log:    []queue.Entry{{At: noon(), What: s, Who: s, Text: s}},
	}
	if state == queue.Done {
		task.Report = enc(map[string]any{
			"title": s, "decision": s, "rationale": s, "by": s, "status": s, "reason": s, "fired": []string{s}, "warnings": []string{s}, "missing": []string{s},
			"actions": []any{map[string]any{"action": action, "source": s, "verdict": s, "result": s, "reason": s, "url": s, "rationale": s, "confidence": s, "accepted_by": s, "carrier": s, "proposal": 2}},
		})
	}
	return &still{
		Stats_: queue.Stats{Agents: []queue.AgentStats{{Agent: name, Pending: 1, Held: 1}}, States: map[queue.State]int{state: 1}, Held: 1, Oldest: noon()},
		Tasks:  []stillTask{task},
	}
}

// TestHostile shows each text of testdata/hostile.json in every place for untrusted text. The page
// must have the same elements and attributes as with a harmless text, no link to other sites, and
// no hidden characters.
func TestHostile(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/hostile.json")
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	if err := json.Unmarshal(data, &texts); err != nil {
		t.Fatal(err)
	}
	texts = append(texts, strings.Repeat("long ", 20_000), strings.Repeat("<", 30_000), strings.Repeat("\u0300", 30_000))
	for _, state := range queue.States() {
		t.Run(string(state), func(t *testing.T) {
			t.Parallel()
			want := hostilePages(t, "harmless", state)
			for _, s := range texts {
				for path, page := range hostilePages(t, s, state) {
					if diff := cmp.Diff(shape(want[path]), shape(page)); diff != "" {
						t.Errorf("%s, %.80q changes the page (-want +got):\n%s", path, s, diff)
					}
					if strings.ContainsFunc(page, hides) {
						t.Errorf("%s, %.80q: it holds characters that hide something", path, s)
					}
					if len(page) > 400_000 {
						t.Errorf("%s, %.80q: the page has %d bytes", path, s, len(page))
					}
				}
			}
		})
	}
}

// hostilePages returns the list and the task's page, by their paths.
func hostilePages(t *testing.T, s string, state queue.State) map[string]string {
	t.Helper()
	d := serve(t, Options{Queue: hostileQueue(t, s, state), Operators: ada, Health: func(context.Context) []Health {
		return []Health{{Name: s, Detail: s, Since: noon()}}
	}, Waiting: func(context.Context) ([]proposals.Waiting, error) { return hostileProposals(t, s), nil }, Budget: func() budget.Report {
		return budget.Report{
			Accounts:     []budget.Account{{Name: s, Resource: "core", Limit: 10}, {Name: "mona", Resource: s, Limit: 10}},
			Repositories: []budget.Repository{{Name: s, Account: s, Calls: 2}, {Name: "octo/hello", Account: s, Calls: 1}},
		}
	}})
	pages := map[string]string{}
	for _, path := range []string{"/", "/tasks/id-1"} {
		r := call{path: path, auth: true}.do(t, d)
		if r.StatusCode != 200 {
			t.Fatalf("%.80q: got %d", s, r.StatusCode)
		}
		pages[path] = text(t, r)
	}
	return pages
}

// hostileProposals are proposals in which s replaces every untrusted text.
func hostileProposals(t *testing.T, s string) []proposals.Waiting {
	t.Helper()
	var list []proposals.Waiting
	for _, typ := range []string{"add_label", s} {
		item, err := protocol.NewAction(typ, map[string]any{"label": s})
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, proposals.Waiting{Repo: s, Issue: 7, Proposal: memory.Proposal{
			Number: 1, Action: item, Source: s, Rationale: s, Confidence: protocol.Confidence(s), Carrier: triage.Carrier(s), At: noon(), Expires: noon(),
		}})
	}
	return list
}

func hides(r rune) bool {
	return r != '\n' && unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u200b' || r == '\ufeff' || r == '\u2028'
}

var (
	tagsOf   = regexp.MustCompile(`<(/?[a-zA-Z!][^\s>]*)([^>]*)>`)
	attrsOf  = regexp.MustCompile(`\s([a-zA-Z-]+)(?:="([^"]*)")?`)
	ourPaths = regexp.MustCompile(`^/(login|logout|tasks/id-1(/retry|/cancel)?|\?[a-z=&;#%+A-Z0-9._*~-]*)?$`)
)

// shape lists the elements of a page with their attributes, and the targets of links to other
// sites.
func shape(page string) []string {
	page = page[strings.Index(page, "<body>"):strings.LastIndex(page, "<script>")]
	var out []string
	for _, tag := range tagsOf.FindAllStringSubmatch(page, -1) {
		line := tag[1]
		for _, a := range attrsOf.FindAllStringSubmatch(tag[2], -1) {
			line += " " + a[1]
			if slices.Contains([]string{"href", "action", "src"}, a[1]) && !ourPaths.MatchString(a[2]) {
				line += "=" + a[2]
			}
		}
		out = append(out, line)
	}
	return out
}

func TestLink(t *testing.T) {
	t.Parallel()
	tests := []struct{ github, address, want string }{
		{"", "https://github.com/o/r/issues/1#issuecomment-2", "https://github.com/o/r/issues/1#issuecomment-2"},
		{"", "https://GitHub.com/o", "https://GitHub.com/o"},
		{"", "http://github.com/o", ""},
		{"", "https://github.com.evil.example/", ""},
		{"", "https://github.com:444/", ""},
		{"", "https://github.com@evil.example/", ""},
		{"", "https://user@github.com/", ""},
		{"", "//github.com/", ""},
		{"", "javascript:alert(1)", ""},
		{"", "https://evil.example/?github.com", ""},
		{"", "https://github.com/" + strings.Repeat("a", 3000), ""},
		{"https://ghe.example", "https://ghe.example/o", "https://ghe.example/o"},
		{"https://ghe.example", "https://github.com/o", ""},
		{"http://127.0.0.1:1", "http://127.0.0.1:1/o", ""},
	}
	for _, tt := range tests {
		d := serve(t, Options{GitHub: tt.github})
		if got := d.contents.links.allowed(tt.address); got != tt.want {
			t.Errorf("%s, %.60s: got %q, want %q", tt.github, tt.address, got, tt.want)
		}
	}
	d := serve(t, Options{GitHub: "https://ghe.example/sub/"})
	for _, tt := range []struct {
		repo  string
		issue int
		want  string
	}{
		{"o/r", 7, "https://ghe.example/sub/o/r/issues/7"},
		{"o/r", 0, ""},
		{"o/../x", 7, ""},
		{"../..", 7, ""},
		{"o/r?x", 7, ""},
	} {
		if got := d.contents.links.issue(tt.repo, tt.issue); got != tt.want {
			t.Errorf("%s#%d: got %q, want %q", tt.repo, tt.issue, got, tt.want)
		}
	}
}

func TestAgo(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "now", 5 * time.Second: "5 s ago", 119 * time.Second: "119 s ago", 3 * time.Minute: "3 min ago",
		5 * time.Hour: "5 h ago", 72 * time.Hour: "3 days ago", -90 * time.Second: "in 90 s",
	} {
		if got := ago(noon(), noon().Add(-d)); got != want {
			t.Errorf("%v: got %q, want %q", d, got, want)
		}
	}
}

// FuzzTask renders tasks with arbitrary parts.
func FuzzTask(f *testing.F) {
	f.Add([]byte(`{"payload":{"title":"x"}}`), []byte(`{"event":"issues"}`), []byte(`{"decision":"skip","actions":[{"type":"a","b":[1]}]}`), []byte(`{"actions":[{"action":{"type":"x"}}]}`), "reason")
	f.Add([]byte(`{"payload":[]}`), []byte(`[]`), []byte(`{"actions":null}`), []byte(`{"actions":[{"action":null}]}`), "\u202e")
	f.Add([]byte(nil), []byte(nil), []byte(nil), []byte(nil), "")
	f.Fuzz(func(t *testing.T, message, origin, result, report []byte, reason string) {
		var task stillTask
		task.Info = queue.Info{ID: "id-1", Repo: reason, Issue: 1, Agent: reason, State: queue.Failed, Reason: reason}
		task.Broken, task.Origin, task.Result, task.Report = string(message), origin, result, report
		q := &still{Tasks: []stillTask{task}}
		d := serve(t, Options{Queue: q})
		for _, path := range []string{"/", "/tasks/id-1", "/?repo=" + url.QueryEscape(reason)} {
			if page := text(t, call{path: path}.do(t, d)); strings.Count(page, "<script>") != 1 || !strings.Contains(page, "</html>") {
				t.Errorf("%s: the page is broken:\n%s", path, page)
			}
		}
	})
}
