package runner_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/internal/testkit/golden"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

// TestCountedAtOnce plays the stories in testdata/atonce: people answer what Foreman did, and the track records
// of the repository show it at once or after a scheduled run. A story also has the lines of TestProposals.
func TestCountedAtOnce(t *testing.T) {
	t.Parallel()
	golden.Each(t, "testdata/atonce", *update, func(t *testing.T, c *golden.Case) {
		p := newTrackStory(t, string(c.Get("config")))
		for line := range strings.Lines(string(c.Get("story"))) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
				p.line(line)
			}
		}
		c.Want(t, "want", p.out.String())
	})
}

// A trackStory is a story on issue 1 that shows the track records.
type trackStory struct {
	*proposalStory

	store *watchedStore
	out   strings.Builder
}

func newTrackStory(t *testing.T, src string) *trackStory {
	t.Helper()
	p := &trackStory{proposalStory: newProposalStory(t, src), store: &watchedStore{Agenda: memory.New()}}
	keepIn(&p.o, p.store)
	return p
}

// line plays a line of the story, and prints what the run did with the memory and reported.
func (p *trackStory) line(line string) {
	p.Helper()
	verb, rest, _ := strings.Cut(line, " ")
	fmt.Fprintf(&p.out, "> %s\n", line)
	p.store.done, p.last = nil, runner.Report{}
	calls := len(p.gh.Calls())
	switch verb {
	case "tracks":
		p.tracks()
		return
	case "did", "missed": // did LOGIN ACTION [VALUE]: a person changes the issue; no run sees what was missed
		who, rest, _ := strings.Cut(rest, " ")
		action, value, _ := strings.Cut(rest, " ")
		p.change(who, action, value, verb == "did")
	case "right": // right N: N earlier actions of each pair were accepted, on other issues
		n, err := strconv.Atoi(rest)
		if err != nil {
			p.Fatal(err)
		}
		p.count(n, memory.OutcomeAccepted)
	case "wrong": // wrong N: the same, and they were rejected
		n, err := strconv.Atoi(rest)
		if err != nil {
			p.Fatal(err)
		}
		p.count(n, memory.OutcomeRejected)
	case "behind", "ahead": // behind DURATION: our clock differs from GitHub's from now on
		d, err := time.ParseDuration(rest)
		if err != nil {
			p.Fatal(err)
		}
		if verb == "behind" {
			d = -d
		}
		p.o.Clock.Now = func() time.Time { return p.now.Add(d) }
	case "earned":
		c := *p.o.Config
		c.Policy.Earned = true
		p.o.Config = &c
	case "author": // the author of the issue is another one, who is not of the repository
		p.repo.AddIssue(githubtest.Issue{Number: 1, Title: "It crashes", Body: "a panic", Author: rest})
	case "permit":
		who, permission, _ := strings.Cut(rest, " ")
		p.repo.SetPermission(who, permission)
	case "relabel":
		name, to, _ := strings.Cut(rest, " ")
		p.gh.RenameLabel(repoName, name, to)
	case "memory": // another kind of memory
		p.o.Memory.ReadOnly, p.o.Memory.Discards, p.o.Memory.LoadCalls = rest == "is read-only", rest == "discards", 0
		if p.o.Memory.Agenda = p.store; rest == "cannot be searched" {
			p.o.Memory.Agenda = nil
		}
		if rest == "costs calls" {
			p.o.Memory.LoadCalls = 2
		}
	case "dry":
		p.o.DryRun = rest != "off"
	case "shadow":
		c := *p.o.Config
		if c.Mode = config.ModeShadow; rest == "off" {
			c.Mode = config.ModeApply
		}
		p.o.Config = &c
	case "milestone":
		p.repo.AddMilestone(rest)
	case "repository": // repository fails, fails once, is newer, is broken: its record
		p.store.fault = rest
	default:
		p.tell(line)
	}
	for _, w := range p.last.Warnings {
		fmt.Fprintf(&p.out, "  warning: %s\n", w)
	}
	if p.last.Status == runner.StatusFailed {
		fmt.Fprintf(&p.out, "  failed: %s\n", p.last.Reason)
	}
	if len(p.store.done) > 0 && verb != "sweep" {
		fmt.Fprintf(&p.out, "  memory: %s; %d calls of GitHub\n", strings.Join(p.store.done, ", "), len(p.gh.Calls())-calls)
	}
}

