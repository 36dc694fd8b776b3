//go:build unix

package publish_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/coding/build"
	"github.com/org/foreman-action/internal/coding/build/process"
	"github.com/org/foreman-action/internal/coding/build/publish"
	"github.com/org/foreman-action/internal/coding/git"
	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/internal/testkit/programtest"
	"github.com/org/foreman-action/internal/testkit/ramdir"
	"github.com/org/foreman-action/triage"
)

const token = "ghs_0123456789abcdefSECRET"

var basic = base64.StdEncoding.EncodeToString([]byte("x-access-token:" + token))

// argvLog is the path of a file with the arguments of every git command that the tests start.
var argvLog string

// TestMain runs the tests. The test binary also serves as the supervisor of agents. In place of
// git, a script runs that logs its arguments and calls git.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "supervise" {
		os.Exit(process.Supervise(os.Stderr, os.Args[2:]))
	}
	// The tests mostly wait for other processes, so more of them run in parallel than there are CPUs.
	_ = flag.Set("test.parallel", "8")
	os.Exit(ramdir.Tests{M: tests{m}, Setenv: os.Setenv}.Run())
}

type tests struct{ m *testing.M }

func (t tests) Run() int {
	dir, err := os.MkdirTemp("", "publish-test-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	argvLog = filepath.Join(dir, "argv")
	if git, err := exec.LookPath("git"); err == nil {
		script := "#!/bin/sh\nprintf '%s\\n' \"$*\" >>'" + argvLog + "'\nexec '" + git + "' \"$@\"\n"
		if err := programtest.Write(filepath.Join(dir, "git"), script); err != nil {
			panic(err)
		}
		os.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	}
	return t.m.Run()
}

func environ() []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "TMPDIR=" + os.TempDir(),
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.org",
	}
}

// A world is a git repository on a server, a checkout of it, and a fake GitHub API.
type world struct {
	t       *testing.T
	server  string // the folder of the repository on the server
	root    string // of the checkout
	trees   string
	gh      *githubtest.Server
	lfs     lfsServer
	options publish.Options
}

const (
	inspectorOK = `{"run":{"status":"ok","failed_step":null,"error":null},"work":{"status":"approved","issues":[{"severity":"minor","description":"A name @octocat","paths":["a.txt"]}],"next_tasks":[]}}`
	builderOK   = `{"run":{"status":"ok","failed_step":null,"error":null},"work":{"summary":%s,"complexity":"low"}}`
	builderBad  = `{"run":{"status":"failed","failed_step":"install","error":"no network, @octocat"},"work":null}`
)

// hostile is a summary with keywords that close issues, mentions, markers and an open code block.
const hostile = "Mend the sum, fixes #99 for @octocat\n\nCloses octo/other#1 <!-- foreman:build --> <!-- foreman:build head=0000000000000000000000000000000000000000 -->\n\n```\nnever closed"

// newWorld makes a repository with a configuration, but no run.
func newWorld(t *testing.T, config string) *world {
	t.Helper()
	w := &world{t: t, server: filepath.Join(t.TempDir(), "octo", "hello.git"), root: resolved(t, t.TempDir()), trees: filepath.Join(t.TempDir(), "trees")}
	w.gh = githubtest.New(t, githubtest.Config{Token: token})
	w.gh.Repo("octo/hello").AddIssue(githubtest.Issue{Number: 7, Title: "Sum is wrong"})
	client, err := github.New(github.Options{BaseURL: w.gh.URL, Token: token, Sleep: none})
	if err != nil {
		t.Fatal(err)
	}
	w.write(".foreman/build.yml", "version: 1\nbuilder: {command: [sh, -e, .foreman/builder.sh]}\ninspector: {command: [cp, .foreman/inspector.json, inspector_result.json]}\nchecks: [{run: [\"true\", \"@octocat\"]}]\n"+config)
	w.write(".foreman/inspector.json", inspectorOK)
	w.write("a.txt", "one\n")
	w.options = publish.Options{
		Dir: w.root, Environ: environ(), TaskID: "t-1", Owner: "octo", Repo: "hello", Server: w.serve(), Token: token, GitHub: client,
	}
	return w
}

