package docs_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/policy"
)

// TestLimits compares the defaults on docs/limits.md with the policy, and with the table of
// docs/server/keys.md, which another test compares with the program.
func TestLimits(t *testing.T) {
	t.Parallel()
	var none policy.Policy
	rates, days := none.RateLimits(), func(d time.Duration) float64 { return d.Hours() / 24 }
	defaults := map[string]string{
		"policy.comment_interval":       fmt.Sprintf("%.0f h", rates.Interval.Hours()),
		"policy.max_comments_per_issue": fmt.Sprint(rates.Comments),
		"policy.max_writes_per_hour":    fmt.Sprint(rates.Writes),
		"policy.comment_length":         thousands(policy.MaxCommentLength) + " characters",
		"policy.max_scanned_issues":     fmt.Sprintf("%d, at most %s", none.Scanned(), thousands(policy.MaxScannable)),
		"policy.shadow_period":          fmt.Sprintf("%.0f days", days(none.ShadowTime())),
		"policy.suggestion_ttl":         fmt.Sprintf("%.0f days, at most %.0f", days(none.ProposalTTL()), days(policy.MaxSuggestionTTL)),
	}
	keys := string(pages(t)["docs/server/keys.md"])
	row := regexp.MustCompile("(?m)^\\| [^|\n]+ \\| ([^|\n]+) \\| `([^`\n]+)` \\|$")
	n := 0
	for _, m := range row.FindAllStringSubmatch(string(pages(t)["docs/limits.md"]), -1) {
		shown, key := m[1], m[2]
		n++
		if want, ok := defaults[key]; ok {
			if !strings.HasPrefix(shown, want) {
				t.Errorf("%s: the page has %q, the policy %q", key, shown, want)
			}
			continue
		}
		_, described, ok := strings.Cut(keys, "| `"+key+"` | ")
		described, _, _ = strings.Cut(described, "\n")
		number := regexp.MustCompile(`^\d+`).FindString(shown)
		if !ok || !regexp.MustCompile(`default `+number+`\b|such as `+number+`[a-z] \(the default\)`).MatchString(described) {
			t.Errorf("%s: the page has %q, docs/server/keys.md %q", key, shown, described)
		}
	}
	if n < 15 {
		t.Errorf("%d rows with keys", n)
	}
}

// thousands writes a number below a million with a comma.
func thousands(n int) string {
	s := strconv.Itoa(n)
	if len(s) > 3 {
		return s[:len(s)-3] + "," + s[len(s)-3:]
	}
	return s
}
