package handoff_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/handoff"
)

// TestDocs validates the results shown in docs/handoff.md, and checks that the page lists all
// codes.
func TestDocs(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../docs/handoff.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	blocks := regexp.MustCompile("(?s)```json\n(.*?)```").FindAllStringSubmatch(page, -1)
	if len(blocks) != 2 {
		t.Fatalf("the page shows %d results", len(blocks))
	}
	for i, role := range []handoff.Role{handoff.Builder, handoff.Inspector} {
		if _, problems := parse(t, role, []byte(blocks[i][1])); problems != nil {
			t.Errorf("%s: %v", role, problems)
		}
	}
	for _, code := range []string{
		handoff.CodeInvalidJSON, handoff.CodeType, handoff.CodeRequired, handoff.CodeEnum, handoff.CodeInvalid, handoff.CodeTooLong, handoff.CodeNoIssues,
	} {
		if !strings.Contains(page, "`"+code+"`") {
			t.Errorf("the page lacks %s", code)
		}
	}
}
