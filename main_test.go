package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/org/foreman-action/internal/actions/actionstest"
	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/internal/testkit/programtest"
	"github.com/org/foreman-action/internal/testkit/ramdir"
)

var update = flag.Bool("update", false, "rewrite what the scripts expect")

func TestMain(m *testing.M) {
	// The tests mostly wait for other processes, so more of them can run in parallel.
	_ = flag.Set("test.parallel", "8")
	testscript.Main(ramdir.Tests{M: m, Setenv: os.Setenv}, map[string]func(){"foreman": main, crashProgram: crashMain, crashDatabaseProgram: crashDatabaseMain, "validate_builder_result": main, "validate_inspector_result": main})
}

// TestScripts runs every script of testdata/script against the real program and a fake GitHub. In
// addition to testscript's own commands, scripts can use these:
//
//	gh label NAME…            add labels to the repository
//	gh user LOGIN…            add people who can be assigned
//	gh team SLUG…             add teams that can review
//	gh milestone TITLE…       add open milestones
//	gh file PATH LOCAL        put a file on the default branch
//	gh file PATH LOCAL REPO REF  put a file in another repository, where only REF finds it
//	gh issue N [label=L…] [state=closed] [pr] [author=A] [title=T] [age=D]
//	gh limit N DURATION       permit N more calls, until the rate limit is reset after DURATION
//	gh fault METHOD PATH status=N|cutbefore|cutafter [nth=N] [times=N] [body=B]
//	gh delete N | gh transfer N
//	gh as LOGIN VERB N [ARG…] act on issue N as another user: label NAME, unlabel NAME,
//	                          close [reason], reopen, comment TEXT…, assign LOGIN,
//	                          unassign LOGIN, unlock, rename TITLE, react CONTENT, reply CONTENT:
//	                          react to the newest comment, unhide TEXT: make the comments with TEXT
//	                          visible, unrequest LOGIN: remove a requested review, or drop: delete the
//	                          newest comment
//	gh clock DURATION         move GitHub's clock on, such as 36h
//	gh lag N                  let the search return the current state of issue N from now on
//	gh budget N               report N as the remaining calls of the token
//	gh calls                  print the calls so far, and forget them
//	gh show N                 print the current state of an issue
//	gh reviewers N            print the requested reviewers of a pull request
//	artifact add NAME FILE [branch=B] [fork]  keep a record in an artifact of the repository
//	artifact deny PERMISSION  revoke a permission of the token for artifacts
//	artifact list             print the names of the artifacts
//	agent FILE [status=N]     start an agent that answers with a file, in which $TASK is the id,
//	                          MANY is 201 actions, and LONG is a long text
//	event FILE                make FILE the event, and take the event's name from its folder; a
//	                          recorded event gets the current time
//	comment LOGIN TEXT…       make a new comment by LOGIN on issue 1 the event of another run
//	tick LOGIN NUMBER…        tick boxes of the newest comment on issue 1 that has them, and make the
//	                          edit the event of another run
//	document CODE PROGRAM ARG…  run a command with --json, and without it; both must end with the
//	                          exit code, and the first must print one JSON document. RUN in an
//	                          argument is another text for each of them
//	fails CODE PROGRAM ARG…   run a program that must end with the exit code
//	events FOLDER…            run the action on every payload; it must reject those of other folders
//	task PATH…                print values of the last task that the agent got, a line of JSON each
//	port NAME                 set $NAME to a free address of this machine
//	outputs [NAME]            print the outputs of the step, or one
func TestScripts(t *testing.T) {
	t.Parallel()
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       *update,
		Setup:               func(e *testscript.Env) error { return setUp(e, root) },
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"gh": ghCommand, "agent": agentCommand, "event": eventCommand, "task": taskCommand, "fails": failsCommand, "events": eventsCommand, "outputs": outputsCommand,
			"comment": commentCommand, "tick": tickCommand, "document": documentCommand, "port": portCommand, "artifact": artifactCommand,
		},
	})
}

const scriptRepo = "Codertocat/Hello-World"

