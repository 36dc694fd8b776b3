package docs_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/docs"
	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/internal/testkit/freeport"
)

// appProgram marks the program of docs/embed.md that is a GitHub App.
const appProgram = "program app"

// TestApp runs the GitHub App of docs/embed.md: it delivers an event, kills the program, starts it
// again, and delivers the event again. Each write is made once.
func TestApp(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows cannot interrupt another program")
	}
	const secret = "it's a secret to everybody"
	program := appOf(t)
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	port, err := freeport.Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	gh := githubtest.New(t, githubtest.Config{App: &githubtest.App{ID: 1, Slug: "my-app", Key: &key.PublicKey, Owners: []string{"octo-org"}}})
	repo := gh.Repo("octo-org/hello").AddLabel("bug").AddUser("mona")
	repo.AddFile(".github/foreman.yml", "version: 1\npolicy: {comment_interval: 0}\nrules:\n  - {id: crash, when: 'issue.title contains \"panic\"', then: [{add_label: bug}, {comment: Thank you.}]}\n")
	repo.AddIssue(githubtest.Issue{Number: 7, Title: "A panic", Author: "mona"}).AddIssue(githubtest.Issue{Number: 8, Title: "A panic", Author: "mona"})
	pemKey := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	app := appRun{dir: t.TempDir(), program: program, address: port.String(), env: []string{
		"GITHUB_API_URL=" + gh.URL, "APP_ID=1", "APP_KEY=" + string(pemKey), "WEBHOOK_SECRET=" + secret, "ADDRESS=" + port.String(),
	}}

	app.start(t)
	for _, tt := range []struct {
		sign, event string
		want        int
	}{
		{"guessed", "issues", http.StatusUnauthorized},
		{secret, "ping", http.StatusOK},
		{secret, "issues", http.StatusOK},
	} {
		if got := app.deliver(t, tt.sign, tt.event, 7); got != tt.want {
			t.Errorf("%s, signed with %q: got %d, want %d", tt.event, tt.sign, got, tt.want)
		}
	}
	app.stop(t, os.Kill)
	app.start(t)
	writes := func(issue int) (list []string) {
		for _, call := range gh.Log() {
			if strings.HasPrefix(call, fmt.Sprintf("POST /repos/octo-org/hello/issues/%d/", issue)) {
				list = append(list, call)
			}
		}
		return list
	}
	within(t, "both writes", func() bool { return len(writes(7)) >= 2 })
	for _, issue := range []int{7, 8} { // the second event ends after a repetition of the first one would
		if got := app.deliver(t, secret, "issues", issue); got != http.StatusOK {
			t.Errorf("another delivery on issue %d: got %d", issue, got)
		}
	}
	within(t, "the writes of another event", func() bool { return len(writes(8)) >= 2 })
	app.stop(t, os.Interrupt)
	want := "POST /repos/octo-org/hello/issues/7/labels 200, POST /repos/octo-org/hello/issues/7/comments 201"
	if got := strings.Join(writes(7), ", "); got != want {
		t.Errorf("got %s\nwant %s\n%s", got, want, &app.log)
	}
}

// appOf builds the GitHub App of docs/embed.md.
func appOf(t *testing.T) string {
	t.Helper()
	for _, b := range docs.Parse(pages(t)["docs/embed.md"]).Blocks {
		if b.Marker != appProgram {
			continue
		}
		program, err := buildGo(t, b)
		if err != nil {
			t.Fatal(err)
		}
		return program
	}
	t.Fatal("docs/embed.md has no GitHub App")
	return ""
}

// An appRun runs the GitHub App in a folder.
type appRun struct {
	dir, program, address string
	env                   []string
	log                   bytes.Buffer
	command               *exec.Cmd
}

// start starts the program, and waits until it answers.
func (a *appRun) start(t *testing.T) {
	t.Helper()
	a.command = exec.CommandContext(context.WithoutCancel(t.Context()), a.program)
	a.command.Dir, a.command.Env = a.dir, append(os.Environ(), a.env...)
	a.command.Stdout, a.command.Stderr = &a.log, &a.log
	if err := a.command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.command.Process.Kill() })
	within(t, "the program's answer", func() bool {
		r, err := http.Get("http://" + a.address + "/webhook")
		if err == nil {
			r.Body.Close()
		}
		return err == nil
	})
}

// stop sends a signal to the program, and waits until it ends.
func (a *appRun) stop(t *testing.T, with os.Signal) {
	t.Helper()
	if err := a.command.Process.Signal(with); err != nil {
		t.Fatal(err)
	}
	if err := a.command.Wait(); with == os.Interrupt && err != nil {
		t.Errorf("the interrupted program: %v\n%s", err, &a.log)
	}
}

// deliver sends the event that opened an issue as GitHub does, and returns the status of the answer.
func (a *appRun) deliver(t *testing.T, secret, event string, issue int) int {
	t.Helper()
	body := fmt.Sprintf(`{"action": "opened", "repository": {"full_name": "octo-org/hello"}, "sender": {"login": "mona"},
		"issue": {"number": %d, "title": "A panic", "state": "open", "user": {"login": "mona"}, "author_association": "NONE"}}`, issue)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+a.address+"/webhook", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprint(mac, body)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Github-Event", event)
	r.Header.Set("X-Github-Delivery", fmt.Sprintf("72d3162e-cc78-11e3-81ab-00000000000%d", issue))
	r.Header.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatalf("%v\n%s", err, &a.log)
	}
	answer.Body.Close()
	return answer.StatusCode
}

// within waits up to two minutes until a condition holds.
func within(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	end := time.After(2 * time.Minute)
	for !holds() {
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("%s: still missing after two minutes", what)
		}
	}
}
