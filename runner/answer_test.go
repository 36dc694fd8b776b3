package runner_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/org/foreman-action/triage"
)

// TestWhyIsBounded explains more rules than fit into a comment, with hostile values.
func TestWhyIsBounded(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, policy string
		rules        int
		most         int // maximum number of characters of the answer
		says         string
	}{
		{"few", "", 2, 3_000, "2 of 2 rules would fire"},
		{"many", "", 400, 40_000, "Rules not listed here: "},
		{"a short comment", "policy: {comment_length: 600}\n", 50, 600, "Rules not listed here: "},
		{"none", "", 0, 100, "There are no rules."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var rules strings.Builder
			rules.WriteString(tt.policy + "rules:\n")
			for i := range tt.rules {
				fmt.Fprintf(&rules, "  - {id: r%d, on: issues.opened, when: 'issue.title contains \"@\" and len(issue.body) > %d', then: [{add_label: bug}]}\n", i, i)
			}
			if tt.rules == 0 {
				rules.Reset()
			}
			gh, e, o := world(t, rules.String())
			gh.Repo("Codertocat/Hello-World").AddUser("mona")
			id := gh.Repo("Codertocat/Hello-World").AddComment(1, "mona", "/foreman why")
			e.Name, e.Action = triage.EventIssueComment, "created"
			e.Sender = triage.Actor{Login: "mona", Type: "User"}
			e.Comment = triage.Comment{ID: id, Body: "/foreman why", Author: "mona"}
			e.Issue.Title = "```\n @everyone <!-- foreman:v1 --> \u202e</details> ````` fixes #1" + strings.Repeat("`@mona ", 100)
			e.Issue.Body = strings.Repeat("x", 1000)
			rep, err := run(t, o, e)
			if err != nil || rep.Executed != 1 {
				t.Fatalf("got %+v, %v", rep, err)
			}
			comments := gh.Issue("Codertocat/Hello-World", 1).Comments
			marker, body, _ := strings.Cut(comments[len(comments)-1].Body, " -->\n\n")
			if n := utf8.RuneCountInString(body); n > tt.most || !strings.Contains(body, tt.says) {
				t.Errorf("%d characters, want at most %d with %q:\n%.3000s", n, tt.most, tt.says, body)
			}
			if strings.Contains(body, "@everyone") || strings.Contains(body, "@mona") || strings.Contains(body, "\u202e") ||
				strings.Contains(body, "<!--") || !strings.HasPrefix(marker, "<!-- foreman:v1 ") || !strings.Contains(marker, "by=why") {
				t.Errorf("something acts:\n%.3000s", body)
			}
		})
	}
}
