package action

import (
	"archive/zip"
	"bytes"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/actions/results/resultstest"
	"github.com/org/foreman-action/internal/agenttest"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/memory/file"
	"github.com/org/foreman-action/protocol"
)

// TestMemoryInActions checks that the agent of a second run, on a fresh machine, receives the
// actions of the first run from an artifact or a cache entry.
func TestMemoryInActions(t *testing.T) {
	t.Parallel()
	for _, store := range []string{"artifact", "cache"} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			service := resultstest.New(t, resultstest.Config{})
			var told []string
			ag := agenttest.New(t, func(task protocol.TaskMessage) agenttest.Answer {
				told = append(told, orNull(task.Context.MemorySummary))
				item, err := protocol.NewAction(protocol.ActionAddLabel, map[string]any{"label": "docs"})
				if err != nil {
					t.Error(err)
				}
				return agenttest.Decide(protocol.LabelAndRespond, "a label is missing", item)
			})
			for run := range 2 {
				s := newStep(t)
				s.memoryIn(t, service, store, run)
				s.SetInput("agent-url", ag.URL)
				if code := s.run(t.Context()); code != command.ExitOK {
					t.Fatalf("run %d: exit code %d:\n%s", run, code, s.Log())
				}
				if strings.Contains(s.Log(), "::warning") {
					t.Errorf("run %d:\n%s", run, s.Log())
				}
			}
			if len(told) != 2 || told[0] != "null" || !strings.Contains(told[1], "docs") {
				t.Errorf("the agent was told %q", told)
			}
		})
	}
}

func orNull(s *string) string {
	if s == nil {
		return "null"
	}
	return *s
}

// memoryIn connects the step to the results service.
func (s *stepRun) memoryIn(t *testing.T, service *resultstest.Server, store string, run int) {
	t.Helper()
	event := strings.Replace(issueOpened, `"full_name": "octo-org/widgets"`,
		`"full_name": "`+service.Repo()+`", "default_branch": "`+service.Branch()+`"`, 1)
	if run > 0 {
		event = strings.Replace(event, `"opened"`, `"reopened"`, 1)
	}
	s.SetEvent("issues", []byte(event))
	s.gh.Repo(service.Repo()).AddLabel("docs").AddIssue(githubtest.Issue{Number: 7})
	s.SetInput("memory", store)
	front := service.Front(s.gh)
	t.Cleanup(front.Close)
	s.Setenv("GITHUB_API_URL", front.URL)
	s.Setenv("GITHUB_REPOSITORY", service.Repo())
	s.Setenv("GITHUB_REPOSITORY_ID", strconv.FormatInt(service.RepositoryID(), 10))
	s.Setenv("GITHUB_RUN_ID", strconv.Itoa(100+run))
	s.Setenv("ACTIONS_RESULTS_URL", service.URL+"/")
	s.Setenv("ACTIONS_RUNTIME_TOKEN", service.RuntimeToken(resultstest.Job{Run: int64(100 + run)}))
}

// TestMemoryDenied continues without memory, and names the missing permission.
func TestMemoryDenied(t *testing.T) {
	t.Parallel()
	s := newStep(t)
	s.gh.Repo("octo-org/widgets").AddFile(".github/foreman.yml", labelRule)
	s.SetInput("memory", "cache")
	if code := s.run(t.Context()); code != command.ExitOK {
		t.Fatalf("exit code %d:\n%s", code, s.Log())
	}
	s.wantLog(t, "::warning", "memory", "applied")
}

