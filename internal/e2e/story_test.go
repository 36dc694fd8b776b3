package e2e

import (
	"bytes"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/actions/results/resultstest"
	"github.com/org/foreman-action/internal/agenttest"
	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/protocol"
)

// TestStory runs the image several times for one issue. Each run has a new container, so it starts
// without files of earlier runs. The test checks the summary that the agent receives in each run.
func TestStory(t *testing.T) {
	needEngine(t)
	build(t)
	host := bridge(t)

	t.Run("artifact", func(t *testing.T) { artifactStory(t, host) })
	t.Run("cache", func(t *testing.T) { cacheStory(t, host) })
}

// The summaries that the agent receives, with DATE in place of dates. Only the record of the
// memory contains who asked for an action; the timeline does not.
const (
	remembered = "Issue #1: labelled 'documentation', commented on DATE (agent); " + people
	rebuilt    = "Issue #1: labelled 'documentation', commented on DATE; " + people
	people     = "a human took off the label 'documentation', closed as 'completed', reopened on DATE. No further actions."
)

// artifactStory uses artifacts, the default memory in action.yml.
func artifactStory(t *testing.T, host string) {
	w := newWorld(t, host)

	first := w.run("opened", nil)
	w.wantTold("null")
	w.wantIssue("bug", "documentation")
	w.wantQuiet(first)
	// Before the decision is carried out, only the timeline is read, because another workflow may
	// have commented. The list of artifacts shows whether another run has stored a record of the
	// issue meanwhile.
	w.wantCalls(
		"GET contents/.github/foreman.yml",
		"POST agent/task",
		"GET issues/1/timeline",
		"GET labels/documentation",
		"POST issues/1/labels",
		"POST issues/1/comments",
		"GET actions/artifacts",
	)
	w.wantArtifacts(1)

	w.meanwhile()
	second := w.run("reopened", nil)
	w.wantTold(remembered)
	w.wantIssue("bug")
	w.wantQuiet(second)
	w.wantRefused(second, "mona removed it", "comment_interval is 24h")
	w.wantArtifacts(2)

	w.service.Deny(resultstest.ActionsRead, true)
	third := w.run("reopened", nil)
	w.wantTold(rebuilt)
	w.wantIssue("bug")
	if list := warnings(third); len(list) != 1 || !strings.Contains(list[0], "`actions: read`") {
		t.Errorf("got the warnings %q, want one that names `actions: read`\n%s", list, third.Log())
	}
	w.wantRefused(third, "mona removed it", "comment_interval is 24h")
	w.wantArtifacts(2)
}

// cacheStory uses the cache of a GitHub Enterprise Server.
func cacheStory(t *testing.T, host string) {
	w := newWorld(t, host)
	set := func(s *step) {
		s.SetInput("memory", "cache")
		s.Setenv("GITHUB_SERVER_URL", "https://github.example.com")
		s.Setenv("ACTIONS_CACHE_URL", w.service.URL+"/")
		s.Setenv("ACTIONS_RESULTS_URL", "")
	}
	w.wantQuiet(w.run("opened", set))
	w.wantTold("null")
	w.meanwhile()
	w.wantQuiet(w.run("reopened", set))
	w.wantTold(remembered)
	w.wantIssue("bug")
	w.wantArtifacts(0)
	if list := w.service.Caches(); len(list) != 2 {
		t.Errorf("got %d cache entries, want one of each run", len(list))
	}
}

// A world contains the servers that all runs of a story use: a fake GitHub with its results
// service, and an agent. Containers can reach them. The agent always makes the same decision.
type world struct {
	t        *testing.T
	gh       *githubtest.Server
	service  *resultstest.Server
	agent    *agenttest.Server
	api, ask string // the addresses of GitHub and the agent
	runs     int64

	mu    sync.Mutex
	calls []string // calls to api and ask in the last run, in order
}

const (
	repoID   = 186853002 // of the repository in the event
	branch   = "master"
	firstRun = 9000000001
)

