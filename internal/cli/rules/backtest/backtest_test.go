package backtest

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/backtest"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/evidence"
	"github.com/org/foreman-action/internal/github/githubtest"
)

func TestCacheDir(t *testing.T) {
	t.Parallel()
	disk := filepath.VolumeName(t.TempDir()) // empty except on Windows
	tests := []struct {
		env  map[string]string
		want string
	}{
		{nil, ""},
		{map[string]string{"HOME": disk + "/home/me"}, disk + "/home/me/.cache/foreman"},
		{map[string]string{"HOME": disk + "/home/me", "XDG_CACHE_HOME": disk + "/cache"}, disk + "/cache/foreman"},
		{map[string]string{"HOME": disk + "/home/me", "LOCALAPPDATA": disk + "/local"}, disk + "/local/foreman"},
		{map[string]string{"HOME": "home", "XDG_CACHE_HOME": "cache"}, ""},
	}
	for _, tt := range tests {
		got := cacheDir(func(name string) string { return tt.env[name] })
		if got != filepath.FromSlash(tt.want) {
			t.Errorf("%v: got %q, want %q", tt.env, got, tt.want)
		}
	}
}

// TestProgress checks the bar on a terminal, and the occasional lines elsewhere.
func TestProgress(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		terminal bool
		want     string
	}{
		{"plain", false, "1000 of about 2500 issues, 400 timelines read\n2100 of about 2500 issues, 900 timelines read\n"},
		{
			"terminal", true,
			"\r[..............................] 0 of about 0 issues, 0 timelines\x1b[K" +
				"\r[############..................] 1000 of about 2500 issues, 400 timelines\x1b[K" +
				"\r[##############################] 2500 of about 2500 issues, 1 timeline\x1b[K" +
				"\r\x1b[K",
		},
	}
	for _, tt := range tests {
		var out bytes.Buffer
		clock := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
		p := progress{env: process.Env{Stderr: &out, Terminal: tt.terminal, Now: func() time.Time { return clock }}}
		for _, at := range []struct {
			backtest.Progress
			after time.Duration
		}{
			{backtest.Progress{}, 0},
			{backtest.Progress{Replayed: 900, About: 2500, Timelines: 300}, time.Millisecond},
			{backtest.Progress{Replayed: 1000, About: 2500, Timelines: 400}, time.Second},
			{backtest.Progress{Replayed: 1001, About: 2500, Timelines: 401}, time.Millisecond},
			{backtest.Progress{Replayed: 2100, About: 2500, Timelines: 900}, time.Millisecond},
			{backtest.Progress{Replayed: 2500, About: 2500, Timelines: 1}, time.Second},
		} {
			clock = clock.Add(at.after)
			p.show(at.Progress)
		}
		p.end()
		if diff := cmp.Diff(tt.want, out.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// TestBacktestInterrupted reports the issues replayed so far, and reads the rest in the next
// run.
func TestBacktestInterrupted(t *testing.T) {
	t.Parallel()
	gh := githubtest.New(t, githubtest.Config{Token: "s3cret-token"})
	repo := gh.Repo("octo-org/widgets")
	for n := 1; n <= 3; n++ {
		repo.AddIssue(githubtest.Issue{Number: n, Title: "panic"})
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "rules.yml"), []byte("version: 1\nrules:\n  - {id: a, on: issues.opened, then: [{add_label: docs}]}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	backtest := func(ctx context.Context) (code int, stdout, stderr string) {
		var out, errs bytes.Buffer
		env := map[string]string{"GITHUB_TOKEN": "s3cret-token", "GITHUB_API_URL": gh.URL}
		o := process.Env{Dir: dir, Getenv: func(name string) string { return env[name] }, Stdout: &out, Stderr: &errs}.Complete()
		c := Command(o)
		c.SetArgs([]string{"octo-org/widgets", "rules.yml", "--cache", "cache"})
		code = command.ExitCode(c.ExecuteContext(ctx))
		return code, out.String(), errs.String()
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	reached := make(chan struct{})
	gh.Fault(githubtest.Fault{Path: "/repos/*/*/issues/1/timeline", Reached: reached, Hold: make(chan struct{})})
	go func() {
		<-reached
		cancel(errors.New("a signal"))
	}()
	code, out, errs := backtest(ctx)
	if code != command.ExitFailed || !strings.HasPrefix(out, "octo-org/widgets: 2 issues replayed") ||
		!strings.Contains(errs, "stopped after 2 of about 3 issues: interrupted; run it again to continue") {
		t.Fatalf("code %d\n%s\n%s", code, out, errs)
	}
	gh.ClearFaults()
	gh.ResetCalls()
	code, out, errs = backtest(t.Context())
	if code != command.ExitOK || !strings.HasPrefix(out, "octo-org/widgets: 3 issues replayed") {
		t.Fatalf("code %d\n%s\n%s", code, out, errs)
	}
	if diff := cmp.Diff([]string{"GET /repos/octo-org/widgets/issues/1/timeline 200"}, gh.Log()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

// TestWriteEvidence writes what people did with the labels of the rules, for the repository and the rules
// of the replay. An interrupted replay writes none.
func TestWriteEvidence(t *testing.T) {
	t.Parallel()
	gh := githubtest.New(t, githubtest.Config{Token: "s3cret-token"})
	repo := gh.Repo("octo-org/widgets").AddLabel("docs", "bug").AddUser("mona")
	for n := 1; n <= 4; n++ {
		repo.AddIssue(githubtest.Issue{Number: n, Title: "panic", Author: "ann"})
	}
	repo.LabelAs("mona", 1, "docs")
	repo.LabelAs("github-actions[bot]", 2, "docs")
	repo.LabelAs("ann", 3, "docs")
	repo.LabelAs("mona", 4, "bug")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "rules.yml"), []byte("version: 1\nrules:\n  - {id: a, on: issues.opened, then: [{add_label: Docs}]}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(ctx context.Context, args ...string) (code int, stdout, stderr string) {
		var out, errs bytes.Buffer
		env := map[string]string{"GITHUB_TOKEN": "s3cret-token", "GITHUB_API_URL": gh.URL}
		o := process.Env{Dir: dir, Getenv: func(name string) string { return env[name] }, Stdout: &out, Stderr: &errs}.Complete()
		c := Command(o)
		c.SetArgs(append([]string{"octo-org/widgets", "rules.yml", "--cache", "", "--write-evidence"}, args...))
		return command.ExitCode(c.ExecuteContext(ctx)), out.String(), errs.String()
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if code, _, _ := run(stopped, "early.json"); code == command.ExitOK {
		t.Errorf("an interrupted replay has exit code %d", code)
	}
	if _, err := os.Stat(filepath.Join(dir, "early.json")); err == nil {
		t.Error("an interrupted replay wrote evidence")
	}
	if code, _, stderr := run(t.Context(), "x.json", "-o", "x.json"); code != command.ExitUsage {
		t.Errorf("one file for both: exit code %d: %s", code, stderr)
	}
	code, stdout, stderr := run(t.Context(), "evidence.json")
	if code != command.ExitOK || !strings.Contains(stdout, "octo-org/widgets: 4 issues replayed") {
		t.Fatalf("exit code %d:\n%s%s", code, stdout, stderr)
	}
	data, err := os.ReadFile(filepath.Join(dir, "evidence.json"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := evidence.Decode(data, "Octo-Org/Widgets")
	if err != nil || len(f.Pairs) != 1 {
		t.Fatalf("%v:\n%s", err, data)
	}
	p := f.Pairs[0]
	want := evidence.Pair{Digest: p.Digest, Action: "add_label", Value: "docs", Judged: 2, Kept: 1}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
