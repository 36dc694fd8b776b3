package main

import (
	"bufio"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/internal/testkit/programtest"
)

// deadline is how long a script waits for an action of another process.
const deadline = 2 * time.Minute

// await polls a condition of another process every few milliseconds until it holds.
func await(ts *testscript.TestScript, what string, ok func() bool) {
	end := time.Now().Add(deadline)
	for !ok() {
		if time.Now().After(end) {
			log, _ := os.ReadFile(ts.MkAbs("log"))
			ts.Fatalf("%s: not within %s\n%s", what, deadline, log)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func number(ts *testscript.TestScript, s string) int {
	n, err := strconv.Atoi(s)
	ts.Check(err)
	return n
}

// A foremandProcess is a foremand that runs.
type foremandProcess struct {
	cmd  *exec.Cmd
	done chan error
}

func serveCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || rigOf(ts).server != nil {
		ts.Fatalf("usage: serve [ARG…], when none runs")
	}
	program, err := exec.LookPath(filepath.Join(filepath.SplitList(ts.Getenv("PATH"))[0], "foremand"))
	ts.Check(err)
	cmd := exec.Command(program, append([]string{"serve", "--config", "config.yaml", "--port", "0"}, args...)...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = []string{"PATH=" + ts.Getenv("PATH"), "HOME=" + ts.Getenv("HOME"), "NO_PROXY=127.0.0.1", programtest.RaceDetector(os.Getenv)}
	for _, name := range []string{"GITHUB_API_URL", "BOT_TOKEN", "HOOK_SECRET", "SECOND_SECRET_FILE", "AGENT", "AGENT_AT", "IMAGE", "PORT", "PG", "DOCKER_HOST", "TMPDIR"} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	pipe, err := cmd.StderrPipe()
	ts.Check(err)
	log, err := os.OpenFile(ts.MkAbs("log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	ts.Check(err)
	ts.Check(cmd.Start())
	url := make(chan string, 1)
	read := make(chan struct{})
	go func() {
		defer close(read)
		defer log.Close()
		lines := bufio.NewScanner(pipe)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			fmt.Fprintf(log, "%s\n", lines.Bytes())
			var line struct{ Msg, URL string }
			if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "foremand is listening" {
				select {
				case url <- line.URL:
				default: // a reload
				}
			}
		}
		close(url)
	}()
	p := &foremandProcess{cmd, make(chan error, 1)}
	go func() { <-read; p.done <- cmd.Wait() }()
	ts.Defer(func() {
		if rigOf(ts).server == p {
			_ = cmd.Process.Kill() // the script ended before foremand
			<-p.done
		}
	})
	select {
	case at, ok := <-url:
		if !ok {
			ts.Fatalf("foremand ended: %v\n%s", <-p.done, ts.ReadFile("log"))
		}
		rigOf(ts).server = p
		rigOf(ts).url.Store(at)
		ts.Setenv("URL", at)
	case <-time.After(deadline):
		_ = cmd.Process.Kill()
		ts.Fatalf("foremand does not listen:\n%s", ts.ReadFile("log"))
	}
}

func haltCommand(ts *testscript.TestScript, neg bool, args []string) {
	p := rigOf(ts).server
	if neg || p == nil {
		ts.Fatalf("no foremand runs")
	}
	rigOf(ts).server = nil
	how := strings.Join(args, " ")
	if runtime.GOOS == "windows" {
		how = "kill" // Windows has no SIGTERM
	}
	kill := how == "kill"
	signal := map[string]os.Signal{"": syscall.SIGTERM, "kill": os.Kill}[how]
	ts.Check(p.cmd.Process.Signal(signal))
	select {
	case err := <-p.done:
		if err != nil && !kill {
			ts.Fatalf("foremand ended with %v:\n%s", err, ts.ReadFile("log"))
		}
	case <-time.After(deadline):
		_ = p.cmd.Process.Kill()
		ts.Fatalf("foremand does not stop")
	}
}

func hangupCommand(ts *testscript.TestScript, neg bool, args []string) {
	p := rigOf(ts).server
	if neg || p == nil || len(args) > 0 {
		ts.Fatalf("usage: hangup, while foremand runs")
	}
	ts.Check(p.cmd.Process.Signal(syscall.SIGHUP))
}

func stormCommand(ts *testscript.TestScript, neg bool, args []string) {
	p := rigOf(ts).server
	if neg || p == nil || len(args) != 2 {
		ts.Fatalf("usage: storm FILE COUNT, while foremand runs")
	}
	text, count := eventFile(ts, args[0]), number(ts, args[1])
	err := storm(count, func(n int) error {
		// A task of its own: the issue differs.
		return deliver(ts.Getenv("URL"), strings.ReplaceAll(text, `"number": 1,`, fmt.Sprintf(`"number": %d,`, n+1000)))
	}, func(n int) {
		if n%(count/4+1) == count/4 {
			ts.Check(p.cmd.Process.Signal(syscall.SIGHUP))
		}
	})
	if err != nil {
		ts.Fatalf("%v\n%s", err, ts.ReadFile("log"))
	}
}

// storm calls send for the numbers below count, at most 16 at a time, because a slow machine refuses
// more. It calls before in turn, before each of them.
func storm(count int, send func(n int) error, before func(n int)) error {
	failed, free := make(chan error, count), make(chan struct{}, 16)
	for n := range count {
		before(n)
		free <- struct{}{}
		go func() {
			failed <- send(n)
			<-free
		}()
	}
	var errs []error
	for range count {
		errs = append(errs, <-failed)
	}
	return errors.Join(errs...)
}

// deliver sends an issue's webhook over a connection of its own.
func deliver(url, body string) error {
	req, err := http.NewRequest(http.MethodPost, url+"/github/webhook", strings.NewReader(body))
	if err != nil {
		return err
	}
	mac := hmac.New(sha256.New, []byte(hookSecret))
	mac.Write([]byte(body))
	req.Header.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Github-Event", "issues")
	req.Header.Set("X-Github-Delivery", rand.Text())
	client := http.Client{Timeout: deadline, Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusAccepted {
		return fmt.Errorf("webhook: %s", res.Status)
	}
	return nil
}

func endsCommand(ts *testscript.TestScript, neg bool, args []string) {
	p := rigOf(ts).server
	if neg || p == nil || len(args) != 1 {
		ts.Fatalf("usage: ends CODE, while foremand runs")
	}
	rigOf(ts).server = nil
	select {
	case err := <-p.done:
		code := 0
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			code = exit.ExitCode()
		} else {
			ts.Check(err)
		}
		if code != number(ts, args[0]) {
			ts.Fatalf("foremand ended with %v, want exit code %s:\n%s", err, args[0], ts.ReadFile("log"))
		}
	case <-time.After(deadline):
		_ = p.cmd.Process.Kill()
		ts.Fatalf("foremand does not end:\n%s", ts.ReadFile("log"))
	}
	const coverage = "warning: GOCOVERDIR not set, no coverage data emitted" // of a program under -cover
	log := strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(ts.ReadFile("log")), coverage))
	fmt.Fprintln(ts.Stderr(), log[strings.LastIndexByte(log, '\n')+1:])
}

func rescuedCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: rescued FILE")
	}
	path := ts.MkAbs(args[0])
	saved, err := filepath.Glob(path + ".rescued-*")
	ts.Check(err)
	if len(saved) != 1 {
		ts.Fatalf("there are %d copies, want one: %v", len(saved), saved)
	}
	ts.Check(os.Rename(saved[0], path))
}