// setUp gives a script a GitHub of its own and the environment of a workflow step.
func setUp(e *testscript.Env, root string) error {
	gh, err := githubtest.Start(githubtest.Config{Token: "t0ken-of-the-step"})
	if err != nil {
		return err
	}
	e.Defer(func() {
		gh.Close()
		for _, p := range gh.Problems() {
			e.T().Log(p)
			e.T().FailNow()
		}
	})
	e.Values["gh"], e.Values["artifacts"] = gh, &artifactService{}
	gh.Repo(scriptRepo)
	for _, dir := range []string{"workspace", "runner"} {
		if err := os.MkdirAll(filepath.Join(e.WorkDir, dir), 0o755); err != nil {
			return err
		}
	}
	for _, name := range []string{"output", "summary"} {
		if err := os.WriteFile(filepath.Join(e.WorkDir, "runner", name), nil, 0o644); err != nil {
			return err
		}
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	e.Vars = append(e.Vars, programtest.RaceDetector(os.Getenv))
	e.Setenv("CACHE", cache) // the build cache, for scripts that run the go command
	e.Setenv("REPO", root)
	e.Setenv("EVENTS", filepath.Join(root, "testdata/events"))
	e.Setenv("GITHUB_API_URL", gh.URL)
	for name, value := range map[string]string{
		"GITHUB_ACTIONS": "true", "GITHUB_REPOSITORY": scriptRepo, "GITHUB_RUN_ID": "4711", "GITHUB_RUN_ATTEMPT": "1",
		"GITHUB_JOB": "triage", "GITHUB_ACTION": "foreman", "GITHUB_WORKSPACE": filepath.Join(e.WorkDir, "workspace"),
		"GITHUB_OUTPUT":       filepath.Join(e.WorkDir, "runner/output"),
		"GITHUB_STEP_SUMMARY": filepath.Join(e.WorkDir, "runner/summary"),
		"INPUT_TOKEN":         "t0ken-of-the-step", "NO_PROXY": "127.0.0.1",
	} {
		e.Setenv(name, value)
	}
	return nil
}

func github(ts *testscript.TestScript) *githubtest.Server { return ts.Value("gh").(*githubtest.Server) }

func ghCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 || len(args) == 1 && args[0] != "calls" {
		ts.Fatalf("usage: gh VERB ARG…")
	}
	gh := github(ts)
	repo := gh.Repo(scriptRepo)
	switch verb, args := args[0], args[1:]; verb {
	case "label":
		repo.AddLabel(args...)
	case "user":
		repo.AddUser(args...)
	case "milestone":
		repo.AddMilestone(args...)
	case "permission":
		repo.SetPermission(args[0], args[1])
	case "file":
		if text := ts.ReadFile(args[1]); len(args) == 4 {
			gh.Repo(args[2]).AddFileAt(args[3], args[0], text)
		} else {
			repo.AddFile(args[0], text)
		}
	case "limit":
		d, err := time.ParseDuration(args[1])
		ts.Check(err)
		gh.LimitCalls(number(ts, args[0]), d)
	case "issue":
		repo.AddIssue(scriptIssue(ts, args))
	case "fault":
		f, err := githubtest.ParseFault(args)
		ts.Check(err)
		gh.Fault(f)
	case "delete":
		repo.DeleteIssue(number(ts, args[0]))
	case "transfer":
		repo.TransferIssue(number(ts, args[0]), "elsewhere/other", 1)
	case "as":
		actAs(ts, repo, args)
	case "clock":
		d, err := time.ParseDuration(args[0])
		ts.Check(err)
		gh.Advance(d)
	case "lag":
		repo.LagSearch(number(ts, args[0]))
	case "budget":
		gh.SetBudget(number(ts, args[0]))
	case "calls":
		lines := gh.Log()
		if len(lines) == 0 {
			lines = []string{"none"}
		}
		fmt.Fprintln(ts.Stdout(), strings.Join(lines, "\n"))
		gh.ResetCalls()
	case "reviewers":
		i := gh.Issue(scriptRepo, number(ts, args[0]))
		fmt.Fprintln(ts.Stdout(), strings.Join(append(i.Reviewers, i.Teams...), " "))
	case "team":
		gh.Describe(scriptRepo, githubtest.About{Teams: args})
	case "show":
		showIssue(ts, gh.Issue(scriptRepo, number(ts, args[0])))
	default:
		ts.Fatalf("gh: unknown verb %s", verb)
	}
}

