package ruletest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/triage"
)

// scanned1 returns the issue on which the tests evaluate their searches.
func scanned1() facts.Facts {
	return facts.Facts{Issue: triage.Issue{
		Number: 1, State: "closed", StateReason: "not_planned", Author: "renovate[bot]", Labels: []string{"Bug", "needs info", "kind:x"},
		Assignees: []string{"mona"}, Milestone: "Version 1", Type: "Task", Comments: 3, Locked: true, Reactions: triage.Reactions{Total: 5},
		CreatedAt: time.Date(2026, 1, 2, 15, 0, 0, 0, time.UTC), UpdatedAt: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC),
	}}
}

func TestScanTerms(t *testing.T) {
	t.Parallel()
	pull := scanned1()
	pull.Issue.PullRequest = true
	pull.Lookup = facts.Known{PullRequest: triage.PullRequest{Base: "main", Head: "fix", Draft: true}}
	for _, tt := range []struct {
		name                       string
		f                          facts.Facts
		holds, misses, unevaluated string // searches, one a line
	}{
		{"an issue", scanned1(), `
is:closed
is:issue state:closed type:issue
-is:open is:locked -is:unlocked
label:bug label:"Needs Info" label:kind:x
label:other,BUG -label:other
-no:label -no:assignee -no:milestone -no:type
author:app/renovate -author:mona
author:Renovate[bot]
assignee:MONA
assignee:*
milestone:"version 1" milestone:*
reason:"not planned"
type:task
comments:3 comments:>2 comments:>=3 comments:<4 comments:<=3 comments:1..3 comments:*..3 comments:3..*
reactions:>4
created:2026-01-02 created:>2026-01-01 created:>=2026-01-02 created:<2026-01-03 created:<=2026-01-02
created:2026-01-01..2026-01-02 created:*..2026-01-02 created:2026-01-02..*
created:>2026-01-02T14:59:59Z created:<=2026-01-02T15:00:00Z
updated:>2026-02-28 updated:>=2026-03-01
archived:false sort:created-asc
-is:pr
`, `
is:open
-is:issue
label:bug,other -label:"needs info"
label:bu
no:label
no:assignee
author:mona
author:renovate
-assignee:mona
milestone:version
reason:completed
type:bug
comments:>3
comments:4..9
created:>2026-01-02
created:<2026-01-02
created:2026-01-03..2026-02-01
updated:<2026-03-01
archived:true
is:pr
`, `
crash
"a b"
in:title
is:blocked
no:project
author:@me
author:renovate[bot] author:mona
label:a OR label:b
(label:a label:bug)
created:@today-30d
comments:many
mentions:mona
-involves:mona
`},
		{"a pull request", pull, `
is:pr is:draft draft:true base:main head:fix
is:pull-request is:unmerged -is:merged
`, `
is:closed
is:pr -is:draft
is:pr base:next
`, `
is:pr review:approved
`},
	} {
		for query := range strings.Lines(strings.TrimSpace(tt.holds)) {
			if s := scan(strings.TrimSpace(query), searched(tt.f)); s.Missed != "" || len(s.Unevaluated) > 0 {
				t.Errorf("%s: %s: got %+v, want it found", tt.name, query, s)
			}
		}
		for query := range strings.Lines(strings.TrimSpace(tt.misses)) {
			if s := scan(strings.TrimSpace(query), searched(tt.f)); s.Missed == "" || len(s.Unevaluated) > 0 {
				t.Errorf("%s: %s: got %+v, want it missed", tt.name, query, s)
			}
		}
		for query := range strings.Lines(strings.TrimSpace(tt.unevaluated)) {
			if s := scan(strings.TrimSpace(query), searched(tt.f)); s.Missed != "" || len(s.Unevaluated) == 0 {
				t.Errorf("%s: %s: got %+v, want a term that is not evaluated", tt.name, query, s)
			}
		}
	}
}

// searched returns facts that contain their pull request, or look it up in recorded values.
func searched(f facts.Facts) subject {
	return subject{f, func() triage.PullRequest { return pullOf(context.Background(), f) }}
}

// FuzzScan checks that a search reports only terms that it contains, and reports the same ones
// twice.
func FuzzScan(f *testing.F) {
	f.Add(`is:open label:"needs info",b -no:label created:2026-01-01..* comments:>3`)
	f.Add(`"`)
	f.Add(`(a OR b) -label:c :x - -: is:`)
	f.Fuzz(func(t *testing.T, query string) {
		s := scan(query, searched(scanned1()))
		for _, term := range append(s.Unevaluated, s.Missed) {
			if !strings.Contains(query, term) && term != "is:issue" {
				t.Errorf("%q: got the term %q", query, term)
			}
		}
		if again := scan(query, searched(scanned1())); again.Missed != s.Missed {
			t.Errorf("%q: got %+v, then %+v", query, s, again)
		}
	})
}