// zipped returns the zip of an artifact with one file.
func zipped(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create("memory.json")
	if err == nil {
		_, err = w.Write([]byte(text))
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestMemoryUnusable continues with the issue's timeline instead of the record, and logs the
// reason.
func TestMemoryUnusable(t *testing.T) {
	t.Parallel()
	const name = "foreman-memory-i7"
	artifact := func(text string) func(*testing.T, *resultstest.Server) {
		return func(t *testing.T, s *resultstest.Server) {
			t.Helper()
			s.Add(resultstest.Artifact{Name: name, Zip: zipped(t, text)})
		}
	}
	tests := []struct {
		name string
		set  func(*testing.T, *resultstest.Server)
		want []string // in the log
	}{
		{"reading denied", func(_ *testing.T, s *resultstest.Server) { s.Deny(resultstest.ActionsRead, true) },
			[]string{"::warning", "`actions: read`", "timeline"}},
		{"saving denied", func(_ *testing.T, s *resultstest.Server) { s.Deny(resultstest.ArtifactWrite, true) },
			[]string{"::warning", "denied", "not saved"}},
		{"truncated", artifact(`{"schema": 1, "repo`), []string{"::warning", "truncated", "timeline"}},
		{"a bomb", artifact(strings.Repeat(" ", 20<<20)), []string{"::warning", "larger than", "timeline"}},
		{"of another issue", artifact(`{"schema": 1, "repo": "org/repo", "issue": 8, "revision": 1, "tasks": []}`),
			[]string{"::warning", "not of org/repo#7", "timeline"}},
		{"of another repository", artifact(`{"schema": 1, "repo": "org/other", "issue": 7, "revision": 1, "tasks": []}`),
			[]string{"::warning", "not of org/repo#7", "timeline"}},
		{"newer", artifact(`{"schema": 99}`), []string{"::warning", "newer version", "timeline"}},
		{"expired", func(t *testing.T, s *resultstest.Server) {
			t.Helper()
			s.Add(resultstest.Artifact{Name: name, Zip: zipped(t, "{}"), Expired: true})
		}, nil},
		{"of a fork", func(t *testing.T, s *resultstest.Server) {
			t.Helper()
			s.Add(resultstest.Artifact{Name: name, Zip: zipped(t, "{}"), HeadRepositoryID: 66})
		}, []string{"::warning", "untrusted", "fork"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			service := resultstest.New(t, resultstest.Config{})
			tt.set(t, service)
			var told []string
			ag := agenttest.New(t, func(task protocol.TaskMessage) agenttest.Answer {
				told = append(told, orNull(task.Context.MemorySummary))
				item, err := protocol.NewAction(protocol.ActionAddLabel, map[string]any{"label": "docs"})
				if err != nil {
					t.Error(err)
				}
				return agenttest.Decide(protocol.LabelAndRespond, "a label is missing", item)
			})
			s := newStep(t)
			s.memoryIn(t, service, "artifact", 1)
			repo := s.gh.Repo(service.Repo()).LabelAs("github-actions[bot]", 7, "bug")
			repo.AddComment(7, "mallory", "x\n\n<!-- foreman:v1 task=a3f8c2d1-4b5e-4f6a-8c9d-0e1f2a3b4c5d comment=0 -->")
			s.SetInput("agent-url", ag.URL)
			if code := s.run(t.Context()); code != command.ExitOK {
				t.Fatalf("exit code %d:\n%s", code, s.Log())
			}
			if len(told) != 1 || !strings.Contains(told[0], "labelled 'bug'") || strings.Contains(told[0], "commented") {
				t.Errorf("the agent was told %q", told)
			}
			if !slices.Contains(s.gh.Issue(service.Repo(), 7).Labels, "docs") {
				t.Error("the decision was not carried out")
			}
			if strings.Contains(s.Log(), "::warning") != (tt.want != nil) {
				t.Errorf("log:\n%s", s.Log())
			}
			s.wantLog(t, tt.want...)
		})
	}
}

// TestMemoryRulesOnly records the actions of rules. Without a configured memory it does not
// warn of a missing permission.
func TestMemoryRulesOnly(t *testing.T) {
	t.Parallel()
	for _, denied := range []bool{false, true} {
		service := resultstest.New(t, resultstest.Config{})
		service.Deny(resultstest.ActionsRead, denied)
		s := newStep(t)
		s.memoryIn(t, service, "artifact", 0)
		s.gh.Repo(service.Repo()).AddFile(".github/foreman.yml", labelRule)
		if code := s.run(t.Context()); code != command.ExitOK {
			t.Fatalf("exit code %d:\n%s", code, s.Log())
		}
		if strings.Contains(s.Log(), "::warning") {
			t.Errorf("denied %v:\n%s", denied, s.Log())
		}
		list := service.Artifacts()
		if denied {
			s.wantLog(t, "`actions: read`", "not saved")
			continue
		}
		if len(list) != 1 || list[0].Name != "foreman-memory-i7" {
			t.Fatalf("got artifacts %+v", list)
		}
		z, err := zip.NewReader(bytes.NewReader(list[0].Zip), int64(len(list[0].Zip)))
		if err != nil {
			t.Fatal(err)
		}
		f, err := z.Open("memory.json")
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if _, err := b.ReadFrom(f); err != nil {
			t.Fatal(err)
		}
		r, err := memory.Decode(b.Bytes(), service.Repo(), 7)
		if err != nil || len(r.Tasks) != 1 || r.Tasks[0].Actions[0].Rule != "a" || r.Tasks[0].Actions[0].Hash == "" {
			t.Errorf("got %+v, %v", r, err)
		}
	}
}

// TestAgentInRecord records the agent by its name, or by the host of its address, and with its model.
func TestAgentInRecord(t *testing.T) {
	t.Parallel()
	for config, want := range map[string]string{
		"version: 1\n": "agent:127.0.0.1",
		"version: 1\nagent: {name: Triage}\nllm: {provider: anthropic, model: m-1}\n": "agent:triage@anthropic/m-1",
	} {
		ag := agenttest.New(t, func(protocol.TaskMessage) agenttest.Answer {
			item, err := protocol.NewAction(protocol.ActionAddLabel, map[string]any{"label": "docs"})
			if err != nil {
				t.Error(err)
			}
			return agenttest.Decide(protocol.LabelAndRespond, "a label is missing", item)
		})
		s := newStep(t)
		s.SetEvent("issues", []byte(issueOpened))
		dir := filepath.Join(t.TempDir(), "memory")
		s.gh.Repo("octo-org/widgets").AddFile(".github/foreman.yml", config).AddLabel("docs")
		for name, value := range map[string]string{"agent-url": ag.URL, "memory": "file", "memory-path": dir} {
			s.SetInput(name, value)
		}
		if code := s.run(t.Context()); code != command.ExitOK {
			t.Fatalf("exit code %d:\n%s", code, s.Log())
		}
		store, err := file.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		r, err := store.Load(t.Context(), "octo-org/widgets", 7)
		if err != nil || len(r.Tasks) != 1 || len(r.Tasks[0].Actions) != 1 || r.Tasks[0].Actions[0].Pair != want {
			t.Errorf("%s: got %+v, %v, want %s", config, r.Tasks, err, want)
		}
	}
}
