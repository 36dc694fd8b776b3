package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/testkit/freeport"
	"github.com/org/foreman-action/internal/testkit/programtest"
)

// block returns the code block after a marker on a page, and its position.
func block(t *testing.T, doc, marker string) (text string, from int) {
	t.Helper()
	_, rest, ok := strings.Cut(doc, "<!-- "+marker+" -->\n```")
	_, rest, fence := strings.Cut(rest, "\n")
	text, _, ended := strings.Cut(rest, "```\n")
	if !ok || !fence || !ended {
		t.Fatalf("the page has no block marked <!-- %s -->", marker)
	}
	return text, len(doc) - len(rest)
}

// TestDocsWalk runs the commands of docs/server/try.md with other ports, and compares
// their output with the page.
func TestDocsWalk(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the commands are for the shell of Unix")
	}
	for _, name := range []string{"bash", "curl", "openssl", "go"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is needed, and not installed", name)
		}
	}
	const path = "../../docs/server/try.md"
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	doc := string(data)
	script, _ := block(t, doc, "walk")
	want, at := block(t, doc, "walk output")
	dir := t.TempDir()
	there, back := walkPorts(t)
	build(t, dir)
	for _, name := range []string{"demo/config.yaml", "demo/foreman.yml", "events/issues/opened.payload.json"} {
		data, err := os.ReadFile(filepath.Join("../../testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(dir, "testdata", name)
		if err := os.MkdirAll(filepath.Dir(to), 0o750); err != nil {
			t.Fatal(err)
		}
		if filepath.Ext(name) != ".json" {
			data = []byte(there.Replace(string(data)))
		}
		if err := os.WriteFile(to, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	script = there.Replace(strings.Replace(script, "make all\n", "", 1))
	script = strings.Replace(script, "config.yaml &", "config.yaml --port "+there.Replace("8000")+" &", 1)
	got := back.Replace(walk(t, dir, script))
	got = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}`).ReplaceAllString(got, "6d7f9341-0fa1-4d27-89a1-b39e2fa36712")
	got = regexp.MustCompile(`20\d\d-\d\d-\d\d \d\d:\d\d:\d\d`).ReplaceAllString(got, "2026-05-01 09:30:00")
	if *update {
		if err := os.WriteFile(path, []byte(doc[:at]+got+doc[at+len(want):]), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/server/try.md shows something else (-docs +now):\n%s", diff)
	}
}

// walkPorts returns a replacer of the documented ports by free ones, and a replacer for the
// reverse.
func walkPorts(t *testing.T) (there, back *strings.Replacer) {
	t.Helper()
	var to, fro []string
	for _, port := range []string{"8000", "9001"} {
		free, err := freeport.Find(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		n := strconv.Itoa(int(free.Port()))
		to, fro = append(to, port, n), append(fro, ":"+n, ":"+port)
	}
	return strings.NewReplacer(to...), strings.NewReplacer(fro...)
}

// build puts both programs into dir/bin: the test binary acts as foremand under that name.
func build(t *testing.T, dir string) {
	t.Helper()
	self, err := os.Executable()
	if err == nil {
		err = os.Mkdir(filepath.Join(dir, "bin"), 0o750)
	}
	if err == nil {
		err = os.Symlink(self, filepath.Join(dir, "bin", "foremand"))
	}
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(dir, "bin", "foreman"), "../..").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// walk runs a script in dir, without environment variables that could contain a token, and returns
// its output. Programs that the script started end with it.
func walk(t *testing.T, dir, script string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", "trap 'kill $(jobs -p) && wait' EXIT\n"+script)
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, programtest.RaceDetector(os.Getenv)}
	programtest.KillChildren(cmd)
	cmd.WaitDelay = 10 * time.Second
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s\n%s", err, out.String(), errs.String())
	}
	return out.String()
}