// A message is a request to the server.
type message struct {
	method, path, body string
	header             http.Header
	ending             bool // the server may end before or while it answers
}

// send makes a request and returns the answer's body.
func (m message) send(ts *testscript.TestScript, want int) string {
	req, err := http.NewRequest(m.method, ts.Getenv("URL")+m.path, strings.NewReader(m.body))
	ts.Check(err)
	if m.body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for k, v := range m.header {
		req.Header[k] = v
	}
	// A server that reads its configuration again closes idle connections, perhaps while a request begins.
	client := http.Client{Timeout: deadline, Transport: &http.Transport{DisableKeepAlives: true}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil && m.ending {
		return ""
	}
	ts.Check(err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if !m.ending {
		ts.Check(err)
	}
	if resp.StatusCode != want {
		ts.Fatalf("%s %s: %s, want %d\n%s", m.method, m.path, resp.Status, want, data)
	}
	return string(data)
}

func httpCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: http METHOD PATH STATUS [BODY] [header:value…]")
	}
	body, header := "", http.Header{}
	for i, a := range args[3:] {
		if name, value, ok := strings.Cut(a, ":"); ok && (i > 0 || !strings.HasPrefix(a, "{")) {
			header.Set(name, value)
		} else {
			body = a
		}
	}
	fmt.Fprintln(ts.Stdout(), message{method: args[0], path: args[1], body: body, header: header}.send(ts, number(ts, args[2])))
}

