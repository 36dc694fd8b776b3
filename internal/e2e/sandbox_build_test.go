package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSandboxedBuild runs the pipeline with sandbox: docker on a real engine. The Builder tries to
// write everywhere, and the Inspector tries to change what it inspects.
func TestSandboxedBuild(t *testing.T) {
	needEngine(t)
	_, image := images(t)
	program := filepath.Join(t.TempDir(), "foreman")
	output(t, root, "go", "build", "-o", program, "./cmd/foreman")
	outside := t.TempDir()
	t.Setenv("GITHUB_TOKEN", "ghs_notforyou")
	t.Setenv("HOME", outside)
	builder := `
for place in / /etc /workspace/..; do
	if echo bad 2>/dev/null >$place/planted; then echo "wrote to $place"; exit 1; fi
done
mkdir -p ` + outside + ` # in the /tmp of the container, if there
echo bad >` + outside + `/planted
if env | grep -q ghs_; then echo "the token"; exit 1; fi
echo bad >/tmp/planted
ln -s ` + outside + ` way
echo bad >way/planted
sleep 300 &
echo 'sum: 3' >sum.txt
printf %s '{"run":{"status":"ok","failed_step":null,"error":null},"work":{"summary":"Mend the sum","complexity":"low"}}' >builder_result.json
`
	inspector := `
grep -q '^+sum: 3' .foreman/tmp/change.diff
echo 'sum: 4' >sum.txt
printf %s '{"run":{"status":"ok","failed_step":null,"error":null},"work":{"status":"approved","issues":[],"next_tasks":[]}}' >inspector_result.json
`
	command := func(script string) string {
		data, err := json.Marshal([]string{"sh", "-e", "-c", script})
		if err != nil {
			t.Fatal(err)
		}
		return "{command: " + string(data) + ", timeout: 2m}"
	}
	dir := repository(t, map[string]string{
		"sum.txt": "sum: 2\n",
		".foreman/build.yml": "version: 1\nsandbox: docker\nimage: " + image + "\nbuilder: " + command(builder) + "\ninspector: " + command(inspector) + `
setup: [[sh, -c, "touch /cache/home/prepared"]]
checks:
  - {run: [grep, "sum: 3", sum.txt]}
  - {run: [sh, -c, "test -f /cache/home/prepared && ! grep -q eth0 /proc/net/dev && ! test -e /tmp/planted"]}
`,
	})
	if got := output(t, dir, program, "build", "doctor"); !strings.Contains(got, "sandbox: docker") || strings.Contains(got, "missing") {
		t.Errorf("doctor:\n%s", got)
	}
	text, err := try(t, dir, program, "build", "run", "--json", "--task-id", "sum-1", "--prompt", "Mend the sum", "--worktrees", filepath.Join(t.TempDir(), "worktrees"))
	if err != nil {
		log, _ := filepath.Glob(filepath.Join(dir, ".foreman/runs/sum-1/attempts/*/*/log.txt"))
		for _, name := range log {
			t.Logf("%s:\n%s", name, read(t, name))
		}
		t.Fatal(err)
	}
	var report struct {
		Status string
		Round  int
		Checks []struct{ Passed bool }
	}
	if err := json.Unmarshal([]byte(text), &report); err != nil || report.Status != "approved" || report.Round != 1 {
		t.Errorf("the report: %v\n%s", err, text)
	}
	if got := output(t, dir, "git", "show", "foreman/sum-1:sum.txt"); got != "sum: 3" {
		t.Errorf("the branch has %q", got)
	}
	if got := output(t, dir, "git", "ls-tree", "-r", "--name-only", "foreman/sum-1"); got != ".foreman/build.yml\nsum.txt\nway" {
		t.Errorf("the branch has the files\n%s", got)
	}
	if got := output(t, dir, "git", "status", "--porcelain"); got != "" {
		t.Errorf("the checkout changed:\n%s", got)
	}
	if _, err := os.Lstat(filepath.Join(outside, "planted")); err == nil {
		t.Error("the Builder wrote outside of its worktree")
	}
	left := output(t, ".", "docker", "ps", "--all", "--quiet", "--filter", "name=foreman-build-") + output(t, ".", "docker", "volume", "ls", "--quiet", "--filter", "name=foreman-build-")
	if left != "" {
		t.Errorf("left on the engine: %s", left)
	}
}
