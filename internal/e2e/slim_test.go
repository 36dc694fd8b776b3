package e2e

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// actSlim runs slim/action.yml under act as it is in a release. The release program pins a program
// in it, and the action downloads this program from the test.
func actSlim(t *testing.T) {
	project := newProject(t)
	program := filepath.Join(t.TempDir(), "foreman")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", program, "./cmd/foreman")
	cmd.Dir, cmd.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	if engine() != nil {
		weighLayers(t, [][]byte{pack(t, program)})
	}
	project.pinSlim(program)
	project.copy("testdata/act/slim.yml", ".github/workflows/triage.yml")
	project.commit()
	project.act("ubuntu-latest=-self-hosted", "127.0.0.1")
}

// pinSlim writes a slim/action.yml with a pinned program, and serves this program at the pinned
// address.
func (p project) pinSlim(program string) {
	t := p.t
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/org/foreman-action/releases/download/v1.2.3/foreman-linux-") {
			http.NotFound(w, r)
			return
		}
		http.ServeFile(w, r, program)
	}))
	t.Cleanup(server.Close)
	sum := sha256.Sum256(read(t, program))
	var list strings.Builder
	for _, file := range []string{"linux-amd64", "linux-arm64", "darwin-amd64", "darwin-arm64", "windows-amd64.exe", "windows-arm64.exe"} {
		list.WriteString(hex.EncodeToString(sum[:]) + "  foreman-" + file + "\n")
	}
	out := t.TempDir()
	sums := filepath.Join(out, "checksums.txt")
	if err := os.WriteFile(sums, []byte(list.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	output(t, "../release", "go", "run", ".", "pin", "-out", out, "-sums", sums, "-server", server.URL,
		"-repository", "org/foreman-action", "-digest", "sha256:"+strings.Repeat("12", 32), "v1.2.3")
	p.copy(filepath.Join(out, "pinned", "slim", "action.yml"), "slim/action.yml")
}