// actAs performs an action on an issue as another user: LOGIN VERB N [ARG…].
func actAs(ts *testscript.TestScript, repo *githubtest.Repo, args []string) {
	least := map[string]int{"label": 1, "unlabel": 1, "comment": 1, "assign": 1, "unassign": 1, "react": 1, "reply": 1, "rename": 1}
	if len(args) < 3 || len(args) < 3+least[args[1]] {
		ts.Fatalf("usage: gh as LOGIN VERB N [ARG…]")
	}
	who, verb, n, rest := args[0], args[1], number(ts, args[2]), strings.Join(args[3:], " ")
	switch verb {
	case "label":
		repo.LabelAs(who, n, rest)
	case "unlabel":
		repo.UnlabelAs(who, n, rest)
	case "close":
		repo.CloseAs(who, n, rest)
	case "rename":
		repo.RenameAs(who, n, rest)
	case "reopen":
		repo.ReopenAs(who, n)
	case "comment":
		repo.AddComment(n, who, rest)
	case "assign":
		repo.AssignAs(who, n, rest)
	case "unassign":
		repo.UnassignAs(who, n, rest)
	case "react":
		repo.ReactAs(who, n, 0, rest)
	case "reply":
		comments := github(ts).Issue(scriptRepo, n).Comments
		repo.ReactAs(who, n, comments[len(comments)-1].ID, rest)
	case "unlock":
		repo.UnlockAs(who, n)
	case "drop":
		comments := github(ts).Issue(scriptRepo, n).Comments
		repo.DeleteComment(comments[len(comments)-1].ID)
	case "unrequest":
		githubtest.RemoveReviewerAs(repo, who, n, rest)
	case "unhide":
		for _, c := range github(ts).Issue(scriptRepo, n).Comments {
			if strings.Contains(c.Body, rest) {
				githubtest.Minimize(repo, c.ID, "")
			}
		}
	case "review":
		repo.ReviewAs(who, n, rest)
	default:
		ts.Fatalf("gh as: unknown verb %s", verb)
	}
}

func number(ts *testscript.TestScript, s string) int {
	n, err := strconv.Atoi(s)
	ts.Check(err)
	return n
}

// nonce matches the random secret that each run puts into its markers.
var nonce = regexp.MustCompile(` run=[A-Z2-7]{26} -->`)

// today matches a date or time in our comments, which differs from run to run.
var today = regexp.MustCompile(`20\d\d-\d\d-\d\d( \d\d:\d\d UTC)?`)

func showIssue(ts *testscript.TestScript, i githubtest.Issue) {
	out := ts.Stdout()
	fmt.Fprintf(out, "state: %s %s\nlabels: %s\n", i.State, i.StateReason, strings.Join(i.Labels, ", "))
	if len(i.Assignees) > 0 || i.Milestone != "" || i.Type != "" {
		fmt.Fprintf(out, "assignees: %s milestone: %s type: %s\n", strings.Join(i.Assignees, ", "), i.Milestone, i.Type)
	}
	if i.Locked {
		fmt.Fprintf(out, "locked: %s\n", i.LockReason)
	}
	for _, r := range i.Reactions {
		fmt.Fprintf(out, "reaction: %s\n", r.Content)
	}
	for _, c := range i.Comments {
		if c.Minimized != "" {
			fmt.Fprintf(out, "hidden as %s: ", c.Minimized)
		}
		fmt.Fprintf(out, "comment by %s:\n%s\n", c.Author, today.ReplaceAllString(nonce.ReplaceAllString(c.Body, " run=NONCE -->"), "DATE"))
		for _, r := range c.Reactions {
			fmt.Fprintf(out, "reaction: %s\n", r.Content)
		}
	}
}

// agentCommand starts an agent and sets $AGENT to its address. It writes the last task that it
// received to the file task.json.
func agentCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: agent FILE [status=N]")
	}
	answer, status := ts.ReadFile(args[0]), http.StatusOK
	answer = strings.NewReplacer("MANY", `{"type":"react"}`+strings.Repeat(`,{"type":"react"}`, 200), "LONG", strings.Repeat("long ", 60_000)).Replace(answer)
	for _, a := range args[1:] {
		if value, ok := strings.CutPrefix(a, "status="); ok {
			status = number(ts, value)
		}
	}
	taskFile := ts.MkAbs("task.json")
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var task json.RawMessage
		var id struct {
			TaskID string `json:"task_id"`
		}
		if err := json.NewDecoder(r.Body).Decode(&task); err == nil {
			err = json.Unmarshal(task, &id)
			if err == nil {
				err = os.WriteFile(taskFile, task, 0o644)
			}
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprint(w, strings.ReplaceAll(answer, "$TASK", id.TaskID))
	}))
	ts.Defer(srv.Close)
	ts.Setenv("AGENT", srv.URL)
}

func taskCommand(ts *testscript.TestScript, neg bool, args []string) {
	var task any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("task.json")), &task))
	for _, path := range args {
		value := task
		for name := range strings.SplitSeq(path, ".") {
			switch v := value.(type) {
			case map[string]any:
				value = v[name]
			case []any:
				value = v[number(ts, name)]
			default:
				ts.Fatalf("task: there is no %s", path)
			}
		}
		line, err := json.Marshal(value)
		ts.Check(err)
		fmt.Fprintf(ts.Stdout(), "%s\n", line)
	}
}

func eventCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: event FILE")
	}
	path := args[0]
	if _, err := os.Stat(ts.MkAbs(path)); err != nil {
		path = filepath.Join(ts.Getenv("EVENTS"), path)
		ts.Setenv("GITHUB_EVENT_NAME", filepath.Base(filepath.Dir(path)))
	}
	path = justHappened(ts, path)
	ts.Setenv("GITHUB_EVENT_PATH", ts.MkAbs(path))
}

var createdAt, updatedAt = regexp.MustCompile(`"created_at": "2019-[^"]*"`), regexp.MustCompile(`"updated_at": "20[12][0-9]-[^"]*"`)

// justHappened copies a recorded event and sets its times of changes to now. For an event "opened",
// it also sets the times of creation.
func justHappened(ts *testscript.TestScript, path string) string {
	now := time.Now().UTC().Format(time.RFC3339)
	payload := updatedAt.ReplaceAllString(ts.ReadFile(path), `"updated_at": "`+now+`"`)
	if strings.HasPrefix(filepath.Base(path), "opened.") {
		payload = createdAt.ReplaceAllString(payload, `"created_at": "`+now+`"`)
	}
	fresh := ts.MkAbs("runner/" + filepath.Base(path))
	ts.Check(os.WriteFile(fresh, []byte(payload), 0o644))
	return fresh
}

func outputsCommand(ts *testscript.TestScript, neg bool, args []string) {
	data := ts.ReadFile(ts.Getenv("GITHUB_OUTPUT"))
	outputs, err := actionstest.ParseFileCommands(data)
	ts.Check(err)
	slices.SortFunc(outputs, func(a, b actionstest.Pair) int { return strings.Compare(a.Name, b.Name) })
	for i, o := range outputs {
		if i > 0 && outputs[i-1].Name == o.Name {
			ts.Fatalf("output %s is written twice", o.Name)
		}
		switch {
		case len(args) == 0:
			fmt.Fprintf(ts.Stdout(), "%s=%s\n", o.Name, o.Value)
		case args[0] == o.Name:
			fmt.Fprintln(ts.Stdout(), o.Value)
		}
	}
}

func eventsCommand(ts *testscript.TestScript, neg bool, args []string) {
	paths, err := filepath.Glob(filepath.Join(ts.Getenv("EVENTS"), "*", "*.json"))
	ts.Check(err)
	if len(paths) < 30 {
		ts.Fatalf("only %d payloads", len(paths))
	}
	gh := github(ts)
	for _, name := range []string{"Codertocat/Hello-World", "octo-org/octo-repo"} {
		gh.Repo(name).AddLabel("documentation").AddIssue(githubtest.Issue{Number: 1, Author: "Codertocat"})
	}
	for _, path := range paths {
		name := filepath.Base(filepath.Dir(path))
		ts.Check(os.WriteFile(ts.Getenv("GITHUB_OUTPUT"), nil, 0o644))
		ts.Setenv("GITHUB_EVENT_NAME", name)
		ts.Setenv("GITHUB_EVENT_PATH", path)
		err := ts.Exec("foreman", "action")
		if want := slices.Contains(args, name); (err == nil) != want {
			ts.Fatalf("%s: %v", path, err)
		}
		log := ts.ReadFile("stdout") + ts.ReadFile("stderr")
		if strings.Contains(log, "panic:") || err != nil && !strings.Contains(log, "::error title=Foreman::") {
			ts.Fatalf("%s: %s", path, log)
		}
	}
}

func documentCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: document CODE PROGRAM ARG…")
	}
	for _, flag := range []string{"", "--json"} {
		var list []string
		for _, arg := range args[2:] {
			if arg != "--json" || flag != "" {
				list = append(list, strings.ReplaceAll(arg, "RUN", "run"+flag))
			}
		}
		code := 0
		err := ts.Exec(args[1], list...)
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			code = exit.ExitCode()
		} else {
			ts.Check(err)
		}
		if code != number(ts, args[0]) {
			ts.Fatalf("%q: got exit code %d, want %s", list, code, args[0])
		}
	}
	ts.Check(programtest.OneDocument(ts.ReadFile("stdout")))
	for line := range strings.Lines(ts.ReadFile("stderr")) {
		if strings.ContainsAny(line[:1], "{}[]") {
			ts.Fatalf("JSON on standard error: %s", line)
		}
	}
}

func failsCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: fails CODE PROGRAM ARG…")
	}
	err := ts.Exec(args[1], args[2:]...)
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok || exit.ExitCode() != number(ts, args[0]) {
		ts.Fatalf("got %v, want exit code %s", err, args[0])
	}
}
