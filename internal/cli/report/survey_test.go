package report

import (
	"strings"
	"testing"

	"github.com/org/foreman-action/runner"
)

// TestSurveyTable bounds the table, and neutralizes untrusted text in it.
func TestSurveyTable(t *testing.T) {
	t.Parallel()
	var s runner.Survey
	for i := range maxRows + 5 {
		s.Reports = append(s.Reports, runner.Report{Issue: i + 1, Title: "a | b\n<img src=x> @mona", Status: runner.StatusFailed, Reason: strings.Repeat("x|", 1000)})
	}
	s.Reports = append(s.Reports, runner.Report{Issue: 9999, Status: runner.StatusSkipped})
	var b strings.Builder
	surveyTable(&b, s)
	got := b.String()
	if lines := strings.Count(got, "\n| #"); lines != maxRows || !strings.Contains(got, "5 more are in the log.") || !strings.Contains(got, "On 1 of the issues") {
		t.Errorf("got %d rows and:\n%s", lines, got[max(0, len(got)-300):])
	}
	if strings.Contains(got, "<img") || len(got) > 1<<19 {
		t.Errorf("got %d bytes, such as %s", len(got), got[:300])
	}
}