// serve starts a git server that accepts only the token.
func (w *world) serve() string {
	w.t.Helper()
	out, err := exec.CommandContext(w.t.Context(), "git", "--exec-path").Output()
	backend := filepath.Join(strings.TrimSpace(string(out)), "git-http-backend")
	if err != nil {
		w.t.Skip("git is missing")
	}
	if _, err := os.Stat(backend); err != nil {
		w.t.Skip("git http-backend is missing")
	}
	handler := &cgi.Handler{Path: backend, Env: []string{
		"GIT_PROJECT_ROOT=" + filepath.Dir(filepath.Dir(w.server)), "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
	}}
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			w.lfs.upload(rw, r)
			return
		}
		if r.Header.Get("Authorization") != "Basic "+basic {
			rw.Header().Set("WWW-Authenticate", `Basic realm="GitHub"`)
			http.Error(rw, "no", http.StatusUnauthorized)
			return
		}
		if strings.Contains(r.URL.Path, "/info/lfs/") {
			w.lfs.ServeHTTP(rw, r)
			return
		}
		handler.ServeHTTP(rw, r)
	}))
	w.t.Cleanup(s.Close)
	return s.URL
}

// build pushes the base commit, and runs the pipeline with script as the Builder. The Builder
// returns result.
func (w *world) build(script, result string) build.Report {
	w.t.Helper()
	w.write(".foreman/builder.sh", script+"\ncp .foreman/result.json builder_result.json\n")
	w.write(".foreman/result.json", result)
	w.sh("git init -q -b main . && git add -A && git commit -qm first")
	w.sh("mkdir -p " + w.server + " && git init -q --bare -b main " + w.server + " && git -C " + w.server + " config http.receivepack true && git push -q " + w.server + " main")
	return w.again()
}

// again runs the pipeline once more; a stored run must have been removed before.
func (w *world) again() build.Report {
	w.t.Helper()
	bundle := filepath.Join(w.root, ".foreman", "runs", "change.bundle")
	report, err := build.Run(w.t.Context(), build.Options{
		Dir: w.root, Environ: w.options.Environ, TaskID: "t-1", Prompt: "Mend it", Source: "prompt", State: w.trees, Bundle: bundle,
		Runner: process.Runner{Supervisor: []string{"env", programtest.RaceDetector(os.Getenv), os.Args[0], "supervise"}, Now: time.Now}, Now: time.Now, Mark: func() string { return "=====mark" },
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return report
}

// change makes an approved run. If another world with the same configuration has one, change
// copies it.
func (w *world) change() build.Report {
	w.t.Helper()
	config := w.sh("cat .foreman/build.yml")
	made.Lock()
	defer made.Unlock()
	kept := filepath.Join(filepath.Dir(argvLog), base64.RawURLEncoding.EncodeToString([]byte(config[len(config)-min(len(config), 60):])))
	if _, err := os.Stat(kept); err != nil {
		report := w.approved()
		w.sh("mkdir -p " + kept + " && cp -a . " + kept + "/root && cp -a " + w.server + " " + kept + "/server")
		return report
	}
	w.sh("cp -a " + kept + "/root/. . && mkdir -p " + filepath.Dir(w.server) + " && cp -a " + kept + "/server " + w.server)
	var report build.Report
	if err := json.Unmarshal([]byte(w.sh("cat .foreman/runs/t-1/report.json")), &report); err != nil {
		w.t.Fatal(err)
	}
	return report
}

// made guards the copies of worlds.
var made sync.Mutex

func (w *world) approved() build.Report {
	w.t.Helper()
	summary, err := json.Marshal(hostile)
	if err != nil {
		w.t.Fatal(err)
	}
	return w.build("echo two >> a.txt", fmt.Sprintf(builderOK, summary))
}

func (w *world) write(name, text string) {
	w.t.Helper()
	path := filepath.Join(w.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) sh(script string) string {
	w.t.Helper()
	cmd := exec.CommandContext(w.t.Context(), "sh", "-e", "-c", script)
	cmd.Dir, cmd.Env = w.root, environ()
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return strings.TrimSpace(string(out))
}

// publish publishes the run, and checks the status and the codes of the errors.
func (w *world) publish(status publish.Status, codes ...string) publish.Result {
	w.t.Helper()
	result, err := publish.Run(w.t.Context(), w.options)
	if err != nil {
		w.t.Fatal(err)
	}
	var got []string
	for _, p := range result.Errors {
		got = append(got, p.Code)
	}
	if result.Status != status || strings.Join(got, " ") != strings.Join(codes, " ") {
		w.t.Fatalf("got %s %v, want %s %v", result.Status, result.Errors, status, codes)
	}
	if want := map[publish.Status]int{publish.Published: 0, publish.Reported: 0, publish.Refused: 7, publish.Incomplete: 1, publish.Failed: 9}[status]; result.ExitCode() != want {
		w.t.Errorf("exit code %d, want %d", result.ExitCode(), want)
	}
	w.secret(fmt.Sprint(result))
	return result
}

// secret checks that no file, no logged argument and not text contains the token.
func (w *world) secret(text string) {
	w.t.Helper()
	argv, err := os.ReadFile(argvLog)
	if err != nil || !strings.Contains(string(argv), "ls-remote") && strings.Contains(text, "published") {
		w.t.Fatalf("the log of git's arguments: %v", err)
	}
	places := map[string]string{"the result": text, "the arguments of git": string(argv)}
	for _, dir := range []string{w.root, filepath.Dir(w.server)} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			data, err := os.ReadFile(path)
			places[path] = string(data)
			return err
		})
		if err != nil {
			w.t.Fatal(err)
		}
	}
	for _, pull := range w.pulls() {
		places["pull request"] = pull.Title + pull.Body
	}
	for where, content := range places {
		if strings.Contains(content, token) || strings.Contains(content, basic) {
			w.t.Errorf("the token is in %s", where)
		}
	}
}

