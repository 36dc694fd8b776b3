package parity_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/actions/actionstest"
	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/internal/importer"
)

// An event is a change by people on an issue or a pull request, or a scheduled run ("scan"). A scan
// has only a Day.
type event struct {
	ID string `json:"id"`
	// World is the number of a repository; events with the same number share the repository. Except
	// for scheduled tools such as stale, each world has one issue.
	World  int     `json:"world"`
	Day    float64 `json:"day,omitempty"`
	On     string  `json:"on"`              // such as "issues.opened"
	Number int     `json:"issue,omitempty"` // 0 means issue 1

	// In the first event of an issue, the following fields are its values before the event. In
	// later events they are changes.
	Title  string   `json:"title,omitempty"`
	Body   string   `json:"body,omitempty"`
	Author string   `json:"author,omitempty"` // empty: mona
	Actor  string   `json:"actor,omitempty"`  // empty: the author
	Label  string   `json:"label,omitempty"`  // the label that is added or removed
	Labels []string `json:"labels,omitempty"` // labels that it has from the start
	By     string   `json:"by,omitempty"`     // who added Labels; empty: the author
	Files  []string `json:"files,omitempty"`
	Head   string   `json:"head,omitempty"`
	Base   string   `json:"base,omitempty"` // empty: the default branch
	Draft  bool     `json:"draft,omitempty"`
	Merged bool     `json:"merged,omitempty"`
	State  string   `json:"state,omitempty"` // "closed" with a reason
	Lock   string   `json:"lock,omitempty"`  // a reason, or "none"

	Commits []string `json:"commits,omitempty"` // the messages of a pull request's commits
	// Merged pull requests of the author before this one, and those that were closed without a merge.
	Earlier [2]int `json:"earlier,omitzero"`

	Assignee  string `json:"assignee,omitempty"`
	Milestone string `json:"milestone,omitempty"`
}

// names returns the event's name and action.
func (e event) names() (string, string) {
	name, action, _ := strings.Cut(e.On, ".")
	return name, action
}

func (e event) number() int    { return max(e.Number, 1) }
func (e event) author() string { return cmp.Or(e.Author, "mona") }

// start is the time at which each world begins.
var start = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// A world is one side's repository on a fake GitHub.
type world struct {
	t      *testing.T
	gh     *githubtest.Server
	repo   *githubtest.Repo
	name   string
	at     time.Time
	tree   map[string][]byte
	opened map[int]event // the first event of each issue
	runs   int
	job    *actionstest.Runner // of Foreman; nil: it has not run yet
	calls  []githubtest.Call   // API calls of the program
	// answered are the calls that front answered without the fake GitHub.
	answered []githubtest.Call
}

const commit = "5bd3c4ff0e2a4a5d9f0b6d3f6a4d5e6f7a8b9c0d"

// newWorld creates the repository of a case, with all labels that the case names.
func newWorld(t *testing.T, c *parityCase, labels []string) *world {
	t.Helper()
	w := &world{t: t, name: c.repo(), at: start, tree: map[string][]byte{}, opened: map[int]event{}}
	w.gh = githubtest.New(t, githubtest.Config{
		Now:            func() time.Time { return w.at },
		SkipValidation: true, // tests of the client do; originals may send undocumented parameters
	})
	// A token with write access may comment on a locked issue.
	w.repo = w.gh.Repo(w.name).AddLabel(labels...).AddUser("maintainer", "helper").SetPermission("github-actions[bot]", "write")
	for _, e := range c.events {
		if importer.InWorkflow(c.tool) && e.On != "scan" {
			created := start.AddDate(-6, 0, 0)
			if isNew(e.author()) {
				created = start.AddDate(0, 0, -4)
			}
			w.gh.SetAccount(githubtest.Account{Login: e.author(), CreatedAt: created})
		}
	}
	return w
}

// addFile adds a file to the only commit of the default branch.
func (w *world) addFile(name string, data []byte) {
	w.tree[name] = data
	w.repo.AddFile(name, string(data)).AddFileAt(commit, name, string(data))
}

// happen carries out an event of people. It reports whether that was possible. For example, an open
// issue cannot be reopened, because the program may already have reopened it.
func (w *world) happen(e event) bool {
	w.t.Helper()
	w.at = start.Add(time.Duration(e.Day * 24 * float64(time.Hour)))
	name, action := e.names()
	n := e.number()
	if _, known := w.opened[n]; !known && name != "scan" {
		w.open(e)
	}
	actor := cmp.Or(e.Actor, w.opened[n].author())
	was := w.issue(n)
	has := slices.ContainsFunc(was.Labels, func(l string) bool { return strings.EqualFold(l, e.Label) })
	switch action {
	case "edited":
		if e.Title != "" && e.Title != was.Title {
			w.repo.RenameAs(actor, n, e.Title)
		}
		if e.Body != "" {
			w.repo.EditAs(actor, n, e.Body)
		}
	case "synchronize":
		w.repo.ChangeFiles(n, e.Files...).PushAs(actor, n, w.at)
	case "labeled":
		w.repo.LabelAs(actor, n, e.Label)
		return !has
	case "unlabeled":
		w.repo.UnlabelAs(actor, n, e.Label)
		return has
	case "assigned":
		w.repo.AssignAs(actor, n, e.Assignee)
		return !slices.Contains(was.Assignees, e.Assignee)
	case "milestoned":
		w.repo.SetMilestoneAs(actor, n, e.Milestone)
		return was.Milestone != e.Milestone
	case "closed":
		w.repo.CloseAs(actor, n, "")
		return was.State == "open"
	case "reopened":
		w.repo.ReopenAs(actor, n)
		return was.State == "closed"
	case "created":
		w.repo.AddComment(n, actor, e.Body)
	}
	return true
}

