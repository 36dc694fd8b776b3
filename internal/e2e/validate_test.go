package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/coding/contrib/contract"
)

// A contribution is a folder of contribflow with a workspace. Its GitHub is a folder with one
// repository.
type contribution struct {
	dir, program string
	env          []string
}

// workspace returns the folder of the only workspace.
func (c contribution) workspace() string {
	return filepath.Join(c.dir, ".contribflow/workspaces/o-r-1")
}

// contribute checks a repository out and edits its files. config is the configuration of the
// sandbox.
func contribute(t *testing.T, config string, files, edits map[string]string) contribution {
	t.Helper()
	c := contribution{dir: t.TempDir(), program: filepath.Join(t.TempDir(), "contribflow")}
	output(t, root, "go", "build", "-o", c.program, "./cmd/contribflow")
	github := t.TempDir()
	output(t, ".", "git", "clone", "-q", "--bare", repository(t, files), filepath.Join(github, "o/r.git"))
	c.env = append(os.Environ(), "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=url.file://"+github+"/.insteadOf", "GIT_CONFIG_VALUE_0=https://github.com/",
		"GITHUB_TOKEN=ghs_notforcontainers", "XDG_CONFIG_HOME="+t.TempDir())
	write(t, c.dir, map[string]string{".contribflow/config.json": `{"sandbox": ` + config + `}`})
	c.run(t, "checkout", "o/r#1", "--json")
	write(t, c.workspace(), edits)
	c.run(t, "diff", "--json")
	return c
}

func (c contribution) run(t *testing.T, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), c.program, args...)
	cmd.Dir, cmd.Env = c.dir, c.env
	out, err := cmd.Output()
	if err != nil {
		exit, _ := err.(*exec.ExitError)
		t.Fatalf("contribflow %s: %v\n%s%s", strings.Join(args, " "), err, out, exit.Stderr)
	}
	return out
}

// validate runs "contribflow validate --run", and checks that nothing is left behind.
func (c contribution) validate(t *testing.T) contract.Validation {
	t.Helper()
	before := output(t, c.workspace(), "git", "status", "--porcelain", "--ignored")
	out := c.run(t, "validate", "--run", "--sandbox", "docker", "--json")
	var d contract.Validation
	if err := json.Unmarshal(out, &d); err != nil {
		t.Fatal(err)
	}
	if after := output(t, c.workspace(), "git", "status", "--porcelain", "--ignored"); after != before {
		t.Errorf("the workspace changed from\n%s\nto\n%s", before, after)
	}
	left := output(t, ".", "docker", "ps", "--all", "--quiet", "--filter", "label=contribflow.run") +
		output(t, ".", "docker", "volume", "ls", "--quiet", "--filter", "label=contribflow.run")
	if left != "" {
		t.Errorf("left on the engine: %s", left)
	}
	log := string(read(t, c.dir, ".contribflow/logs/validate-o-r-1.log"))
	for _, text := range []string{string(out), log} {
		if strings.Contains(text, "ghs_") || strings.Contains(text, "ghp_") {
			t.Errorf("a secret is shown:\n%s", text)
		}
	}
	return d
}

// ends reports how each command ended, such as "passed go test".
func ends(d contract.Validation) string {
	var lines []string
	for _, c := range append(d.SetupCommands, d.Commands...) {
		lines = append(lines, c.Status+" "+c.Command)
	}
	return d.Status + ": " + strings.Join(lines, ", ")
}