// pulls returns the pull requests on GitHub.
func (w *world) pulls() []githubtest.Issue {
	var all []githubtest.Issue
	for n := 1; n < 20; n++ {
		if i := w.gh.Issue("octo/hello", n); i.PullRequest {
			all = append(all, i)
		}
	}
	return all
}

// pushed returns the commit of the branch on the server, or "" if there is none.
func (w *world) pushed() string {
	return w.sh("git -C " + w.server + " for-each-ref --format='%(objectname)' refs/heads/foreman/t-1")
}

// branches returns every ref on the server.
func (w *world) branches() string {
	return w.sh("git -C " + w.server + " for-each-ref --format='%(refname)'")
}

func resolved(t *testing.T, dir string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestPublished(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	report := w.change()
	w.options.Issue = &triage.Ref{Owner: "octo", Repo: "hello", Number: 7}
	result := w.publish(publish.Published)
	if got := w.pushed(); got != report.HeadSHA {
		t.Errorf("the branch is at %q, want %s", got, report.HeadSHA)
	}
	pulls := w.pulls()
	if len(pulls) != 1 || !pulls[0].Draft || pulls[0].Head != "foreman/t-1" || pulls[0].Base != "main" {
		t.Fatalf("got %+v, want a draft", pulls)
	}
	if asked := w.lfs.batches(); len(asked) != 0 {
		t.Errorf("without pointers the LFS server was asked: %v", asked)
	}
	pull := pulls[0]
	if result.PRURL == nil || *result.PRURL != fmt.Sprintf("https://github.com/octo/hello/pull/%d", pull.Number) {
		t.Errorf("got the address %v", result.PRURL)
	}
	if stored := w.sh("cat .foreman/runs/t-1/report.json"); !strings.Contains(stored, *result.PRURL) {
		t.Errorf("the report has no address: %s", stored)
	}
	for _, want := range []string{"The Inspector approved", "1 round", "check true", "minor: A name", "\n\nCloses #7\n\n", "head=" + report.HeadSHA} {
		if !strings.Contains(pull.Body, want) {
			t.Errorf("no %q in %s", want, pull.Body)
		}
	}
	comments := w.gh.Issue("octo/hello", 7).Comments
	if len(comments) != 1 || !strings.Contains(comments[0].Body, *result.PRURL) || result.CommentURL == nil {
		t.Fatalf("got the comments %+v", comments)
	}
	message := w.sh("git log -1 --format=%B foreman/t-1")
	for where, text := range map[string]string{"title": pull.Title, "body": pull.Body, "comment": comments[0].Body, "commit": message} {
		for _, bad := range []string{"#99", "@octocat", "octo/other#1", "head=0000"} {
			if strings.Contains(text, bad) && bad != "head=0000" || strings.Contains(text, "<!-- foreman:build "+bad) {
				t.Errorf("the %s has %q: %s", where, bad, text)
			}
		}
	}
	if strings.Count(comments[0].Body, "<!-- foreman") != 1 || strings.Count(pull.Body, "<!-- foreman") != 1 {
		t.Errorf("want one marker in each: %s\n%s", comments[0].Body, pull.Body)
	}
}

// TestAgain publishes a run twice, and then a second run of the same task. There is only one pull
// request and one comment.
func TestAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "publish: {draft: false}\n")
	w.change()
	w.options.Issue = &triage.Ref{Owner: "octo", Repo: "hello", Number: 7}
	first := w.publish(publish.Published)
	w.publish(publish.Published)
	w.sh("rm -r .foreman/runs && git branch -qD foreman/t-1 && git commit -q --allow-empty -m other && git push -q " + w.server + " main")
	report := w.again()
	second := w.publish(publish.Published)
	if *first.PRURL != *second.PRURL || len(w.pulls()) != 1 || len(w.gh.Issue("octo/hello", 7).Comments) != 1 || w.pulls()[0].Draft {
		t.Errorf("got %+v and %+v", w.pulls(), w.gh.Issue("octo/hello", 7).Comments)
	}
	if w.pushed() != report.HeadSHA {
		t.Errorf("the second run was not pushed")
	}
	// A person pushes to the branch. Publishing a further run must not overwrite this commit.
	w.sh("git checkout -q foreman/t-1 && git commit -q --allow-empty -m mine && git push -q " + w.server + " foreman/t-1 && git checkout -q main")
	theirs := w.pushed()
	w.sh("rm -r .foreman/runs && git branch -qD foreman/t-1 && git commit -q --allow-empty -m more && git push -q " + w.server + " main")
	w.again()
	if r := w.publish(publish.Failed, "push"); w.pushed() != theirs || !strings.Contains(r.Errors[0].Message, "commits of another run or of people") {
		t.Errorf("got %v", r.Errors)
	}
}