// open creates an issue in the state before the event.
func (w *world) open(e event) {
	name, action := e.names()
	e.Labels = distinct(e.Labels)
	w.opened[e.number()] = e
	in := githubtest.Issue{
		Number: e.number(), Title: e.Title, Body: e.Body, Author: e.author(), CreatedAt: w.at,
		PullRequest: name == "pull_request", Files: e.Files, Head: e.Head, Base: e.Base, Draft: e.Draft, Merged: e.Merged,
		Commits: e.Commits,
	}
	if e.By == "" {
		in.Labels = e.Labels
	}
	w.repo.AddIssue(in)
	for k := range e.Earlier[0] + e.Earlier[1] {
		w.repo.AddIssue(githubtest.Issue{Number: 100 + k, Author: e.author(), PullRequest: true, State: "closed", Merged: k < e.Earlier[0]})
	}
	if e.By != "" {
		for _, l := range e.Labels {
			w.repo.LabelAs(e.By, e.number(), l)
		}
	}
	if action == "unlabeled" {
		w.repo.LabelAs("maintainer", e.number(), e.Label)
	}
	if e.Assignee != "" && action != "assigned" {
		w.repo.AssignAs("maintainer", e.number(), e.Assignee)
	}
	if e.Milestone != "" && action != "milestoned" {
		w.repo.SetMilestoneAs("maintainer", e.number(), e.Milestone)
	}
	if state, reason, _ := strings.Cut(e.State, " "); state == "closed" {
		w.repo.CloseAs("maintainer", e.number(), reason)
	}
	if in.PullRequest { // a pull request does not change the configuration
		for name, data := range w.tree {
			w.repo.AddFileAt(fmt.Sprintf("refs/pull/%d/head", e.number()), name, string(data))
		}
	}
	if e.Lock != "" {
		w.repo.LockAs("maintainer", e.number(), strings.TrimPrefix(e.Lock, "none"))
	}
}

// distinct removes labels that differ from earlier ones only in case.
func distinct(labels []string) []string {
	var out []string
	for _, l := range labels {
		if !slices.ContainsFunc(out, func(o string) bool { return strings.EqualFold(o, l) }) {
			out = append(out, l)
		}
	}
	return out
}

func (w *world) issue(n int) githubtest.Issue { return w.gh.Issue(w.name, n) }

// payload returns the payload that GitHub sends with the event.
func (w *world) payload(e event) []byte {
	w.t.Helper()
	name, action := e.names()
	p := map[string]any{"repository": w.get(""), "action": action}
	if name == "scan" {
		p = map[string]any{"schedule": "30 1 * * *", "repository": w.get("")}
	} else {
		p["sender"] = sender(cmp.Or(e.Actor, w.opened[e.number()].author()))
	}
	one := fmt.Sprintf("/issues/%d", e.number())
	switch name {
	case "issues":
		p["issue"] = w.get(one)
	case "issue_comment":
		p["issue"] = w.get(one)
		list, _ := w.get(one + "/comments?per_page=100").([]any)
		p["comment"] = list[len(list)-1]
	case "pull_request":
		pull := w.get(fmt.Sprintf("/pulls/%d", e.number()))
		if fields, ok := pull.(map[string]any); ok {
			fields["maintainer_can_modify"] = !isNew(w.opened[e.number()].author())
		}
		p["number"], p["pull_request"] = e.number(), pull
	}
	if e.Label != "" {
		p["label"] = w.get("/labels/" + strings.ReplaceAll(urlPath(e.Label), "+", "%20"))
	}
	raw, err := json.Marshal(p)
	if err != nil {
		w.t.Fatal(err)
	}
	return raw
}

func sender(login string) map[string]any {
	kind := "User"
	if strings.HasSuffix(login, "[bot]") {
		kind = "Bot"
	}
	return map[string]any{"login": login, "id": 583231, "type": kind}
}

// get reads data of the repository. This request is not counted as a call of the program.
func (w *world) get(path string) any {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, w.gh.URL+"/repos/"+w.name+path, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		w.t.Fatalf("GET %s: %d %v", path, resp.StatusCode, err)
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		w.t.Fatal(err)
	}
	return v
}

// An outcome is the state of an issue after an event, or after each scheduled run.
type outcome struct {
	ID    string   `json:"id"`
	After []string `json:"after"`
}

// state returns a text with the state of an issue, its labels, its lock and the comments of the
// token's owner.
func (w *world) state(n int) string {
	i := w.issue(n)
	labels := slices.Clone(i.Labels)
	slices.Sort(labels)
	parts := []string{i.State}
	if i.State == "closed" && !i.PullRequest {
		parts[0] += " " + i.StateReason
	}
	if len(labels) > 0 {
		parts = append(parts, strings.Join(labels, ", "))
	}
	if i.Locked {
		parts = append(parts, strings.TrimSpace("locked "+i.LockReason))
	}
	for _, c := range i.Comments {
		if c.Author == "github-actions[bot]" {
			parts = append(parts, fmt.Sprintf("%q", plain(c.Body)))
		}
	}
	return strings.Join(parts, "; ")
}

// marker matches the hidden marker by which Foreman recognizes its own comments.
var marker = regexp.MustCompile(`<!-- foreman.*?-->`)

// plain returns a comment without Foreman's marker.
func plain(body string) string { return strings.TrimSpace(marker.ReplaceAllString(body, "")) }
