package changelog_test

import (
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/release/changelog"
	"github.com/org/foreman-action/internal/release/version"
)

const good = `# Changelog

## [Unreleased]

## [1.2.3] - 2026-01-31

### Added

- A thing.

## [1.2.2] - 2026-01-01

- An older thing.
`

func TestSection(t *testing.T) {
	t.Parallel()
	v := version.Version{Major: 1, Minor: 2, Patch: 3}
	notes, err := changelog.Section(good, v)
	if err != nil || notes != "### Added\n\n- A thing.\n" {
		t.Errorf("got %q and the error %v", notes, err)
	}
	tests := []struct {
		name, text string
		want       []string
	}{
		{"empty", "", []string{"no section for 1.2.3"}},
		{"other version", strings.ReplaceAll(good, "1.2.3", "1.2.30"), []string{"no section for 1.2.3"}},
		{"no date", strings.Replace(good, " - 2026-01-31", "", 1), []string{"no date"}},
		{"impossible date", strings.Replace(good, "2026-01-31", "2026-02-31", 1), []string{"no date"}},
		{"no entry", strings.Replace(good, "- A thing.", "", 1), []string{"no entry"}},
		{"twice", strings.Replace(good, "1.2.2", "1.2.3", 1), []string{"2 sections"}},
		{"unreleased", strings.Replace(good, "## [1.2.3]", "- left\n\n## [1.2.3]", 1), []string{"[Unreleased] still has entries"}},
		{"several", strings.Replace(strings.Replace(good, " - 2026-01-31", "", 1), "## [1.2.3]", "- left\n\n## [1.2.3]", 1),
			[]string{"no date", "[Unreleased] still has entries"}},
	}
	for _, tt := range tests {
		notes, err := changelog.Section(tt.text, v)
		if err == nil || notes != "" {
			t.Errorf("%s: got %q, want an error", tt.name, notes)
			continue
		}
		for _, want := range tt.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got the error %q, want %q in it", tt.name, err, want)
			}
		}
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	got := changelog.Versions(good)
	if len(got) != 2 || got[0].String() != "1.2.3" || got[1].String() != "1.2.2" {
		t.Errorf("got %v", got)
	}
}