// TestGitHubFails makes a call of the API fail, and then publishes again.
func TestGitHubFails(t *testing.T) {
	t.Parallel()
	const pulls = "/repos/octo/hello/pulls"
	tests := []struct {
		name   string
		faults []githubtest.Fault
		want   string
	}{
		{"permission", []githubtest.Fault{{Method: "POST", Path: pulls, Status: 403, Body: `{"message":"Resource not accessible by integration"}`}}, "pull-requests: write"},
		{"setting", []githubtest.Fault{{Method: "POST", Path: pulls, Status: 403, Body: `{"message":"GitHub Actions is not permitted to create or approve pull requests."}`}}, "Allow GitHub Actions to create"},
		{"server error", []githubtest.Fault{{Method: "POST", Path: pulls, Status: 500}}, "publish again"},
		{"lost answer", []githubtest.Fault{
			{Method: "POST", Path: pulls, CutAfter: true}, {Method: "GET", Path: pulls, Nth: 2, Times: 3, Status: 502},
		}, "publish again"},
		{"listing", []githubtest.Fault{{Method: "GET", Path: pulls, Times: 3, Status: 502}}, "502"},
		{"drafts", []githubtest.Fault{{Method: "POST", Path: pulls, Status: 422, Body: `{"message":"Draft pull requests are not supported in this repository."}`}}, "draft: false"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "")
			report := w.change()
			for _, f := range tt.faults {
				if f.Times == 0 {
					f.Nth, f.Times = 1, 1
				}
				w.gh.Fault(f)
			}
			code := "pull_request"
			if tt.name == "listing" {
				code = "github"
			}
			r := w.publish(publish.Failed, code)
			if !strings.Contains(r.Errors[0].Message, tt.want) {
				t.Errorf("got %q, want %q in it", r.Errors[0].Message, tt.want)
			}
			if code == "pull_request" && (w.pushed() != report.HeadSHA || r.CompareURL == nil || !strings.HasSuffix(*r.CompareURL, "/octo/hello/compare/main...foreman/t-1?expand=1")) {
				t.Errorf("got the link %v", r.CompareURL)
			}
			// Without this script no agent could run, so publishing must not start one.
			w.sh("rm .foreman/builder.sh")
			w.publish(publish.Published)
			if n := len(w.pulls()); n != 1 {
				t.Errorf("got %d pull requests", n)
			}
		})
	}
}

// TestLostAnswer loses the answers that confirm the pull request and the comment. Both are found
// at once.
func TestLostAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	w.change()
	w.options.Issue = &triage.Ref{Owner: "octo", Repo: "hello", Number: 7}
	w.gh.Fault(githubtest.Fault{Method: "POST", Path: "/repos/octo/hello/pulls", CutAfter: true, Times: 1})
	w.gh.Fault(githubtest.Fault{Method: "POST", Path: "/repos/octo/hello/issues/7/comments", CutAfter: true, Times: 1})
	w.publish(publish.Published)
	if len(w.pulls()) != 1 || len(w.gh.Issue("octo/hello", 7).Comments) != 1 {
		t.Errorf("got %+v", w.pulls())
	}
}