func newWorld(t *testing.T, host string) *world {
	t.Helper()
	w := &world{
		t:  t,
		gh: githubtest.New(t, githubtest.Config{Addr: host + ":0", Token: token}),
		service: resultstest.New(t, resultstest.Config{
			Addr: host + ":0", Repo: repo, RepositoryID: repoID, Branch: branch,
		}),
		agent: agenttest.New(t, func(protocol.TaskMessage) agenttest.Answer {
			return agenttest.Decide(protocol.LabelAndRespond, "a typo",
				action(t, protocol.ActionAddLabel, "label", "documentation"),
				action(t, protocol.ActionComment, "body", "Thanks, a pull request is welcome."))
		}),
	}
	// The first labels of the issue are old, so that the summary does not list them as changes since
	// the first run.
	w.gh.Repo(repo).AddLabel("bug", "documentation").AddIssue(githubtest.Issue{
		Number: number, Title: title, Author: author, Labels: []string{"bug"}, CreatedAt: time.Now().Add(-time.Hour),
	})
	front := w.service.Front(w.gh)
	t.Cleanup(front.Close)
	w.api = w.serve(host, "", front.Config.Handler)
	loopback, err := url.Parse(w.agent.URL)
	if err != nil {
		t.Fatal(err)
	}
	w.ask = w.serve(host, "agent", httputil.NewSingleHostReverseProxy(loopback))
	return w
}

func action(t *testing.T, typ, key, value string) protocol.ActionItem {
	t.Helper()
	item, err := protocol.NewAction(typ, map[string]any{key: value})
	if err != nil {
		t.Fatal(err)
	}
	return item
}

// serve starts a server on host, records its calls, and returns its address.
func (w *world) serve(host, name string, h http.Handler) string {
	w.t.Helper()
	l, err := net.Listen("tcp", host+":0")
	if err != nil {
		w.t.Fatal(err)
	}
	note := func(rw http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		path := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/repos/"+repo), "/")
		w.calls = append(w.calls, r.Method+" "+strings.TrimPrefix(name+"/"+path, "/"))
		w.mu.Unlock()
		h.ServeHTTP(rw, r)
	}
	server := &httptest.Server{Listener: l, Config: &http.Server{Handler: http.HandlerFunc(note), ReadHeaderTimeout: time.Minute}}
	server.Start()
	w.t.Cleanup(server.Close)
	return server.URL
}

// run runs the workflow on an event of the issue, which must succeed. If set is not nil, it
// changes the step before the start.
func (w *world) run(action string, set func(*step)) *step {
	w.t.Helper()
	run := firstRun + w.runs
	w.runs++
	runtime := w.service.RuntimeToken(resultstest.Job{Run: run})
	s := newStep(w.t, w.api, "")
	s.setEvent(payload(w.t, action))
	s.SetInput("memory", "artifact") // the runner sets the default of action.yml
	s.SetInput("agent-url", w.ask)
	s.Setenv("GITHUB_REPOSITORY_ID", strconv.Itoa(repoID))
	s.Setenv("GITHUB_RUN_ID", strconv.FormatInt(run, 10))
	s.Setenv("ACTIONS_RESULTS_URL", w.service.URL+"/")
	s.Setenv("ACTIONS_RUNTIME_TOKEN", runtime)
	if set != nil {
		set(s)
	}
	w.mu.Lock()
	w.calls = nil
	w.mu.Unlock()
	if code := s.run(); code != 0 {
		w.t.Fatalf("run %d: got exit code %d, want 0\n%s", w.runs, code, s.Log())
	}
	s.Untouched()
	w.wantHidden(s, token, runtime, "s/ecret", url.QueryEscape("s/ecret"))
	for _, dir := range []string{s.Getenv("GITHUB_WORKSPACE"), s.Getenv("HOME"), s.Getenv("RUNNER_TEMP")} {
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			w.t.Errorf("run %d: got %v, %v in %s, want nothing left there", w.runs, left, err, dir)
		}
	}
	return s
}

// payload returns the payload of the event, with another action.
func payload(t *testing.T, action string) []byte {
	t.Helper()
	was, is := []byte(`"action": "opened"`), []byte(`"action": "`+action+`"`)
	data := opened(t)
	if !bytes.Contains(data, was) {
		t.Fatalf("%s: there is no %s", event, was)
	}
	return bytes.Replace(data, was, is, 1)
}

// meanwhile makes a person remove the label, and close and reopen the issue. It advances GitHub's
// clock by a minute first, because GitHub's times are less precise than those of the machine that
// runs the job.
func (w *world) meanwhile() {
	w.gh.Advance(time.Minute)
	w.gh.Repo(repo).UnlabelAs("mona", number, "documentation").
		CloseAs("mona", number, "completed").ReopenAs("mona", number)
}

