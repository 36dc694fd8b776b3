package command

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/release/entry"
)

// TestPinAny pins a snapshot, which the rehearsal builds by default.
func TestPinAny(t *testing.T) {
	t.Parallel()
	var sums strings.Builder
	for _, platform := range entry.Platforms() {
		sums.WriteString(strings.Repeat("ab", 32) + "  " + entry.File("foreman", platform) + "\n")
	}
	out := t.TempDir()
	digest := "sha256:" + strings.Repeat("cd", 32)
	if err := os.Mkdir(filepath.Join(out, "images"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"checksums.txt": sums.String(), "images/foreman-action.digest": digest} {
		if err := os.WriteFile(filepath.Join(out, filepath.FromSlash(name)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, version := range []string{"v0.0.0-snapshot", "v1.2.3"} {
		var stdout bytes.Buffer
		o := options{
			root: "../../..", out: out, sums: filepath.Join(out, "checksums.txt"), version: version,
			server: "https://github.com", registry: "ghcr.io",
		}
		if err := o.pinAny(t.Context(), Env{Stdout: &stdout, Stderr: &stdout}); err != nil {
			t.Fatalf("%s: %v", version, err)
		}
		text, err := os.ReadFile(filepath.Join(out, "pinned", entry.ContainerFile))
		if err != nil || !bytes.Contains(text, []byte("@"+digest)) {
			t.Errorf("%s: %s does not contain the digest: %v", version, entry.ContainerFile, err)
		}
	}
}

// TestReleaser checks that only a snapshot needs no repository, and that a wrong version is refused.
func TestReleaser(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ version, repository, want string }{
		{"v0.0.0-snapshot", "", entry.Default},
		{"v0.0.0-snapshot", "octo/foreman", "octo/foreman"},
		{"v1.2.3", "octo/foreman", "octo/foreman"},
		{"v1.2.3", "", ""},
		{"v1.2.3-rc1", "octo/foreman", ""},
	} {
		o := options{version: tt.version, repository: tt.repository}
		if got, err := o.releaser(); (err != nil) != (tt.want == "") || err == nil && got.String() != tt.want {
			t.Errorf("%s of %q: got %s and the error %v", tt.version, tt.repository, got, err)
		}
	}
}