func TestPushRejected(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, hook, want string }{
		{"workflows", "refusing to allow a GitHub App to create or update workflow x.yml without workflows permission", "workflows: write"},
		{"other", "the branch is frozen " + token + " " + basic, "the branch is frozen *** ***"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "")
			w.change()
			hook := filepath.Join(w.server, "hooks", "pre-receive")
			if err := programtest.Write(hook, "#!/bin/sh\necho '"+strings.ReplaceAll(tt.hook, token+" "+basic, "'\"$(cat "+w.secretFile()+")\"'")+"' >&2\nexit 1\n"); err != nil {
				t.Fatal(err)
			}
			r := w.publish(publish.Failed, "push")
			if !strings.Contains(r.Errors[0].Message, tt.want) || len(w.pulls()) != 0 || r.CompareURL != nil {
				t.Errorf("got %+v", r)
			}
		})
	}
	t.Run("wrong token", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, "")
		w.change()
		w.options.Token = "wrong-" + "token"
		if r := w.publish(publish.Failed, "git"); !strings.Contains(r.Errors[0].Message, "contents: read") || strings.Contains(r.Errors[0].Message, w.options.Token) {
			t.Errorf("got %v", r.Errors)
		}
	})
}

// secretFile writes the token to a file that secret does not search.
func (w *world) secretFile() string {
	name := filepath.Join(w.t.TempDir(), "secret")
	if err := os.WriteFile(name, []byte(token+" "+basic), 0o600); err != nil {
		w.t.Fatal(err)
	}
	return name
}

// forge runs a script on the branch of an approved run, and changes the report to match. An agent
// that can write the files of the run could do this, too.
func (w *world) forge(script string) {
	w.t.Helper()
	old := w.change().HeadSHA
	w.sh("git checkout -q foreman/t-1")
	w.sh(script)
	head := w.sh("git rev-parse HEAD")
	w.sh("git checkout -q -f main && sed -i.old s/" + old + "/" + head + "/ .foreman/runs/t-1/report.json .foreman/runs/t-1/state.json && git bundle create -q " +
		filepath.Join(w.root, ".foreman", "runs", "change.bundle") + " --all ^main")
}

func TestRefused(t *testing.T) {
	t.Parallel()
	const commit = " && git add -A && git commit -qm x"
	tests := []struct {
		name, script, config string
		codes                []string
	}{
		{"protected", "mkdir -p .github/workflows && echo x > .github/workflows/x.yml" + commit, "", []string{"protected"}},
		{"protected in another case", "echo x > agents.md" + commit, "", []string{"protected"}},
		{"protected and taken back", "echo x > CLAUDE.md" + commit + " && git rm -q CLAUDE.md && git commit -qm y", "", []string{"protected"}},
		{"the change cannot allow itself", "sed -i.old '$d' .foreman/build.yml" + commit, "publish: {protected: [a.txt, .foreman/**]}\n", []string{"protected", "protected", "protected"}},
		{"handoff file", "echo x > builder_result.json" + commit, "", []string{"handoff_file"}},
		{"link out of the tree", "ln -s ../../etc/passwd l" + commit, "", []string{"symlink"}},
		{"link through a link", "mkdir -p a/b && ln -s ../.. a/b/up && ln -s up/../x a/b/l" + commit, "", []string{"symlink"}},
		{"absolute link", "ln -s /etc/passwd l" + commit, "", []string{"symlink"}},
		{"submodule", "git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),sub && git commit -qm x", "", []string{"submodule"}},
		{"in a merge", "git checkout -q -b side main && echo x > AGENTS.md" + commit + " && git checkout -q foreman/t-1 && git merge -q --no-edit side && git branch -qD side", "", []string{"protected"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, tt.config)
			w.forge(tt.script)
			w.publish(publish.Refused, tt.codes...)
			if w.pushed() != "" || len(w.pulls()) != 0 {
				t.Error("it was published")
			}
		})
	}
	t.Run("a submodule that is allowed, a link in the tree", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, "publish: {submodules: true}\n")
		w.forge("mkdir d && ln -s ../a.txt d/l && git add d && git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),sub && git commit -qm x")
		w.publish(publish.Published)
	})
}