// TestValidate runs contribflow validate on a real engine without the network. Its subtests run
// one after another, because they share the engine.
func TestValidate(t *testing.T) {
	needEngine(t)
	goImage, _ := images(t)
	const token = "ghp_aaaaaaaaaabbbbbbbbbbccccccccccdddddd"

	t.Run("Go project", func(t *testing.T) {
		c := contribute(t, `{"images": {"go": "`+goImage+`"}}`, goProject, map[string]string{
			"sum.go": "package main\n\nfunc main() {}\n\n// Sum adds.\nfunc Sum(a, b int) int { return a + b }\n",
			// The root file system is read-only, and files that a test writes stay in the sandbox.
			"more_test.go": "package main\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestMore(t *testing.T) {\n" +
				"\tif os.WriteFile(\"/etc/x\", nil, 0o600) == nil {\n\t\tt.Error(\"the root can be written\")\n\t}\n" +
				"\tif err := os.MkdirAll(\"dist\", 0o755); err != nil {\n\t\tt.Fatal(err)\n\t}\n" +
				"\tif err := os.WriteFile(\"dist/out\", nil, 0o600); err != nil {\n\t\tt.Error(err)\n\t}\n" +
				"\tif os.Getenv(\"GITHUB_TOKEN\") != \"\" {\n\t\tt.Error(\"there is a token\")\n\t}\n}\n",
		})
		d := c.validate(t)
		if got, want := ends(d), "passed: passed go vet ./..., passed go test ./..."; got != want || d.BlocksPR {
			t.Errorf("got %s, want %s: %+v", got, want, d)
		}
		if text := string(read(t, c.dir, ".contribflow/artifacts/validation-o-r-1.json")); !strings.Contains(text, `"status": "passed"`) {
			t.Errorf("stored: %s", text)
		}
	})

	t.Run("Make project", func(t *testing.T) {
		c := contribute(t, `{"images": {"make": "`+makeImage(t)+`"}}`, map[string]string{
			"Makefile": "lint:\n\t@echo " + token + "\n\t@echo " + token + " >&2\ncheck:\n\ttest -f new.txt\ntest: check\n\tmkdir dist\n\techo tested >dist/out\n",
		}, map[string]string{"new.txt": "new\n"})
		d := c.validate(t)
		if got, want := ends(d), "passed: passed make lint, passed make check, passed make test"; got != want {
			t.Errorf("got %s, want %s: %+v", got, want, d)
		}
		if got := *d.Commands[0].Stdout; got != "***\n" {
			t.Errorf("printed %q", got)
		}
		write(t, c.workspace(), map[string]string{"Makefile": "lint:\n\ttrue\ncheck:\n\t@echo wrong >&2; exit 3\ntest:\n\ttrue\n"})
		c.run(t, "diff", "--json")
		d = c.validate(t)
		if got, want := ends(d), "failed: passed make lint, failed make check, passed make test"; got != want || !d.BlocksPR ||
			*d.Commands[1].ExitCode != 2 || !strings.HasPrefix(*d.Commands[1].Stderr, "wrong\n") {
			t.Errorf("got %s, want %s: %+v", got, want, d)
		}
	})

	t.Run("text alone", func(t *testing.T) {
		c := contribute(t, `{"images": {"git": "`+programImage(t, "foreman-e2e-git:test", "git")+`"}}`, map[string]string{
			"README.md": "a\n",
		}, map[string]string{"new.md": "a new file\n"})
		d := c.validate(t)
		if got, want := ends(d), "passed: passed git diff --check"; got != want {
			t.Errorf("got %s, want %s: %+v", got, want, d)
		}
		// New files and commits are part of the patch too.
		write(t, c.workspace(), map[string]string{"new.md": "a space at the end \n"})
		c.run(t, "diff", "--json")
		if got, want := ends(c.validate(t)), "failed: failed git diff --check"; got != want {
			t.Errorf("a new file: got %s, want %s", got, want)
		}
		output(t, c.workspace(), "git", "add", "--all")
		output(t, c.workspace(), "git", "-c", "user.name=A", "-c", "user.email=a@example.com", "commit", "-q", "-m", "more")
		c.run(t, "diff", "--json")
		d = c.validate(t)
		if got, want := ends(d), "failed: failed git diff --check"; got != want || !strings.Contains(*d.Commands[0].Stdout, "new.md:1: trailing whitespace") {
			t.Errorf("a commit: got %s, want %s: %+v", got, want, d)
		}
	})

	t.Run("timeout", func(t *testing.T) {
		c := contribute(t, `{"commandTimeoutSeconds": 3, "images": {"make": "`+makeImage(t)+`"}}`, map[string]string{
			"Makefile": "check:\n\t@echo before; sleep 600\ntest:\n\ttrue\n",
		}, map[string]string{"new.txt": "new\n"})
		d := c.validate(t)
		if got, want := ends(d), "failed: failed make check, passed make test"; got != want || *d.Commands[0].ExitCode != 124 ||
			*d.Commands[0].Stdout != "before\n" || !strings.Contains(d.Commands[0].Reason, "timed out after 3s") {
			t.Errorf("got %s, want %s: %+v", got, want, d)
		}
	})

	t.Run("image that is nowhere", func(t *testing.T) {
		c := contribute(t, `{"images": {"make": "localhost:1/none:none"}}`, map[string]string{"Makefile": "test:\n\ttrue\n"}, map[string]string{"a": "b\n"})
		d := c.validate(t)
		if got, want := ends(d), "blocked: blocked make test"; got != want || !d.RequiresHumanApproval {
			t.Errorf("got %s, want %s: %+v", got, want, d)
		}
	})
}
