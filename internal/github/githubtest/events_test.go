package githubtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// schemas names the schema of each kind of event in GitHub's description. The schema of the
// timeline itself accepts any kind of event. With that schema, a "labeled" event without its label
// would be accepted as another kind.
var schemas = map[string]string{
	"labeled": "labeled-issue-event", "unlabeled": "unlabeled-issue-event",
	"closed": "state-change-issue-event", "reopened": "state-change-issue-event", "unlocked": "state-change-issue-event",
	"comment_deleted": "state-change-issue-event", "renamed": "renamed-issue-event", "locked": "locked-issue-event",
	"assigned": "timeline-assigned-issue-event", "unassigned": "timeline-unassigned-issue-event",
	"milestoned": "milestoned-issue-event", "demilestoned": "demilestoned-issue-event",
	"issue_type_added": "issue-type-added-issue-event", "issue_type_changed": "issue-type-changed-issue-event",
	"issue_type_removed": "issue-type-removed-issue-event", "commented": "timeline-comment-event",
	"cross-referenced": "timeline-cross-referenced-event", "committed": "timeline-committed-event", "reviewed": "timeline-reviewed-event",
}

func checkEvents(t *testing.T, raw []byte) (kinds map[string]bool) {
	t.Helper()
	router, err := loadRouter(newVersion)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://x/repos/o/r/issues/7/timeline", nil)
	if err != nil {
		t.Fatal(err)
	}
	route, _, err := router.FindRoute(r)
	if err != nil {
		t.Fatal(err)
	}
	var list []map[string]any
	if err := json.Unmarshal(raw, &list); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	kinds = map[string]bool{}
	for i, e := range list {
		kind := fmt.Sprint(e["event"])
		kinds[kind] = true
		schema := route.Spec.Components.Schemas[schemas[kind]]
		if schema == nil {
			t.Errorf("event %d: no schema for %q", i, kind)
		} else if err := schema.Value.VisitJSON(e); err != nil {
			t.Errorf("event %d, %s: %s", i, kind, reason(err))
		}
	}
	return kinds
}

// TestEveryKindOfEvent causes every kind of event and checks each against the schema of its
// kind, without intents and with them.
func TestEveryKindOfEvent(t *testing.T) {
	t.Parallel()
	for _, level := range []Automation{AutomationOff, FullAutomation} {
		t.Run(string(level), func(t *testing.T) {
			t.Parallel()
			everyKindOfEvent(t, level)
		})
	}
}

func everyKindOfEvent(t *testing.T, level Automation) {
	t.Helper()
	s := New(t, Config{})
	r := s.Repo("octo/hello").AddUser("alice").SetAutomation(level)
	r.AddIssue(Issue{Number: 7, Labels: []string{"bug"}}).UnlabelAs("bob", 7, "bug").CloseAs("bob", 7, "").ReopenAs("bob", 7)
	r.AssignAs("bob", 7, "alice").UnassignAs("bob", 7, "alice").SetMilestoneAs("bob", 7, "v1").SetMilestoneAs("bob", 7, "")
	r.DeleteComment(r.AddComment(7, "bob", "x"))
	r.AddComment(7, "renovate[bot]", "x")
	for _, c := range [][3]string{
		{"PUT", "/lock", `{"lock_reason":"spam"}`}, {"DELETE", "/lock", ""}, {"PUT", "/lock", ""}, {"PATCH", "", `{"title":"Other"}`},
		{"POST", "/labels", `{"labels":[{"name":"x","rationale":"why"}]}`}, {"POST", "/assignees", `{"assignees":[{"login":"alice","confidence":"low"}]}`},
		{"PATCH", "", `{"type":{"value":"Bug","confidence":"high"}}`}, {"PATCH", "", `{"type":"Task"}`}, {"PATCH", "", `{"type":null}`},
	} {
		ask(t, s, c)
	}
	kinds := checkEvents(t, ask(t, s, [3]string{"GET", "/timeline?per_page=100", ""}))
	for kind := range schemas {
		if ours := kind != "cross-referenced" && kind != "committed" && kind != "reviewed"; ours != kinds[kind] {
			t.Errorf("%s: got %t in the timeline, want %t", kind, kinds[kind], ours)
		}
	}
}

func ask(t *testing.T, s *Server, call [3]string) []byte {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), call[0], "http://x/repos/octo/hello/issues/7"+call[1], strings.NewReader(call[2]))
	if err != nil {
		t.Fatal(err)
	}
	if call[2] != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	a, _ := s.answer(r, []byte(call[2]))
	s.check(r, []byte(call[2]), &a)
	if a.status > 299 {
		t.Fatalf("%v: got %d %s", call, a.status, a.raw)
	}
	return a.raw
}

// TestRecordedTimelines checks that the timelines with which the client is tested have the form
// that GitHub describes.
func TestRecordedTimelines(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("../testdata/timeline/recorded*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("got %d timelines, %v, want some", len(paths), err)
	}
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		checkEvents(t, txtar.Parse(raw).Files[0].Data)
	}
}