// TestProtectedNow publishes changes that the base commit allows, but not the branches on GitHub now.
func TestProtectedNow(t *testing.T) {
	t.Parallel()
	const (
		weak   = "publish: {protected: [x], submodules: true}\n"
		change = "echo x > AGENTS.md && git add -A && git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),sub && git commit -qm x"
		trunk  = "git checkout -q -b trunk && "
		strict = "sed -i.old '$d' .foreman/build.yml && git commit -qam now"
		both   = "protected submodule"
	)
	w := newWorld(t, weak)
	w.forge(change)
	base := w.sh("git rev-parse main")
	for _, tt := range []struct {
		name, now, head string // head: the default branch
		status          publish.Status
		codes, want     string
	}{
		{"as in the base commit", "git commit -q --allow-empty -m now", "main", publish.Published, "", ""},
		{"the base branch protects more", strict, "main", publish.Refused, both, "publish.protected of the branch main on GitHub: **/AGENTS.md"},
		{"the base branch protects less than the base commit", "sed -i.old 's/.x., submodules: true/[y]/' .foreman/build.yml && git commit -qam now", "main", publish.Refused, "submodule", "publish.submodules of the branch main on GitHub"},
		{"the base branch has no configuration", "git rm -q .foreman/build.yml && git commit -qm now", "main", publish.Refused, both, "**/AGENTS.md"},
		{"the base branch has an invalid one", "echo 'versoin: 1' >> .foreman/build.yml && git commit -qam now", "main", publish.Failed, "configuration", "the configuration of the branch main on GitHub is invalid: correct it there"},
		{"the base branch has a link", "ln -sf inspector.json .foreman/build.yml && git commit -qam now", "main", publish.Failed, "configuration", "not a regular file"},
		{"the default branch protects more", trunk + strict, "trunk", publish.Refused, both, "publish.protected of the branch trunk on GitHub"},
		{"the default branch has no configuration", trunk + "git rm -q .foreman/build.yml && git commit -qm now", "trunk", publish.Refused, both, "of the branch trunk on GitHub"},
		{"the default branch has an invalid one", trunk + "echo x > .foreman/build.yml && git commit -qam now", "trunk", publish.Failed, "configuration", "the branch trunk on GitHub is invalid"},
		{"another branch protects more", trunk + strict, "main", publish.Published, "", ""},
		{"there is no default branch", "true", "gone", publish.Published, "", ""},
	} {
		w.sh(tt.now + "; git push -q " + w.server + " HEAD && git -C " + w.server + " symbolic-ref HEAD refs/heads/" + tt.head)
		r := w.publish(tt.status, strings.Fields(tt.codes)...)
		if tt.status != publish.Published && (!strings.Contains(r.Errors[0].Message, tt.want) || w.pushed() != "") {
			t.Errorf("%s: got %q, want %q in it", tt.name, r.Errors[0].Message, tt.want)
		}
		w.sh("git checkout -q main && git reset -q --hard " + base + " && (git branch -qD trunk || true) && cd " + w.server +
			" && git update-ref refs/heads/main " + base + " && git update-ref -d refs/heads/trunk && git update-ref -d refs/heads/foreman/t-1")
	}
}

// TestForgedObjects gives objects of the base commit another content, so that git finds nothing
// forbidden in the change.
func TestForgedObjects(t *testing.T) {
	t.Parallel()
	const replace = `file() { echo "$1" | sed 's,^..,.git/objects/&/,'; }; replace() { rm -f "$(file "$1")" && cp "$(file "$2")" "$(file "$1")"; }; `
	for _, tt := range []struct{ name, config, change, script, code string }{
		{
			"the configuration", "publish: {protected: [d/**]}\n", "echo x > d/x && git add d && git commit -qm x",
			`replace $(git rev-parse main:.foreman/build.yml) $(sed '$d' .foreman/build.yml | git hash-object -w --stdin)`, "base",
		},
		{
			"a folder of the configuration", "publish: {protected: [d/**]}\n", "echo x > d/x && git add d && git commit -qm x",
			`sed -i.old '$d' .foreman/build.yml && git add .foreman && replace $(git rev-parse main:.foreman) $(git write-tree --prefix=.foreman/)`, "base",
		},
		{
			"a folder", "publish: {protected: [d/x]}\n", "echo x > d/x && git add d && git commit -qm x",
			`replace $(git rev-parse main:d) $(git rev-parse foreman/t-1:d)`, "git",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, tt.config)
			w.write("d/y", "y\n")
			w.forge(tt.change)
			w.sh(replace + tt.script)
			r := w.publish(publish.Failed, tt.code)
			if !strings.Contains(r.Errors[0].Message, git.ErrForged.Error()) || w.pushed() != "" {
				t.Errorf("got %v", r.Errors)
			}
		})
	}
}

