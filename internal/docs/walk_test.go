package docs_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/docs"
	"github.com/org/foreman-action/internal/testkit/freeport"
	"github.com/org/foreman-action/internal/testkit/programtest"
)

// TestWalk runs the commands of each page in order, and compares their output with the page. It
// runs them in a new folder with the files that the page shows.
func TestWalk(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"bash", "curl", "git", "openssl"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is needed, and not installed", name)
		}
	}
	bin := programs(t)
	each(t, func(t *testing.T, name string, src []byte, page docs.Page) {
		w := walk{dir: t.TempDir(), bin: bin, repo: absolute(t, root)}
		if w.write(name, page) == 0 {
			return
		}
		outputs := w.run(t)
		changed := src
		for i := len(page.Blocks) - 1; i >= 0; i-- {
			want, got := page.Blocks[i], outputs[i]
			if !compared(want) || got == want.Text {
				continue
			}
			if *update {
				changed = want.Replace(changed, got)
				continue
			}
			t.Errorf("%s shows something else; go test ./internal/docs -update rewrites it (-page +now):\n%s", at(name, want), cmp.Diff(want.Text, got))
		}
		if *update && !bytes.Equal(changed, src) {
			if err := os.WriteFile(filepath.Join(root, name), changed, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestGuides checks that the guides are complete: each has commands, and shows their output.
func TestGuides(t *testing.T) {
	t.Parallel()
	guides := 0
	for name, src := range pages(t) {
		if !strings.HasPrefix(name, "docs/guides/") {
			continue
		}
		guides++
		runs, shows := 0, 0
		for _, b := range docs.Parse(src).Blocks {
			if runnable(b) {
				runs++
			}
			if compared(b) && b.Text != "" {
				shows++
			}
		}
		if runs < 3 || shows < 2 {
			t.Errorf("%s: %d blocks of commands and %d outputs", name, runs, shows)
		}
	}
	if guides != 4 {
		t.Errorf("%d guides, want one for each kind of user", guides)
	}
}

// runnable reports whether TestWalk runs the commands of a block.
func runnable(b docs.Block) bool {
	return b.Lang == "sh" && (b.Marker == "" || b.Marker == emptyFolder)
}

const emptyFolder = "in an empty folder"

// compared reports whether a block shows the output of the block before it.
func compared(b docs.Block) bool { return b.Marker == "output" || issueMarker.MatchString(b.Marker) }

var issueMarker = regexp.MustCompile(`^(issue|comment) (\d+): (.*)$`)

// issueCommand returns the command whose output a block with the marker shows.
func issueCommand(m []string) string {
	program := "workflow-run"
	if m[1] == "comment" {
		program = "workflow-comment"
	}
	args := []string{program, m[2]}
	for arg := range strings.SplitSeq(m[3], " | ") {
		args = append(args, quote(arg))
	}
	return strings.Join(args, " ")
}

// A walk is the script of one page.
type walk struct {
	dir, bin, repo string
	script         strings.Builder
	blocks         int
}

// write writes the script of a page, and returns the number of its blocks with commands.
func (w *walk) write(name string, page docs.Page) (runs int) {
	w.blocks = len(page.Blocks)
	for i, b := range page.Blocks {
		fmt.Fprintf(&w.script, "echo '# %s' >&2\n", at(name, b))
		m := issueMarker.FindStringSubmatch(b.Marker)
		switch {
		case m != nil:
			runs++
			fmt.Fprintf(&w.script, "printf '\\036%d\\n'\n%s\n", i, issueCommand(m))
		case runnable(b):
			runs++
			// The next block shows the output, if it is a block of output.
			shown := i
			if i+1 < len(page.Blocks) && compared(page.Blocks[i+1]) {
				shown = i + 1
			}
			text := b.Text
			if b.Marker == emptyFolder {
				text = "(cd \"$(mktemp -d)\"\n" + text + ")\n"
			}
			fmt.Fprintf(&w.script, "printf '\\036%d\\n'\n%s", shown, text)
		case b.File() != "" && b.Marker != "output":
			file := quote(b.File())
			fmt.Fprintf(&w.script, "mkdir -p \"$(dirname %s)\"\ncat >%s <<'END-OF-FILE'\n%sEND-OF-FILE\n", file, file, b.Text)
		}
	}
	return runs
}

// quote returns s quoted for the shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// run runs the script without any environment variable that could contain a token. It returns the
// outputs by the index of the block that shows them. The processes that the script started end
// with the script.
func (w *walk) run(t *testing.T) []string {
	t.Helper()
	there, back := ports(t)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	// Modules come from this machine's cache, and this module comes from this checkout.
	const prologue = `
trap 'jobs=$(jobs -p); [[ -z $jobs ]] || kill $jobs; wait' EXIT
go() {
	if [[ $1 == get ]]; then
		local module=${2%@*}
		cp "$REPO/go.sum" .
		command go mod edit -require="$module@v0.0.0" -replace="$module=$REPO"
		return
	fi
	command go "$@"
}
`
	cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", prologue+there.Replace(w.script.String()))
	cmd.Dir = w.dir
	cmd.Env = []string{
		"PATH=" + w.bin + ":" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "REPO=" + w.repo, "TMPDIR=" + t.TempDir(),
		"GOFLAGS=-mod=mod", "GOPROXY=off", "GOSUMDB=off", "GOWORK=off", "GOTOOLCHAIN=local",
		programtest.RaceDetector(os.Getenv),
	}
	for _, name := range []string{"GOCACHE", "GOMODCACHE"} {
		out, err := exec.CommandContext(ctx, "go", "env", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		cmd.Env = append(cmd.Env, name+"="+strings.TrimSpace(string(out)))
	}
	programtest.KillChildren(cmd)
	cmd.WaitDelay = 10 * time.Second
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s\n%s", err, out.String(), errs.String())
	}
	outputs := make([]string, w.blocks)
	for part := range strings.SplitSeq(back.Replace(out.String()), "\036") {
		head, text, _ := strings.Cut(part, "\n")
		if i, err := strconv.Atoi(head); err == nil {
			outputs[i] = steady(text)
		}
	}
	return outputs
}

// steady replaces values that differ between two runs with fixed ones.
func steady(text string) string {
	for _, r := range []struct{ pattern, with string }{
		{`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}`, "6d7f9341-0fa1-4d27-89a1-b39e2fa36712"},
		{`20\d\d-\d\d-\d\d \d\d:\d\d:\d\d`, "2026-05-01 09:30:00"},
		{`\bon 20\d\d-\d\d-\d\d\b`, "on 2026-05-01"},
		{`run=[A-Z2-7]{26}`, "run=…"},
	} {
		text = regexp.MustCompile(r.pattern).ReplaceAllString(text, r.with)
	}
	return text
}

// ports returns two replacers. there replaces the ports on the pages with free ports, and back
// reverses that.
func ports(t *testing.T) (there, back *strings.Replacer) {
	t.Helper()
	var to, fro []string
	for _, port := range []string{"8000", "9001"} {
		free, err := freeport.Find(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		n := strconv.Itoa(int(free.Port()))
		to, fro = append(to, ":"+port, ":"+n), append(fro, ":"+n, ":"+port)
		if port == "8000" {
			to = append(to, "foremand serve", "foremand serve --port "+n)
		} else {
			to = append(to, "https://agent.example.org", "http://127.0.0.1:"+n)
		}
	}
	return strings.NewReplacer(to...), strings.NewReplacer(fro...)
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	abs, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return abs
}