// change lets a person change the issue.
func (p *trackStory) change(who, action, value string, seen bool) {
	p.Helper()
	named := func(key string) map[string]any { return map[string]any{key: value} }
	var comment triage.Comment
	switch action {
	case "labeled":
		p.repo.LabelAs(who, 1, value)
		p.more = map[string]any{"label": named("name")}
	case "unlabeled":
		p.repo.UnlabelAs(who, 1, value)
		p.more = map[string]any{"label": named("name")}
	case "assigned":
		p.repo.AssignAs(who, 1, value)
		p.more = map[string]any{"assignee": named("login")}
	case "unassigned":
		p.repo.UnassignAs(who, 1, value)
		p.more = map[string]any{"assignee": named("login")}
	case "milestoned":
		p.repo.SetMilestoneAs(who, 1, value)
		p.more = map[string]any{"milestone": named("title")}
	case "demilestoned":
		p.repo.SetMilestoneAs(who, 1, "")
		p.more = map[string]any{"milestone": named("title")}
	case "closed":
		p.repo.CloseAs(who, 1, "completed")
	case "reopened":
		p.repo.ReopenAs(who, 1)
	case "locked":
		p.repo.LockAs(who, 1, "")
	case "unlocked":
		p.repo.UnlockAs(who, 1)
	case "untyped": // the fake lets no other user change types
	case "deleted": // our comment that contains the value
		p.more = map[string]any{"action": "deleted"}
		comment = p.commentOf(value)
		p.repo.DeleteComment(comment.ID)
	default:
		p.Fatalf("unknown change: %s", action)
	}
	if seen {
		p.run(action, who, comment, "")
	}
	p.more = nil
}

// commentOf returns our comment that contains a text, with its address as in the record.
func (p *trackStory) commentOf(text string) triage.Comment {
	p.Helper()
	for _, c := range p.gh.Issue(repoName, 1).Comments {
		if !strings.Contains(c.Body, text) {
			continue
		}
		out := triage.Comment{ID: c.ID, Body: c.Body, Author: c.Author, CreatedAt: c.CreatedAt}
		for _, t := range recordOf(p.T, p.store.Agenda).Tasks {
			for _, a := range t.Actions {
				if strings.HasSuffix(a.URL, strconv.FormatInt(c.ID, 10)) {
					out.URL = a.URL
				}
			}
		}
		return out
	}
	p.Fatalf("no comment contains %q", text)
	return triage.Comment{}
}

// count counts actions of the pairs on the issue, on other issues.
func (p *trackStory) count(n int, as memory.Outcome) {
	p.Helper()
	var keys []memory.PairKey
	for _, t := range recordOf(p.T, p.store.Agenda).Tasks {
		for _, a := range t.Actions {
			for _, value := range a.Values {
				if a.Pair != "" {
					keys = append(keys, memory.PairKey{Source: a.Pair, Action: a.Type, Value: value})
				}
			}
		}
	}
	_, err := memory.Update(p.Context(), p.store.Agenda, repoName, memory.Repository, func(r *memory.Record) error {
		r.Outcomes = cmp.Or(r.Outcomes, &memory.Outcomes{})
		for i := range n {
			for _, k := range keys {
				r.Outcomes.Count(k, "crash", memory.Result{
					Outcome: as, Issue: 100 + len(r.Outcomes.Counted), Author: fmt.Sprint("author-", i), Acted: p.now, At: p.now,
				}, memory.Threshold{Bound: 0.85, Of: 20})
			}
		}
		return nil
	})
	if err != nil {
		p.Fatal(err)
	}
}

// tracks prints the track records.
func (p *trackStory) tracks() {
	p.Helper()
	r, err := p.store.Agenda.Load(p.Context(), repoName, memory.Repository)
	if err != nil && !errors.Is(err, memory.ErrNotFound) {
		p.Fatal(err)
	}
	if r.Outcomes == nil {
		fmt.Fprintf(&p.out, "  none\n")
		return
	}
	for _, o := range r.Outcomes.Pairs {
		source, _, _ := strings.Cut(o.Source, ":")
		fmt.Fprintf(&p.out, "  %s %s:", cmp.Or(o.Name, source), strings.TrimSpace(o.Action+" "+o.Value))
		for _, n := range []struct {
			name string
			n    int
		}{
			{"kept", o.Kept}, {"undone", o.Undone}, {"accepted", o.Accepted}, {"rejected", o.Rejected}, {"expired", o.Expired}, {"unjudged", o.Unjudged},
		} {
			if n.n > 0 {
				fmt.Fprintf(&p.out, " %s %d", n.name, n.n)
			}
		}
		if o.Why != "" {
			fmt.Fprintf(&p.out, " lost: %s, before undone %d", o.Why, o.Before.Undone)
		}
		p.out.WriteString("\n")
	}
}

// A watchedStore notes its calls, and fails for the record of the repository as its fault says.
type watchedStore struct {
	memory.Agenda

	done  []string
	fault string
}