func TestNotThis(t *testing.T) {
	t.Parallel()
	t.Run("branch moved", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, "")
		w.change()
		w.sh("git checkout -q foreman/t-1 && git commit -q --allow-empty -m x && git checkout -q main")
		w.publish(publish.Failed, "moved")
	})
	t.Run("base of the agent's own", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, "")
		w.forge("true")
		base := w.sh("git rev-parse main")
		own := w.sh("git checkout -q main && sed -i.old '$d' a.txt && git commit -qam own && git rev-parse HEAD && git reset -q --hard HEAD~")
		w.sh("sed -i.old s/" + base + "/" + own + "/ .foreman/runs/t-1/report.json .foreman/runs/t-1/state.json")
		w.publish(publish.Failed, "base")
	})
	t.Run("not approved", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, "")
		w.build("true", builderBad)
		if _, err := publish.Run(t.Context(), w.options); err == nil || !isUsage(err) {
			t.Errorf("got %v, want a mistake of the caller", err)
		}
		w.options.Issue = &triage.Ref{Owner: "octo", Repo: "hello", Number: 7}
		w.gh.Repo("octo/hello").AddComment(7, "mallory", "<!-- foreman:build -->")
		w.publish(publish.Reported)
		w.publish(publish.Reported)
		comments := w.gh.Issue("octo/hello", 7).Comments
		if len(comments) != 2 || comments[0].Body != "<!-- foreman:build -->" || !strings.Contains(comments[1].Body, "The run failed (agent failed)") || strings.Contains(comments[1].Body, "@octocat") {
			t.Errorf("got %+v", comments)
		}
		if w.pushed() != "" || len(w.pulls()) != 0 {
			t.Error("it was published")
		}
	})
	t.Run("no run", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, "")
		w.change()
		w.options.TaskID = "t-2"
		if _, err := publish.Run(t.Context(), w.options); !isUsage(err) {
			t.Errorf("got %v", err)
		}
	})
	for name, tt := range map[string]struct{ script, want string }{
		"a report of another run":  {`sed -i.old 's/"status": "approved"/"status": "failed"/' .foreman/runs/t-1/report.json`, "are of different runs"},
		"a report of another task": {`sed -i.old 's/"task_id": "t-1"/"task_id": "t-2"/' .foreman/runs/t-1/report.json`, "of the task \"t-2\""},
		"another branch":           {`sed -i.old 's,foreman/t-1,main,' .foreman/runs/t-1/report.json .foreman/runs/t-1/state.json`, "on the branch \"main\""},
		"an option for a commit":   {`sed -i.old -E 's,"head_sha": "[^"]*","head_sha": "--output=x",' .foreman/runs/t-1/report.json .foreman/runs/t-1/state.json`, "two commit hashes"},
		"a newer version":          {`sed -i.old 's/"version": 1/"version": 2/' .foreman/runs/t-1/report.json`, "unsupported version 2 (want 1)"},
		"no JSON":                  {`echo x > .foreman/runs/t-1/report.json`, "read the report"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "")
			w.change()
			w.sh(tt.script)
			if _, err := publish.Run(t.Context(), w.options); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q in it", err, tt.want)
			}
		})
	}
	for base, want := range map[string]string{
		"--upload-pack=x y": "the run started from --upload-pack=x y, not from a branch: start a new run with --base BRANCH",
		"":                  "the run started from a detached HEAD, not from a branch: start a new run with --base BRANCH",
		"0123456789abcdef0123456789abcdef01234567": "the run started from 0123456789abcdef0123456789abcdef01234567, which is not a branch on GitHub: push the branch, or start a new run with --base BRANCH",
	} {
		t.Run("a base that is no branch: "+base, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "")
			w.change()
			w.sh(`sed -i.old 's/"base_branch": "main"/"base_branch": "` + base + `"/' .foreman/runs/t-1/report.json .foreman/runs/t-1/state.json`)
			if r := w.publish(publish.Failed, "base"); r.Errors[0].Message != want {
				t.Errorf("got %q, want %q", r.Errors[0].Message, want)
			}
		})
	}
}

func isUsage(err error) bool {
	_, ok := errors.AsType[*build.UsageError](err)
	return ok
}

