package actions_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

const (
	mib  = 1 << 20
	note = "\n\n_Cut here: GitHub shows at most 1 MiB of a job summary._\n"
)

func TestAddSummary(t *testing.T) {
	t.Parallel()
	r, step := newRuntime(t)
	for _, text := range []string{"# One", "two\n", "not UTF-8: \xff"} {
		if err := r.Files.AddSummary(text); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := step.Summary(), "# One\ntwo\n\nnot UTF-8: \uFFFD\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	checkLog(t, step, "")
}

func TestAddSummaryClips(t *testing.T) {
	t.Parallel()
	line := strings.Repeat("x", 1023) + "\n"
	tests := []struct {
		name, before, text string
		wantEnd            string
		wantWhole          bool
	}{
		{name: "fits exactly", text: strings.Repeat(line, 1024)[:mib-1], wantWhole: true},
		{name: "one byte more", text: strings.Repeat(line, 1024)[:mib-1] + "y", wantEnd: line + note},
		{name: "what is there counts", before: strings.Repeat(line, 1023), text: "short\n" + line, wantEnd: "\nshort\n" + note},
		{name: "open code block is closed", text: "````go\n```\n" + strings.Repeat(line, 1025), wantEnd: line + "````\n" + note},
		{name: "room for the closing fence", text: "```\n" + strings.Repeat("\n", mib), wantEnd: "\n```\n" + note},
		{name: "tildes", text: "~~~\n" + strings.Repeat(line, 1025), wantEnd: line + "~~~\n" + note},
		{name: "closed code block stays closed", text: "```\nx\n```\n" + strings.Repeat(line, 1025), wantEnd: line + note},
		{name: "tildes do not close backticks", text: "```\n~~~\n" + strings.Repeat(line, 1025), wantEnd: line + "```\n" + note},
		{name: "text behind the closing fence", text: "```\n``` go\n" + strings.Repeat(line, 1025), wantEnd: line + "```\n" + note},
		{name: "inline code opens nothing", text: "```x```\n" + strings.Repeat(line, 1025), wantEnd: line + note},
		{name: "indented opens nothing", text: "    ```\n" + strings.Repeat(line, 1025), wantEnd: line + note},
		{name: "two backticks open nothing", text: "``\n" + strings.Repeat(line, 1025), wantEnd: line + note},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, step := newRuntime(t)
			writeFile(t, step.Getenv("GITHUB_STEP_SUMMARY"), tt.before)
			if err := r.Files.AddSummary(tt.text); err != nil {
				t.Fatal(err)
			}
			got := step.Summary()
			if len(got) > mib {
				t.Errorf("got %d bytes, want at most %d", len(got), mib)
			}
			if tt.wantWhole && got != tt.text+"\n" {
				t.Errorf("got %d bytes, want the %d of the text", len(got), len(tt.text)+1)
			}
			if !strings.HasSuffix(got, tt.wantEnd) {
				t.Errorf("got the end %q, want %q", got[max(0, len(got)-200):], tt.wantEnd)
			}
		})
	}
}

func TestAddSummaryErrors(t *testing.T) {
	t.Parallel()
	t.Run("full", func(t *testing.T) {
		t.Parallel()
		r, step := newRuntime(t)
		full := strings.Repeat("x", mib-10)
		writeFile(t, step.Getenv("GITHUB_STEP_SUMMARY"), full)
		checkError(t, r.Files.AddSummary("more text than fits"), "add to the job summary: not even its first line fits into GitHub's limit of 1 MiB")
		if step.Summary() != full {
			t.Error("the summary changed")
		}
	})
	t.Run("one line that does not fit", func(t *testing.T) {
		t.Parallel()
		r, _ := newRuntime(t)
		checkError(t, r.Files.AddSummary(strings.Repeat("x", mib)), "not even its first line fits")
	})
	t.Run("missing", func(t *testing.T) {
		t.Parallel()
		r, step := newRuntime(t)
		step.Setenv("GITHUB_STEP_SUMMARY", filepath.Join(t.TempDir(), "gone"))
		checkError(t, r.Files.AddSummary("x"), syscall.ENOENT.Error())
	})
	t.Run("a folder", func(t *testing.T) {
		t.Parallel()
		r, step := newRuntime(t)
		step.Setenv("GITHUB_STEP_SUMMARY", t.TempDir())
		checkError(t, r.Files.AddSummary("x"), "is a directory")
	})
}

func TestAddSummaryWithoutFile(t *testing.T) {
	t.Parallel()
	r, step := newLocal(t, true)
	if err := r.Files.AddSummary("x"); err != nil {
		t.Error(err)
	}
	checkLog(t, step, "debug: the job summary is dropped: GITHUB_STEP_SUMMARY is not set\n")
}