func (w *watchedStore) Load(ctx context.Context, repo string, issue int) (memory.Record, error) {
	w.done = append(w.done, fmt.Sprint("load ", issue))
	switch {
	case issue != memory.Repository:
	case w.fault == "is newer":
		return memory.Record{}, fmt.Errorf("load: %w: it has schema 9", memory.ErrNewer)
	case w.fault == "is broken":
		return memory.Record{}, fmt.Errorf("load: %w: it is of another repository", memory.ErrBroken)
	}
	return w.Agenda.Load(ctx, repo, issue)
}

func (w *watchedStore) Save(ctx context.Context, r memory.Record) error {
	w.done = append(w.done, fmt.Sprint("save ", r.Issue))
	switch {
	case r.Issue != memory.Repository:
	case w.fault == "fails once":
		w.fault = ""
		return errors.New("save: the service is down")
	case w.fault == "fails":
		return errors.New("save: the service is down")
	case w.fault == "is broken": // the new one takes its place
		w.fault, r.Revision = "", 0
		if old, err := w.Agenda.Load(ctx, r.Repo, r.Issue); err == nil {
			r.Revision = old.Revision
		}
	}
	return w.Agenda.Save(ctx, r)
}

// TestCountedAtOnceConcurrently lets people undo labels on many issues at the same time: each counts once.
func TestCountedAtOnceConcurrently(t *testing.T) {
	t.Parallel()
	const issues = 8
	p := newTrackStory(t, "rules:\n  - {id: crash, on: issues.opened, then: [{add_label: bug}]}\n")
	store := memory.New()
	keepIn(&p.o, store)
	undo := func(number int) triage.Delivery {
		issue := triage.Issue{Number: number, State: "open", Author: "octocat", UpdatedAt: p.now, CreatedAt: p.now.Add(-time.Hour)}
		return triage.Delivery{
			Event: triage.Event{Name: triage.EventIssues, Action: "unlabeled", Label: "bug", At: p.now}, Number: number, Issue: &issue,
			Repo: triage.Repo{Owner: "Codertocat", Name: "Hello-World"}, Sender: triage.Actor{Login: "mona", Type: "User"},
		}
	}
	var list []triage.Delivery
	for i := range issues {
		p.repo.AddIssue(githubtest.Issue{Number: i + 2, Author: "octocat"})
		d := undo(i + 2)
		d.Action, d.Label, d.Sender.Login = "opened", "", "octocat"
		p.o.Task = runner.TaskIdentity{ID: protocol.DeriveTaskID("opened", strconv.Itoa(i)), First: true}
		if rep, err := run(t, p.o, d); err != nil || rep.Executed != 1 {
			t.Fatal(rep.Reason, err)
		}
		list = append(list, d)
	}
	p.now = p.now.Add(time.Minute)
	for i := range list {
		p.repo.UnlabelAs("mona", list[i].Number, "bug")
		list[i] = undo(list[i].Number)
	}
	errs := make(chan error)
	for n, d := range slices.Concat(list, list) { // each event is delivered twice
		o := p.o
		o.Task = runner.TaskIdentity{ID: protocol.DeriveTaskID("unlabeled", strconv.Itoa(n)), First: true}
		go func() {
			r, err := runner.New(o.Options)
			if err == nil {
				_, err = r.Run(t.Context(), o.Task, d)
			}
			errs <- err
		}()
	}
	for range 2 * issues {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	r, err := store.Load(t.Context(), repoName, memory.Repository)
	if err != nil || len(r.Outcomes.Pairs) != 1 || r.Outcomes.Pairs[0].Undone != issues {
		t.Errorf("%v, got %+v", err, r.Outcomes)
	}
}

// TestCountedOnce lets a person undo and redo a label twenty times, and another one accept what was proposed: the issue counts
// once for each pair.
func TestCountedOnce(t *testing.T) {
	t.Parallel()
	p := newTrackStory(t, "rules:\n  - {id: crash, on: issues.opened, then: [{add_label: bug}, {add_label: {label: docs, suggest: true}}]}\n")
	p.line("opened")
	for range 20 {
		p.line("pass 1h")
		p.line("did mona unlabeled bug")
		p.line("comment mona /foreman accept all")
		p.line("rerun")
		p.line("did mona labeled bug")
	}
	p.line("pass 15d")
	p.line("sweep")
	p.out.Reset()
	p.line("tracks")
	if got, want := p.out.String(), "> tracks\n  crash add_label docs: accepted 1\n  crash add_label bug: undone 1\n"; got != want {
		t.Errorf("got\n%s", got)
	}
}