// TestBundle publishes from a second checkout, which has nothing but main and the files that a workflow
// passes on.
func TestBundle(t *testing.T) {
	t.Parallel()
	second := func(t *testing.T, w *world) {
		t.Helper()
		other := resolved(t, t.TempDir())
		w.sh("rm -rf " + w.trees + " && git clone -q " + w.server + " " + other + " && mkdir -p " + other + "/.foreman/runs/t-1 && cp .foreman/runs/change.bundle " + other +
			"/.foreman/runs/ && cp .foreman/runs/t-1/report.json .foreman/runs/t-1/state.json " + other + "/.foreman/runs/t-1/ && grep -q '\"version\": 2' .foreman/runs/t-1/state.json")
		w.root, w.options.Dir = other, other
		w.options.Bundle = filepath.Join(other, ".foreman", "runs", "change.bundle")
	}
	t.Run("published", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, "")
		report := w.change()
		second(t, w)
		w.publish(publish.Published)
		if w.pushed() != report.HeadSHA {
			t.Error("it was not pushed")
		}
	})
	t.Run("refs of its own", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, "")
		w.forge("git commit -q --allow-empty -m x && git tag v1 && git branch other && git update-ref refs/heads/main2 HEAD")
		second(t, w)
		before := w.sh("git for-each-ref")
		w.publish(publish.Published)
		if got := w.branches(); got != "refs/heads/foreman/t-1\nrefs/heads/main" {
			t.Errorf("on the server: %s", got)
		}
		if after := w.sh("git for-each-ref"); after != before {
			t.Errorf("in the checkout: %s, want %s", after, before)
		}
	})
	t.Run("protected", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, "")
		w.forge("echo x > AGENTS.md && git add -A && git commit -qm x")
		second(t, w)
		w.publish(publish.Refused, "protected")
	})
	for name, script := range map[string]string{
		"none":           "rm .foreman/runs/change.bundle",
		"a folder":       "rm .foreman/runs/change.bundle && git clone -q --bare . .foreman/runs/change.bundle",
		"a link":         "mv .foreman/runs/change.bundle b && ln -s ../../b .foreman/runs/change.bundle",
		"no bundle":      "echo x > .foreman/runs/change.bundle",
		"cut":            "head -c 300 .foreman/runs/change.bundle > b && mv b .foreman/runs/change.bundle",
		"another branch": "git checkout -q -b o && git commit -q --allow-empty -m o && git bundle create -q .foreman/runs/change.bundle o ^main",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "")
			w.change()
			second(t, w)
			w.sh(script)
			w.publish(publish.Failed, "bundle")
			if w.pushed() != "" {
				t.Error("it was pushed")
			}
		})
	}
	t.Run("another commit", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, "")
		w.change()
		second(t, w)
		w.sh("git checkout -q -b foreman/t-1 && git commit -q --allow-empty -m o && git bundle create -q .foreman/runs/change.bundle foreman/t-1 ^main && git checkout -q main")
		w.publish(publish.Failed, "moved")
	})
	t.Run("shallow", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, "")
		w.change()
		w.sh("git commit -q --allow-empty -m x && git push -q " + w.server + " main")
		other := resolved(t, t.TempDir())
		w.sh("git clone -q --depth 1 file://" + w.server + " " + other + " && cp -r .foreman/runs " + other + "/.foreman/")
		w.options.Dir = other
		if r := w.publish(publish.Failed, "base"); !strings.Contains(r.Errors[0].Message, "fetch-depth: 0") {
			t.Errorf("got %v", r.Errors)
		}
	})
}

// TestHostileConfiguration publishes from a checkout whose git configuration redirects git to
// another server and names programs.
func TestHostileConfiguration(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	w.change()
	w.sh("mkdir -p h && printf '#!/bin/sh\\ntouch " + w.root + "/ran\\n' > h/pre-push && chmod +x h/pre-push && git config core.hooksPath h && git config url.http://127.0.0.1:1/.insteadOf " + w.options.Server +
		"/ && git config http.proxy http://127.0.0.1:1 && git config credential.helper '!touch " + w.root + "/ran; false' && git config remote.origin.url x")
	w.publish(publish.Published)
	if _, err := os.Stat(filepath.Join(w.root, "ran")); err == nil {
		t.Error("a program of the configuration ran")
	}
}

// none is a sleep function that does not wait.
func none(ctx context.Context, _ time.Duration) error { return ctx.Err() }
