package pr

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/testkit/programtest"
)

// TestTemplate reads templates from all places that GitHub documents.
func TestTemplate(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		files   string // paths; each file contains its path
		want    string // the path of the template
		warning string // words of the warning
	}{
		{"none", "README.md", "", ""},
		{"the root", "pull_request_template.md", "pull_request_template.md", ""},
		{"the root, in capitals", "PULL_REQUEST_TEMPLATE.md", "PULL_REQUEST_TEMPLATE.md", ""},
		{"mixed case", "Pull_Request_Template.MD", "Pull_Request_Template.MD", ""},
		{"text", "pull_request_template.txt", "pull_request_template.txt", ""},
		{"no extension", "PULL_REQUEST_TEMPLATE", "PULL_REQUEST_TEMPLATE", ""},
		{"docs", "docs/PULL_REQUEST_TEMPLATE.md", "docs/PULL_REQUEST_TEMPLATE.md", ""},
		{"order", "docs/pull_request_template.md pull_request_template.md .github/PULL_REQUEST_TEMPLATE.md", ".github/PULL_REQUEST_TEMPLATE.md", ""},
		{"the root before docs", "docs/pull_request_template.md pull_request_template.md", "pull_request_template.md", ""},
		{"one in a folder", ".github/PULL_REQUEST_TEMPLATE/bug.md", ".github/PULL_REQUEST_TEMPLATE/bug.md", ""},
		{"a file before a folder", ".github/PULL_REQUEST_TEMPLATE/bug.md docs/pull_request_template.md", "docs/pull_request_template.md", ""},
		{"several", ".github/PULL_REQUEST_TEMPLATE/bug.md docs/pull_request_template/feature.md", "", "several templates of pull requests: .github/PULL_REQUEST_TEMPLATE/bug.md, docs/pull_request_template/feature.md."},
		{"other names", "pull_request_template.html pull_request_template.md.orig docs/guide/pull_request_template.md", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for name := range strings.FieldsSeq(tt.files) {
				if err := programtest.Write(filepath.Join(dir, filepath.FromSlash(name)), "# "+name+"\n"); err != nil {
					t.Fatal(err)
				}
			}
			body, warning := template(dir)
			if got := strings.TrimSpace(strings.TrimPrefix(body, "# ")); got != tt.want || !strings.Contains(warning, tt.warning) || (warning == "") != (tt.warning == "") {
				t.Errorf("got %q, %q", got, warning)
			}
		})
	}
}

// TestTemplateHostile reads templates that cannot be used. A warning has the reason.
func TestTemplateHostile(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		make    func(path string) error
		warning string
	}{
		"1 MB":      {func(path string) error { return os.WriteFile(path, []byte(strings.Repeat("- [ ] x\n", 1<<17)), 0o600) }, "65536"},
		"not UTF-8": {func(path string) error { return os.WriteFile(path, []byte{0xff, 0xfe, 0}, 0o600) }, "not UTF-8"},
		"a link":    {func(path string) error { return os.Symlink("/etc/passwd", path) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := tt.make(filepath.Join(dir, "pull_request_template.md")); err != nil {
				t.Fatal(err)
			}
			body, warning := template(dir)
			if body != "" || !strings.Contains(warning, tt.warning) || (warning == "") != (tt.warning == "") {
				t.Errorf("got %d bytes, %q", len(body), warning)
			}
		})
	}
	dir := t.TempDir()
	if err := os.Symlink(os.TempDir(), filepath.Join(dir, "docs")); err != nil {
		t.Fatal(err)
	}
	if body, warning := template(dir); body != "" || warning != "" {
		t.Errorf("got %q, %q", body, warning)
	}
}
