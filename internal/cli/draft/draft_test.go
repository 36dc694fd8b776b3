package draft_test

import (
	"testing"
	"time"

	"github.com/org/foreman-action/internal/cli/draft"
	"github.com/org/foreman-action/triage"
)

// TestSource parses the event of each description.
func TestSource(t *testing.T) {
	t.Parallel()
	now := time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC)
	tests := []struct {
		name              string
		issue             draft.Issue
		event             draft.Event
		key, author, repo string
		mistake           string
	}{
		{"zero", draft.Issue{}, draft.Event{Now: now}, "issues.opened", "octocat", "octo-org/hello", ""},
		{"all", draft.Issue{Author: "hubot[bot]", Association: "member", Labels: []string{"a"}}, draft.Event{Name: "issues.labeled", Repo: "o/r", Now: now}, "issues.labeled", "hubot[bot]", "o/r", ""},
		{"schedule", draft.Issue{}, draft.Event{Name: "schedule", Now: now}, "schedule", "octocat", "octo-org/hello", ""},
		{"another event", draft.Issue{}, draft.Event{Name: "issue_comment.created"}, "", "", "", `event-name: an issue without a payload takes issues, issues.ACTIVITY or schedule, got "issue_comment.created"`},
		{"association", draft.Issue{Association: "boss"}, draft.Event{}, "", "", "", `association: want one of OWNER, MEMBER, COLLABORATOR, CONTRIBUTOR, FIRST_TIME_CONTRIBUTOR, FIRST_TIMER, MANNEQUIN, NONE, got "boss"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			src, err := tt.issue.Source(tt.event)
			if tt.mistake != "" {
				if err == nil || err.Error() != tt.mistake {
					t.Errorf("got the error %v, want %s", err, tt.mistake)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			d, err := triage.ParseEvent(src)
			if err != nil {
				t.Fatal(err)
			}
			if d.Key() != tt.key || d.Issue.Author != tt.author || d.FullRepo() != tt.repo || !d.Issue.CreatedAt.Equal(now) {
				t.Errorf("got %s by %s in %s at %s", d.Key(), d.Issue.Author, d.FullRepo(), d.Issue.CreatedAt)
			}
		})
	}
}