// eventFile returns a recorded event as a new one. The recorded issue is by the repository's owner,
// and owners' issues need no triage. It also has a label; the issues of the scripts have none when they
// are opened, and the server would not add it again.
func eventFile(ts *testscript.TestScript, name string) string {
	body := strings.Replace(ts.ReadFile(name), `"author_association": "OWNER"`, `"author_association": "NONE"`, 1)
	if strings.Contains(body, `"action": "opened"`) {
		body = recordedLabels.ReplaceAllString(body, `"labels": []`)
	}
	return strings.ReplaceAll(body, `"updated_at": "2019-`, `"updated_at": "`+time.Now().UTC().AddDate(1, 0, 0).Format("2006-")) // not late, and the same for a repeated delivery
}

// recordedLabels matches the labels of a recorded issue.
var recordedLabels = regexp.MustCompile(`"labels": \[[^\]]*\]`)

func hookCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: hook EVENT FILE [delivery=D] [issue=N] [at=TIME] [pad=BYTES] [secret=S] [ending] STATUS")
	}
	// The issues of the fake GitHub begin without the labels of the payload.
	body := regexp.MustCompile(`"labels": \[[^\]]*\]`).ReplaceAllString(eventFile(ts, args[1]), `"labels": []`)
	secret, ending, header := hookSecret, false, http.Header{"X-Github-Event": {args[0]}, "X-Github-Delivery": {"11111111-2222-4333-8444-" + fmt.Sprintf("%012d", time.Now().UnixNano()%1e12)}}
	for _, a := range args[2 : len(args)-1] {
		switch name, value, _ := strings.Cut(a, "="); name {
		case "delivery":
			header.Set("X-Github-Delivery", value)
		case "at": // events are recognised by their body, so each needs a different one
			body = regexp.MustCompile(`"updated_at": "[^"]*"`).ReplaceAllString(body, `"updated_at": "`+value+`"`)
		case "issue":
			body = strings.ReplaceAll(body, `"number": 1,`, `"number": `+value+",")
		case "pad": // lengthen the body
			body += strings.Repeat(" ", number(ts, value))
		case "secret":
			secret = value
		case "ending":
			ending = true
		}
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(body))
	header.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	fmt.Fprintln(ts.Stdout(), message{http.MethodPost, "/github/webhook", body, header, ending}.send(ts, number(ts, args[len(args)-1])))
}

func stateCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: state STATE COUNT")
	}
	want, last := number(ts, args[1]), ""
	await(ts, "state "+strings.Join(args, " "), func() bool {
		var status struct {
			States map[string]int
			Held   int
		}
		last = message{method: http.MethodGet, path: "/queue/status"}.send(ts, http.StatusOK)
		ts.Check(json.Unmarshal([]byte(last), &status))
		if args[0] == "held" {
			return status.Held == want
		}
		return status.States[args[0]] == want
	})
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

func documentCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: document CODE PROGRAM ARG…")
	}
	code := 0
	err := ts.Exec(args[1], args[2:]...)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if want := number(ts, args[0]); code != want {
		ts.Fatalf("got exit code %d, want %d", code, want)
	}
	ts.Check(programtest.OneDocument(ts.ReadFile("stdout")))
	if text := ts.ReadFile("stderr"); text != "" {
		ts.Fatalf("standard error: got %q, want nothing", text)
	}
}

func untilCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: until TEXT [COUNT]")
	}
	count := 1
	if len(args) == 2 {
		count = number(ts, args[1])
	}
	await(ts, "until "+args[0], func() bool { return strings.Count(ts.ReadFile("log"), args[0]) >= count })
}

// nonce matches the markers in comments, which differ from run to run.
var nonce = regexp.MustCompile(`<!-- foreman:v1 .*? -->`)

func ghCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: gh VERB ARG…")
	}
	if args[0] == "app" {
		startApp(ts)
		return
	}
	gh := fake(ts)
	repo := gh.Repo(scriptRepo)
	switch verb, args := args[0], args[1:]; verb {
	case "label":
		repo.AddLabel(args...)
	case "issue":
		repo.AddIssue(scriptIssue(ts, args))
	case "fault":
		f, err := githubtest.ParseFault(args)
		ts.Check(err)
		gh.Fault(f)
	case "revoke":
		gh.SetToken("another-token")
	case "accept":
		gh.SetToken(scriptToken)
	case "missed":
		body, at := eventFile(ts, args[0]), rigOf(ts)
		gh.Deliver(rand.Text(), http.StatusBadGateway, func(string) {
			for range 100 { // the script may not know the new address yet
				if deliver(at.url.Load().(string), body) == nil {
					return
				}
				time.Sleep(100 * time.Millisecond)
			}
		})
	case "clear":
		gh.ClearFaults()
	case "show":
		i := gh.Issue(scriptRepo, number(ts, args[0]))
		fmt.Fprintf(ts.Stdout(), "state: %s\nlabels: %s\n", i.State, strings.Join(i.Labels, ", "))
		for _, c := range i.Comments {
			fmt.Fprintf(ts.Stdout(), "comment by %s: %s\n", c.Author, strings.TrimSpace(nonce.ReplaceAllString(c.Body, "")))
		}
	case "wait":
		want := number(ts, args[2])
		await(ts, "gh wait "+strings.Join(args, " "), func() bool {
			i := gh.Issue(scriptRepo, number(ts, args[0]))
			return map[string]int{"labels": len(i.Labels), "comments": len(i.Comments)}[args[1]] == want
		})
	case "calls":
		if n, all := matching(gh, args[0]); n != number(ts, args[1]) {
			ts.Fatalf("%d calls match, want %s:\n%s", n, args[1], strings.Join(all, "\n"))
		}
	case "asked":
		await(ts, "gh asked "+strings.Join(args, " "), func() bool { n, _ := matching(gh, args[0]); return n >= number(ts, args[1]) })
	default:
		ts.Fatalf("gh: unknown verb %s", verb)
	}
}

// matching returns all calls as "METHOD PATH", and the number of those that match a pattern.
func matching(gh *githubtest.Server, pattern string) (n int, all []string) {
	is := regexp.MustCompile(pattern)
	for _, c := range gh.Calls() {
		line := c.Method + " " + c.Path
		if all = append(all, line); is.MatchString(line) {
			n++
		}
	}
	return n, all
}

func scriptIssue(ts *testscript.TestScript, args []string) githubtest.Issue {
	i := githubtest.Issue{Number: number(ts, args[0]), Author: "somebody"}
	for _, a := range args[1:] {
		switch name, value, _ := strings.Cut(a, "="); name {
		case "label":
			i.Labels = append(i.Labels, value)
		case "title":
			i.Title = value
		case "author":
			i.Author = value
		case "pr":
			i.PullRequest = true
		default:
			ts.Fatalf("gh issue: unknown word %s", a)
		}
	}
	return i
}
