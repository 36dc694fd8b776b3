package e2e

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/e2e/picture"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/sqlite"
)

var update = flag.Bool("update", false, "make the pictures of the documentation again")

// pictureWidth is the width of a page in CSS pixels. pictureScale is the number of pixels of its
// picture per CSS pixel.
const (
	pictureWidth = 1200
	pictureScale = 2
)

// compare compares the outline of the current page with the outline beside its picture in the
// documentation. With -update it replaces both.
func (b *tab) compare(name string) {
	b.t.Helper()
	got := eval[string](b, picture.Outline)
	base := filepath.Join("../../docs/pictures", name)
	if *update {
		b.run(chromedp.EmulateViewport(pictureWidth, 700, chromedp.EmulateScale(pictureScale)))
		png, err := picture.Compact(get(b, chromedp.FullScreenshot(100)))
		if err == nil {
			png, err = picture.WithSource(png, []byte(got))
		}
		if err == nil {
			err = os.WriteFile(base+".png", png, 0o644)
		}
		if err == nil {
			err = os.WriteFile(base+".txt", []byte(got), 0o644)
		}
		if err != nil {
			b.t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(strings.Split(string(read(b.t, base+".txt")), "\n"), strings.Split(got, "\n")); diff != "" {
		b.t.Errorf("docs/pictures/%s.png shows another page than the program; run make pictures (-picture +now):\n%s", name, diff)
	}
}

// TestPicturePlayground compares the playground, on one of its examples, with its picture.
func TestPicturePlayground(t *testing.T) {
	b, _ := newPlayground(t, pictureWidth)
	b.pick(3) // the example of actions that the policy refuses
	b.compare("playground")
}

// TestPictureDashboard compares foremand's dashboard, with a fixed queue, with its picture.
func TestPictureDashboard(t *testing.T) {
	b := newTab(t)
	path := filepath.Join(t.TempDir(), "queue.db")
	fillQueue(t, path)
	agents := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusAccepted) }))
	defer agents.Close()
	t.Setenv("HTTP_PROXY", agents.URL) // the agents of the picture are reached through it, and are well
	url, stop := serveQueue(t, pictureConfig, path)
	b.screen(pictureWidth, "light")
	(&station{t: t, address: strings.TrimPrefix(url, "http://")}).signIn(b, "/")
	b.until(`document.getElementById("live").textContent === "live" && document.querySelector(".fold.good")`)
	b.compare("dashboard")
	b.expect("ERR_") // the open page notices that the server stops
	stop()
}

const (
	triageAgent    = "http://triage:9001"
	duplicateAgent = "http://dupes:9002"
)

const pictureConfig = `
mode: shadow
identity: {github_user: forge-bot}
polling: {enabled: false}
server:
  webhook_secret: hook-secret-0123456789
  operators: [{name: ada, secret: correct horse}]
repos:
  - {owner: octo-org, name: forge, agents: [{type: issue-triage, config: {url: "` + triageAgent + `"}}]}
  - {owner: octo-org, name: anvil, agents: [{type: issue-triage, config: {url: "` + duplicateAgent + `"}}]}
`

// A recordedQueue is a queue with a settable clock. Tasks are added with times in the past.
type recordedQueue struct {
	t   *testing.T
	q   queue.Queue
	now time.Time
}

