package githubtest_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/org/foreman-action/internal/github/githubtest"
)

var update = flag.Bool("update", false, "rewrite the sessions with what the fake answers")

// shown lists the fields of a response that a transcript contains.
var shown = []string{
	"message", "errors", "resource", "field", "code", "number", "title", "body", "name", "color", "description", "login", "state",
	"state_reason", "labels", "label", "assignee", "assignees", "assigner", "milestone", "type", "locked", "active_lock_reason", "user", "actor",
	"author_association", "comments", "content", "encoding", "path", "event", "lock_reason", "permission", "full_name",
	"total_count", "items", "html_url", "rename", "from", "to", "issue_type", "prev_issue_type", "default_branch", "open_issues", "closed_issues", "url", "pull_request",
	"head", "base", "ref", "changed_files", "actions_caches", "tree", "truncated", "size",
	"intent", "rationale", "confidence", "suggestions", "suggest", "value", "ignored", "ignored_reason",
}

// TestSessions plays each file's calls on a new server and compares the transcript. A file contains
// "calls", one "METHOD path [body]" per line ('#' starts a comment), and "transcript". A line that
// begins with "gh" is something other than a call, see [setting]. The server also checks the calls
// against GitHub's description.
func TestSessions(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/sessions/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("got %d sessions, %v, want some", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := play(t, furnished(t), section(t, archive, "calls"))
			if *update {
				archive.Files[1].Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(section(t, archive, "transcript"), got); diff != "" {
				t.Errorf("transcript (-want +got):\n%s", diff)
			}
		})
	}
}

func section(t *testing.T, a *txtar.Archive, name string) string {
	t.Helper()
	for _, f := range a.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	t.Fatalf("the session has no section %q", name)
	return ""
}

// furnished returns the server with which every session starts.
func furnished(t *testing.T) *githubtest.Server {
	t.Helper()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	s := githubtest.New(t, githubtest.Config{Now: func() time.Time { return now }})
	r := s.Repo("octo/hello").AddLabel("bug", "Kind/Feature").AddUser("alice", "bob").AddMilestone("v1", "v0").CloseMilestone("v0")
	r.SetPermission("root", "admin")
	r.AddIssue(githubtest.Issue{Number: 7, Title: "It breaks", Body: "Always.", Labels: []string{"bug"}})
	r.AddIssue(githubtest.Issue{Number: 8, Title: "Mend it", PullRequest: true, Author: "alice"})
	r.AddIssue(githubtest.Issue{Number: 9}).DeleteIssue(9)
	r.AddIssue(githubtest.Issue{Number: 10}).TransferIssue(10, "octo/other", 3)
	r.AddIssue(githubtest.Issue{Number: 11, State: "closed", StateReason: "completed", Author: "octo"})
	r.AddFile("README.md", "hello\n").AddFile(".github/foreman.yml", "version: 1\n").AddFile(".github/rules/a.yml", "rules: []\n")
	r.AddFileAt("refs/tags/v1", "README.md", "hi\n")
	return s
}

func play(t *testing.T, s *githubtest.Server, calls string) string {
	t.Helper()
	var b strings.Builder
	for line := range strings.Lines(calls) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if words := strings.Fields(line); words[0] == "gh" {
			b.WriteString(line + "\n" + setting(t, s, words[1:]))
			continue
		}
		method, rest, _ := strings.Cut(line, " ")
		path, body, _ := strings.Cut(rest, " ")
		status, header, answer := call(t, s, method, path, body)
		fmt.Fprintf(&b, "%s\n  %d", line, status)
		for _, h := range []string{"Link", "Location"} {
			if v := header.Get(h); v != "" {
				fmt.Fprintf(&b, " %s: %s", h, strings.ReplaceAll(v, s.URL, "SERVER"))
			}
		}
		b.WriteString("\n")
		answer = bytes.ReplaceAll(answer, []byte(s.URL), []byte("SERVER"))
		for _, l := range lines(t, answer) {
			b.WriteString("  " + l + "\n")
		}
	}
	return b.String()
}

// setting changes the server as the page of GitHub would, and returns what it prints:
// "automation LEVEL", or what happens on issue 7: "accept LOGIN KIND VALUE", "reject LOGIN KIND VALUE",
// "label LOGIN NAME", "pending".
func setting(t *testing.T, s *githubtest.Server, words []string) (out string) {
	t.Helper()
	r := s.Repo("octo/hello")
	switch words[0] {
	case "automation":
		r.SetAutomation(githubtest.Automation(strings.TrimPrefix(words[1], "off")))
	case "accept":
		r.AcceptAs(words[1], 7, words[2], words[3])
	case "reject":
		r.RejectAs(words[1], 7, words[2], words[3])
	case "label":
		r.LabelAs(words[1], 7, words[2])
	case "pending":
		for _, p := range s.Issue("octo/hello", 7).Suggestions {
			out += fmt.Sprintf("  %s %s by %s: %q %s, suggest %t\n", p.Kind, p.Value, p.By, p.Rationale, p.Confidence, p.Suggest)
		}
	default:
		t.Fatalf("unknown setting %q", words)
	}
	return out
}

func call(t *testing.T, s *githubtest.Server, method, path, body string) (int, http.Header, []byte) {
	t.Helper()
	var in io.Reader
	if body != "" {
		in = strings.NewReader(body)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, in)
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	// The connections of the default transport may break: each httptest.Server that another test
	// closes also closes the transport's idle connections.
	client := http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport:     &http.Transport{DisableKeepAlives: true},
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, answer
}

// lines renders an answer with only the fields that are shown: one line, or one for
// each item of a list.
func lines(t *testing.T, raw []byte) []string {
	t.Helper()
	if len(raw) == 0 {
		return nil
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("answer %q: %v", raw, err)
	}
	list, ok := v.([]any)
	if !ok {
		return []string{compact(t, v)}
	}
	if len(list) == 0 {
		return []string{"[]"}
	}
	var out []string
	for _, item := range list {
		out = append(out, "- "+compact(t, item))
	}
	return out
}

func compact(t *testing.T, v any) string {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(prune(v, false)); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(b.String())
}

// prune drops the fields that are not shown. It reduces nested objects to their names.
func prune(v any, inside bool) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, field := range v {
			_, list := field.([]any)
			long := k == "url" || k == "html_url" || k == "type" && !list || k == "author_association" || k == "color"
			if slices.Contains(shown, k) && (field != nil || k == "intent") && (!inside || !long) {
				out[k] = prune(field, true)
			}
		}
		return out
	case []any:
		out := []any{}
		for _, item := range v {
			out = append(out, prune(item, inside))
		}
		return out
	}
	return v
}