var aDate = regexp.MustCompile(`\d{4}-\d\d-\d\d`)

// wantTold checks the summary that the agent received in the last run, and that each run asked it
// once.
func (w *world) wantTold(want string) {
	w.t.Helper()
	list := w.agent.Requests()
	if len(list) != int(w.runs) {
		w.t.Fatalf("the agent was asked %d times in %d runs", len(list), w.runs)
	}
	var task struct {
		Context struct {
			Summary json.RawMessage `json:"memory_summary"`
		} `json:"context"`
	}
	if err := json.Unmarshal(list[len(list)-1].Body, &task); err != nil {
		w.t.Fatal(err)
	}
	var text string
	if err := json.Unmarshal(task.Context.Summary, &text); err != nil || text == "" {
		text = string(task.Context.Summary)
	}
	if got := aDate.ReplaceAllString(text, "DATE"); got != want {
		w.t.Errorf("run %d: the agent was told\n%s\nwant\n%s", w.runs, got, want)
	}
}

// wantIssue checks the labels, and that the only comment is the one of the first run.
func (w *world) wantIssue(labels ...string) {
	w.t.Helper()
	issue := w.gh.Issue(repo, number)
	if !slices.Equal(issue.Labels, labels) {
		w.t.Errorf("run %d: got the labels %q, want %q", w.runs, issue.Labels, labels)
	}
	if n := len(issue.Comments); n != 1 || !strings.Contains(issue.Comments[0].Body, " -->\n\nThanks, a pull request") {
		w.t.Errorf("run %d: got the comments %+v, want one", w.runs, issue.Comments)
	}
}

func (w *world) wantCalls(want ...string) {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if diff := cmp.Diff(want, w.calls); diff != "" {
		w.t.Errorf("run %d: calls (-want +got):\n%s", w.runs, diff)
	}
}

// wantArtifacts checks that each of the first n runs stored an artifact, and no other run did.
func (w *world) wantArtifacts(n int) {
	w.t.Helper()
	type kept struct {
		Name string
		Run  int64
	}
	var got, want []kept
	for _, a := range w.service.Artifacts() {
		got = append(got, kept{a.Name, a.Run})
	}
	for i := range n {
		want = append(want, kept{"foreman-memory-i" + strconv.Itoa(number), firstRun + int64(i)})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		w.t.Errorf("run %d: artifacts (-want +got):\n%s", w.runs, diff)
	}
}

func warnings(s *step) []string {
	var list []string
	for _, c := range s.Commands() {
		if c.Name == "warning" || c.Name == "error" {
			list = append(list, c.Data)
		}
	}
	return list
}

func (w *world) wantQuiet(s *step) {
	w.t.Helper()
	if list := warnings(s); len(list) > 0 {
		w.t.Errorf("run %d: got the warnings %q, want none", w.runs, list)
	}
}

// wantRefused checks that a run wrote nothing, and the reason for each action.
func (w *world) wantRefused(s *step, reasons ...string) {
	w.t.Helper()
	outputs := s.Outputs()
	if outputs["status"] != "skipped" || outputs["executed"] != "0" {
		w.t.Errorf("run %d: got the outputs %q, want status skipped", w.runs, outputs)
	}
	var list []struct{ Reason string }
	if err := json.Unmarshal([]byte(outputs["actions"]), &list); err != nil || len(list) != len(reasons) {
		w.t.Fatalf("run %d: got the actions %s, %v, want %d", w.runs, outputs["actions"], err, len(reasons))
	}
	for i, want := range reasons {
		if !strings.Contains(list[i].Reason, want) {
			w.t.Errorf("run %d: action %d: got the reason %q, want %q in it", w.runs, i, list[i].Reason, want)
		}
	}
}

// wantHidden checks that the log and the summary contain no secret. It ignores add-mask commands
// in the log, which hide a secret.
func (w *world) wantHidden(s *step, secrets ...string) {
	w.t.Helper()
	for line := range strings.Lines(s.Log() + s.Summary()) {
		if strings.HasPrefix(line, "::add-mask::") {
			continue
		}
		for _, secret := range secrets {
			if strings.Contains(line, secret) {
				w.t.Errorf("run %d: a secret is shown: %s", w.runs, line)
			}
		}
	}
}