// fillQueue writes a queue file with tasks in every state that does not change by itself. The ages
// of the tasks are the same at each run.
func fillQueue(t *testing.T, path string) {
	t.Helper()
	// Each age is half a minute more than a round number, so it stays the same on the page for half a
	// minute.
	start := time.Now().Add(-4*time.Hour - 30*time.Second)
	r := &recordedQueue{t: t, now: start}
	store, err := sqlite.Open(t.Context(), path, sqlite.Options{Now: func() time.Time { return r.now }})
	if err != nil {
		t.Fatal(err)
	}
	r.q = store.Queue()
	at := func(minutes float64) { r.now = start.Add(time.Duration(minutes * float64(time.Minute))) }

	at(0)
	id := r.enqueue(triageAgent, "octo-org/forge", 101, "The forge does not light after the update to 2.4", 0)
	at(0.05)
	r.claim(triageAgent)
	at(0.2)
	r.complete(id, "label_and_respond", "add_label")
	r.finish("dry_run")

	at(60)
	id = r.enqueue(duplicateAgent, "octo-org/anvil", 37, "The same crash as in the last release", 2)
	at(60.02)
	r.claim(duplicateAgent)
	at(60.1)
	r.complete(id, "respond", "comment")
	r.finish("dry_run")

	at(120)
	id = r.enqueue(triageAgent, "octo-org/forge", 102, "Crash: nil pointer in Bellows.Open", 0)
	at(120.05)
	r.claim(triageAgent)
	at(120.5)
	r.complete(id, "label", "paint")
	if err := r.q.Fail(t.Context(), r.lease(), `unknown action "paint" in the decision`, nil); err != nil {
		t.Fatal(err)
	}

	at(180)
	id = r.enqueue(triageAgent, "octo-org/forge", 103, "How do I change the colour of the sparks?", 0)
	at(180.04)
	r.claim(triageAgent)
	at(180.3)
	r.complete(id, "label_and_respond", "add_label")
	r.finish("dry_run")

	at(225)
	r.enqueue(duplicateAgent, "octo-org/anvil", 38, "The hammer slips on Tuesdays", 2)
	at(226)
	r.enqueue(duplicateAgent, "octo-org/anvil", 39, "The hammer slips when it is cold", 2)
	at(230)
	r.enqueue(duplicateAgent, "octo-org/anvil", 40, "Please add a bigger hammer", 2)
	at(235)
	r.enqueue(triageAgent, "octo-org/forge", 104, "The bellows squeak when it is cold", 0)
	at(236)
	r.claim(triageAgent)
	at(238)
	r.enqueue(triageAgent, "octo-org/forge", 105, "Translate the manual into Finnish", 0)
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
}

// enqueue adds a task and returns its id.
func (r *recordedQueue) enqueue(agent, repo string, number int, title string, hourly int) string {
	r.t.Helper()
	id := fmt.Sprintf("7d0c0000-0000-4000-8000-%012d", number)
	message, err := json.Marshal(map[string]any{
		"task_id": id, "type": "issue.triage", "repo": repo,
		"payload": map[string]any{"number": number, "title": title, "author": "mona"},
	})
	if err != nil {
		r.t.Fatal(err)
	}
	task := queue.Task{
		ID: id, Agent: agent, Repo: repo, Issue: number, Message: message, HourlyLimit: hourly,
		Origin: []byte(`{"event":"issues","source":"webhook","delivery":"d-1"}`),
	}
	if _, err := r.q.Enqueue(r.t.Context(), task); err != nil {
		r.t.Fatal(err)
	}
	return id
}

func (r *recordedQueue) claim(agent string) {
	r.t.Helper()
	if _, err := r.q.ClaimNext(r.t.Context(), agent, queue.ClaimOptions{By: "triage", Lease: time.Hour}); err != nil {
		r.t.Fatal(err)
	}
}

func (r *recordedQueue) complete(id, kind, action string) {
	r.t.Helper()
	decision, err := json.Marshal(map[string]any{
		"task_id": id, "decision": kind, "rationale": "It is a bug.", "actions": []any{map[string]any{"type": action, "label": "bug", "body": "It is a bug."}},
	})
	if err != nil {
		r.t.Fatal(err)
	}
	if receipt, err := r.q.Complete(r.t.Context(), queue.Ref{ID: id}, decision); err != nil || !receipt.Accepted {
		r.t.Fatal(receipt, err)
	}
}

func (r *recordedQueue) lease() queue.Lease {
	r.t.Helper()
	list, err := r.q.LeaseDecisions(r.t.Context(), queue.DrainOptions{Owner: "host-1", Lease: time.Minute, Limit: 1})
	if err != nil || len(list) != 1 {
		r.t.Fatal(list, err)
	}
	return list[0].Lease
}

// finish marks the only decision in the queue as carried out.
func (r *recordedQueue) finish(status string) {
	r.t.Helper()
	if err := r.q.MarkDone(r.t.Context(), r.lease(), []byte(`{"status":"`+status+`"}`)); err != nil {
		r.t.Fatal(err)
	}
}
