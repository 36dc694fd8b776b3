package hosttest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/triage"
)

// A mutant is a host with one fault. Each function that is not nil replaces what the host in memory
// does, or changes its result.
type mutant struct {
	runner.Issues
	runner.Repository
	runner.Search

	issue    func(*triage.Snapshot, *error)
	comments func(*[]triage.Comment, *error)
	sinceAll bool // Comments ignores since
	comment  func(*triage.Comment, *error)
	timeline func(*triage.Timeline)
	earlier  func(before triage.Timeline, after *triage.Timeline)
	write    writer
	label    func(*string, *error)
	page     func(n int, names *[]string, last *int)
	list     func(*[]triage.Issue, *error) // of Opened and Open
	found    func(*runner.Found)
	pull     func(*triage.PullRequest, *error)
	files    func(*[]triage.ChangedFile)
	messages func(*[]string)
	reviews  func(*[]triage.Review, *error)
	account  func(*error)
	reacted  func(*[]triage.Reaction, *error)
	role     func(*string)
	gated    bool // Issue calls the gate
}

func (m mutant) Issue(ctx context.Context, ref triage.Ref) (triage.Snapshot, error) {
	if m.gated {
		if err := effect.PassGate(ctx); err != nil {
			return triage.Snapshot{}, err
		}
	}
	s, err := m.Issues.Issue(ctx, ref)
	call2(m.issue, &s, &err)
	return s, err
}

func (m mutant) Comments(ctx context.Context, ref triage.Ref, since time.Time, until func(triage.Comment) bool) ([]triage.Comment, error) {
	if m.sinceAll {
		since = time.Time{}
	}
	list, err := m.Issues.Comments(ctx, ref, since, until)
	call2(m.comments, &list, &err)
	return list, err
}

func (m mutant) Comment(ctx context.Context, ref triage.Ref, id int64) (triage.Comment, error) {
	c, err := m.Issues.Comment(ctx, ref, id)
	call2(m.comment, &c, &err)
	return c, err
}

func (m mutant) Timeline(ctx context.Context, ref triage.Ref) (triage.Timeline, error) {
	t, err := m.Issues.Timeline(ctx, ref)
	if m.timeline != nil {
		m.timeline(&t)
	}
	return t, err
}

func (m mutant) Earlier(ctx context.Context, ref triage.Ref, t triage.Timeline) (triage.Timeline, error) {
	after, err := m.Issues.Earlier(ctx, ref, t)
	if m.earlier != nil {
		m.earlier(t, &after)
	}
	return after, err
}

func (m mutant) Write(ctx context.Context, ref triage.Ref, e effect.Effect) (effect.Written, error) {
	if m.write != nil {
		return m.write(ctx, m.Issues, ref, e)
	}
	return m.Issues.Write(ctx, ref, e)
}

func (m mutant) Label(ctx context.Context, ref triage.Ref, name string) (string, error) {
	got, err := m.Repository.Label(ctx, ref, name)
	call2(m.label, &got, &err)
	return got, err
}

func (m mutant) LabelPage(ctx context.Context, ref triage.Ref, n int) ([]string, int, error) {
	names, last, err := m.Repository.LabelPage(ctx, ref, n)
	if m.page != nil {
		m.page(n, &names, &last)
	}
	return names, last, err
}

func (m mutant) Opened(ctx context.Context, ref triage.Ref, login string) ([]triage.Issue, error) {
	list, err := m.Repository.Opened(ctx, ref, login)
	call2(m.list, &list, &err)
	return list, err
}

func (m mutant) Open(ctx context.Context, ref triage.Ref, calls int) ([]triage.Issue, error) {
	list, err := m.Search.Open(ctx, ref, calls)
	call2(m.list, &list, &err)
	return list, err
}

func (m mutant) Find(ctx context.Context, ref triage.Ref, query string, most int) (runner.Found, error) {
	f, err := m.Search.Find(ctx, ref, query, most)
	if m.found != nil {
		m.found(&f)
	}
	return f, err
}

func (m mutant) Pull(ctx context.Context, ref triage.Ref) (triage.PullRequest, error) {
	p, err := m.Repository.Pull(ctx, ref)
	call2(m.pull, &p, &err)
	return p, err
}

func (m mutant) Files(ctx context.Context, ref triage.Ref) ([]triage.ChangedFile, error) {
	list, err := m.Repository.Files(ctx, ref)
	if m.files != nil {
		m.files(&list)
	}
	return list, err
}

func (m mutant) Messages(ctx context.Context, ref triage.Ref) ([]string, error) {
	list, err := m.Repository.Messages(ctx, ref)
	if m.messages != nil {
		m.messages(&list)
	}
	return list, err
}

func (m mutant) Reviews(ctx context.Context, ref triage.Ref) ([]triage.Review, error) {
	list, err := m.Repository.Reviews(ctx, ref)
	call2(m.reviews, &list, &err)
	return list, err
}

func (m mutant) Account(ctx context.Context, ref triage.Ref, login string) (triage.Account, error) {
	a, err := m.Repository.Account(ctx, ref, login)
	if m.account != nil {
		m.account(&err)
	}
	return a, err
}

func (m mutant) Permission(ctx context.Context, ref triage.Ref, login string) (string, error) {
	got, err := m.Repository.Permission(ctx, ref, login)
	if m.role != nil {
		m.role(&got)
	}
	return got, err
}

func (m mutant) Reactions(ctx context.Context, ref triage.Ref, id int64, content string) ([]triage.Reaction, error) {
	list, err := m.Search.Reactions(ctx, ref, id, content)
	call2(m.reacted, &list, &err)
	return list, err
}

func call2[A, B any](f func(*A, *B), a *A, b *B) {
	if f != nil {
		f(a, b)
	}
}

// otherwise replaces an error that matches one by another.
func otherwise[T any](match, other error) func(*T, *error) {
	return func(_ *T, err *error) {
		if errors.Is(*err, match) {
			*err = other
		}
	}
}

// on changes the host's behaviour for the effects of one type.
func on[E effect.Effect](do func(context.Context, runner.Issues, triage.Ref, E) (effect.Written, error)) writer {
	return func(ctx context.Context, to runner.Issues, ref triage.Ref, e effect.Effect) (effect.Written, error) {
		if one, ok := e.(E); ok {
			return do(ctx, to, ref, one)
		}
		return to.Write(ctx, ref, e)
	}
}

// A writer replaces Write of the host in memory.
type writer = func(context.Context, runner.Issues, triage.Ref, effect.Effect) (effect.Written, error)

// ungated ignores the gate.
func ungated(ctx context.Context, to runner.Issues, ref triage.Ref, e effect.Effect) (effect.Written, error) {
	return to.Write(effect.WithGate(ctx, nil), ref, e)
}

// lateGate passes the gate after the write.
func lateGate(ctx context.Context, to runner.Issues, ref triage.Ref, e effect.Effect) (effect.Written, error) {
	w, err := ungated(ctx, to, ref, e)
	if err == nil {
		err = effect.PassGate(ctx)
	}
	return w, err
}

// unended ignores that the context has ended.
func unended(ctx context.Context, to runner.Issues, ref triage.Ref, e effect.Effect) (effect.Written, error) {
	return to.Write(context.WithoutCancel(ctx), ref, e)
}

// lacking makes do a host without assignees, locks, types and reactions, which hides no comments.
func lacking(do writer) writer {
	return func(ctx context.Context, to runner.Issues, ref triage.Ref, e effect.Effect) (effect.Written, error) {
		switch kind := effect.TypeOf(e); kind {
		case "assign", "unassign", "set_type", "react":
			return effect.Written{}, fmt.Errorf("%s: %w", kind, errors.ErrUnsupported)
		case "lock", "unlock", "hide_comment":
			return effect.Written{}, &triage.RefusedError{Reason: "not on this host", Err: errors.ErrUnsupported}
		}
		return do(ctx, to, ref, e)
	}
}

// TestSmallHost checks that a host without some effects passes the suite, and that only the tests
// about these effects are skipped.
func TestSmallHost(t *testing.T) {
	t.Parallel()
	skipped := []string{
		"a comment is hidden", "reactions to a comment", "who can be assigned", "write an assignee", "write an assignee less", "write a type",
		"write a lock", "write a lock without a reason", "write no lock", "write a reaction",
	}
	all := func(ctx context.Context, to runner.Issues, ref triage.Ref, e effect.Effect) (effect.Written, error) {
		return to.Write(ctx, ref, e)
	}
	for _, p := range promises() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			in := New(p.repo()).Host("")
			m := mutant{Issues: in.Issues, Repository: in.Repository, Search: in.Search, write: lacking(all)}
			problems, skip := p.verify(t, runner.HostOf(m))
			if want := slices.Contains(skipped, p.name); len(problems) > 0 || (skip != "") != want {
				t.Errorf("got the problems %q, skipped because of %q; want no problem, skipped %t", problems, skip, want)
			}
		})
	}
}

// TestNoEffects checks that the tests of several effects are skipped if the host has none of them.
func TestNoEffects(t *testing.T) {
	t.Parallel()
	none := func(context.Context, runner.Issues, triage.Ref, effect.Effect) (effect.Written, error) {
		return effect.Written{}, errors.ErrUnsupported
	}
	for _, p := range promises() {
		switch p.name {
		case "refusals", "nothing to write", "zero intents are none", "intents change nothing else", "proposals are held", "absent comments are not found", "the gate is passed before each write", "a gate stops each write", "a context that has ended stops writes":
			in := New(p.repo()).Host("")
			problems, skip := p.verify(t, runner.HostOf(mutant{Issues: in.Issues, Repository: in.Repository, Search: in.Search, write: none}))
			if len(problems) > 0 || skip == "" {
				t.Errorf("%s: got the problems %q, skipped because of %q; want it skipped", p.name, problems, skip)
			}
		}
	}
}

// written changes the result of each write.
func written(change func(*effect.Written, *error)) writer {
	return func(ctx context.Context, to runner.Issues, ref triage.Ref, e effect.Effect) (effect.Written, error) {
		w, err := to.Write(ctx, ref, e)
		change(&w, &err)
		return w, err
	}
}

// shown changes each event of a timeline.
func shown(change func(*triage.TimelineEvent)) func(*triage.Timeline) {
	return func(t *triage.Timeline) {
		for k := range t.Events {
			change(&t.Events[k])
		}
	}
}

// TestMutants checks that the suite detects each fault of a host, in the test that is named.
func TestMutants(t *testing.T) {
	t.Parallel()
	errOther := errors.New("something else")
	tests := []struct {
		fault, detected string
		says            string // part of the problem
		mutant          mutant
	}{
		{"the JSON of another issue", "an issue with its JSON", "Number is 6, want 7", mutant{issue: func(s *triage.Snapshot, _ *error) { s.Raw = []byte(`{"number": 6}`) }}},
		{"an empty list in place of a nil one", "an issue with its JSON", "nil instead of empty", mutant{issue: func(s *triage.Snapshot, _ *error) { s.LabelIDs = []triage.LabelID{} }}},
		{"a wrong title", "an issue with its JSON", `Title is "It hangs", want "It crashes"`, mutant{issue: func(s *triage.Snapshot, _ *error) { s.Title = "It hangs" }}},
		{"JSON that is cut", "an issue with its JSON", "Raw", mutant{issue: func(s *triage.Snapshot, _ *error) { s.Raw = s.Raw[:len(s.Raw)/2] }}},
		{"an absent issue is not found", "absent issues are gone", "Issue of", mutant{issue: otherwise[triage.Snapshot](triage.ErrGone, triage.ErrNotFound)}},
		{"an ended context is ignored", "a context that has ended stops reads", "Comments", mutant{comments: otherwise[[]triage.Comment](context.Canceled, nil)}},
		{"comments newest first", "comments oldest first", "third", mutant{comments: func(list *[]triage.Comment, _ *error) { slices.Reverse(*list) }}},
		{"since is ignored", "comments since a time", "want none", mutant{sinceAll: true}},
		{"a gap before until", "comments until one", "until 249", mutant{comments: func(list *[]triage.Comment, _ *error) { *list = (*list)[len(*list)-1:] }}},
		{"truncated without an error", "too many comments", "got the error <nil>", mutant{comments: otherwise[[]triage.Comment](triage.ErrTruncated, nil)}},
		{"the oldest comments", "too many comments", "newest", mutant{comments: func(list *[]triage.Comment, err *error) {
			if *err != nil && len(*list) > 0 {
				*list = (*list)[:len(*list)-1]
			}
		}}},
		{"an absent comment is empty", "one comment", "absent comment", mutant{comment: otherwise[triage.Comment](triage.ErrNotFound, nil)}},
		{"a timeline that lies", "a timeline of 730 events", "it is marked as complete, and lacks 330 of the 730 events", mutant{timeline: func(t *triage.Timeline) { t.Complete, t.Before = true, 0 }}},
		{"a timeline that lies later", "a timeline of 730 events", "the timeline is marked as complete, and lacks 230", mutant{earlier: func(_ triage.Timeline, t *triage.Timeline) { t.Complete, t.Before = true, 0 }}},
		{"a timeline that is never complete", "a timeline of 500 events", "complete false", mutant{timeline: func(t *triage.Timeline) { t.Complete = false }}},
		{"a timeline newest first", "a timeline of 500 events", "Timeline", mutant{timeline: func(t *triage.Timeline) { slices.Reverse(t.Events) }}},
		{"no earlier position", "a timeline of 2,300 events", "earlier position", mutant{earlier: func(b triage.Timeline, t *triage.Timeline) { t.Before = b.Before }}},
		{"the same page again", "a timeline of 730 events", "not in order, or not whole", mutant{earlier: func(b triage.Timeline, t *triage.Timeline) {
			t.Events = append(slices.Clone(b.Events[:min(100, len(b.Events))]), b.Events...)
		}}},
		{"no bound", "a timeline of 2,300 events", "want the newest 2,000", mutant{earlier: func(b triage.Timeline, t *triage.Timeline) {
			if t.Before == 0 && !t.Complete {
				t.Before = b.Before - 100
			}
		}}},
		{"events without an actor", "write labels", "of github-actions[bot]", mutant{timeline: func(t *triage.Timeline) {
			for k := range t.Events {
				t.Events[k].Actor = ""
			}
		}}},
		{"writes are lost", "write a lock", "after Write lock {Reason:spam}: Locked is false, want true", mutant{write: on(func(context.Context, runner.Issues, triage.Ref, effect.Lock) (effect.Written, error) {
			return effect.Written{}, nil
		})}},
		{"the caller's spelling", "write a label in the repository's spelling", "FEATURE", mutant{issue: func(s *triage.Snapshot, _ *error) {
			for k, l := range s.Labels {
				s.Labels[k] = strings.Replace(l, "Feature", "FEATURE", 1)
			}
		}}},
		{"no reason", "write close as not planned", `StateReason is "completed", want "not_planned"`, mutant{write: on(func(ctx context.Context, to runner.Issues, ref triage.Ref, e effect.Close) (effect.Written, error) {
			return to.Write(ctx, ref, effect.Close{})
		})}},
		{"a repeated write is an error", "nothing to write", "Write unlock {}", mutant{write: on(func(ctx context.Context, to runner.Issues, ref triage.Ref, e effect.Unlock) (effect.Written, error) {
			if s, err := to.Issue(ctx, ref); err != nil || !s.Locked {
				return effect.Written{}, errOther
			}
			return to.Write(ctx, ref, e)
		})}},
		{"a repeated write has an event", "write a milestone", "more events", mutant{write: on(func(ctx context.Context, to runner.Issues, ref triage.Ref, e effect.SetMilestone) (effect.Written, error) {
			_, err := to.Write(ctx, ref, effect.SetMilestone{})
			if err == nil && e.Title != "" {
				_, err = to.Write(ctx, ref, e)
			}
			return effect.Written{}, err
		})}},
		{"no comment in the result", "comments are posted and replaced", "Write of a comment", mutant{write: written(func(w *effect.Written, _ *error) { w.Comment = triage.Comment{} })}},
		{"a comment is posted instead of replaced", "comments are posted and replaced", "with its ID", mutant{write: on(func(ctx context.Context, to runner.Issues, ref triage.Ref, e effect.Comment) (effect.Written, error) {
			return to.Write(ctx, ref, effect.Comment{Body: e.Body})
		})}},
		{"one of several labels is removed", "several labels are removed by one write, or by none", "two of three", mutant{write: on(func(ctx context.Context, to runner.Issues, ref triage.Ref, e effect.RemoveLabels) (effect.Written, error) {
			return to.Write(ctx, ref, effect.RemoveLabels{Names: e.Names[:min(1, len(e.Names))]})
		})}},
		{"hiding is ignored", "a comment is hidden", "Hidden false", mutant{comments: func(list *[]triage.Comment, _ *error) {
			for k := range *list {
				(*list)[k].Hidden = false
			}
		}}},
		{"everybody is accepted", "who can be assigned", "accepts", mutant{write: on(func(ctx context.Context, to runner.Issues, ref triage.Ref, e effect.Assign) (effect.Written, error) {
			w, err := to.Write(ctx, ref, e)
			w.Accepted = e.Logins
			return w, err
		})}},
		{"a refused request is an error of another kind", "reviews are requested", "RefusedError", mutant{write: written(func(_ *effect.Written, err *error) {
			if _, refused := errors.AsType[*triage.RefusedError](*err); refused {
				*err = errOther
			}
		})}},
		{"an absent comment is gone", "absent comments are not found", "Write", mutant{write: written(func(_ *effect.Written, err *error) {
			if errors.Is(*err, triage.ErrNotFound) {
				*err = triage.ErrGone
			}
		})}},
		{"a missing milestone is created", "refusals", "absent", mutant{write: on(func(context.Context, runner.Issues, triage.Ref, effect.SetMilestone) (effect.Written, error) {
			return effect.Written{}, nil
		})}},
		{"effects of the memory succeed", "effects of the memory are errors", "never_again", mutant{write: written(func(_ *effect.Written, err *error) {
			if *err != nil && strings.Contains(fmt.Sprint(*err), "memory") {
				*err = nil
			}
		})}},
		{"no gate", "the gate is passed before each write", "PassGate", mutant{write: ungated}},
		{"the gate comes after the write", "a gate stops each write", "must change nothing", mutant{write: lateGate}},
		{"reads pass the gate", "reads do not pass the gate", "Issue", mutant{gated: true}},
		{"writes ignore the context", "a context that has ended stops writes", "must change nothing", mutant{write: unended}},
		{"no gate in a small host", "the gate is passed before each write", "PassGate", mutant{write: lacking(ungated)}},
		{"a late gate in a small host", "a gate stops each write", "must change nothing", mutant{write: lacking(lateGate)}},
		{"a small host ignores the context", "a context that has ended stops writes", "must change nothing", mutant{write: lacking(unended)}},
		{"an absent issue is not found by a small host", "absent issues are gone", "Write add_labels", mutant{write: lacking(written(func(_ *effect.Written, err *error) {
			if errors.Is(*err, triage.ErrGone) {
				*err = triage.ErrNotFound
			}
		}))}},
		{"a small host creates a missing milestone", "refusals", "absent", mutant{write: lacking(on(func(context.Context, runner.Issues, triage.Ref, effect.SetMilestone) (effect.Written, error) {
			return effect.Written{}, nil
		}))}},
		{"a small host does not find an absent comment", "absent comments are not found", "Write comment", mutant{write: lacking(written(func(_ *effect.Written, err *error) {
			if errors.Is(*err, triage.ErrNotFound) {
				*err = errOther
			}
		}))}},
		{"a small host cannot repeat a write", "nothing to write", "Write reopen_issue", mutant{write: lacking(on(func(context.Context, runner.Issues, triage.Ref, effect.Reopen) (effect.Written, error) {
			return effect.Written{}, errOther
		}))}},
		{"a lost answer is repeated", "a lost answer is uncertain, and the write not repeated", "2 times", mutant{write: func(ctx context.Context, to runner.Issues, ref triage.Ref, e effect.Effect) (effect.Written, error) {
			w, err := to.Write(ctx, ref, e)
			if errors.Is(err, triage.ErrUncertain) {
				return to.Write(ctx, ref, e)
			}
			return w, err
		}}},
		{"a lost answer is a failure", "a lost answer is uncertain, and the write not repeated", "outcome of the write is unknown", mutant{write: written(func(_ *effect.Written, err *error) {
			if errors.Is(*err, triage.ErrUncertain) {
				*err = errOther
			}
		})}},
		{"zero intents are held", "zero intents are none", "as without the intent", mutant{write: on(func(ctx context.Context, to runner.Issues, ref triage.Ref, e effect.AddLabels) (effect.Written, error) {
			return effect.Written{Held: e.Names}, nil
		})}},
		{"zero intents lose the change", "zero intents are none", "as without the intent", mutant{write: on(func(ctx context.Context, to runner.Issues, ref triage.Ref, e effect.SetType) (effect.Written, error) {
			return effect.Written{}, nil
		})}},
		{"zero intents are shown", "zero intents are none", "without an intent", mutant{timeline: shown(func(e *triage.TimelineEvent) { e.Intends, e.Intended = true, e.Kind == "assigned" })}},
		{"a change with an intent is lost", "intents change nothing else", "want it to have what is not held", mutant{write: on(func(ctx context.Context, to runner.Issues, ref triage.Ref, e effect.AddLabels) (effect.Written, error) {
			if e.Intents != nil {
				return effect.Written{}, nil
			}
			return to.Write(ctx, ref, e)
		})}},
		{"a change with an intent is held, which no event shows", "intents change nothing else", "no event shows", mutant{write: on(func(ctx context.Context, to runner.Issues, ref triage.Ref, e effect.Assign) (effect.Written, error) {
			return effect.Written{Held: e.Logins}, nil
		})}},
		{"an event has an intent and cannot", "intents change nothing else", "want it to be one that Intends", mutant{timeline: shown(func(e *triage.TimelineEvent) { e.Intended = true })}},
		{"a comment can have an intent", "intents are shown", "its kind cannot", mutant{timeline: shown(func(e *triage.TimelineEvent) { e.Intends = true })}},
		{"some events hide intents", "intents are shown", "others are not", mutant{timeline: shown(func(e *triage.TimelineEvent) {
			if e.Label == "bug" {
				e.Intends, e.Intended = false, false
			}
		})}},
		{"every label has an intent", "intents are shown", "without an intent", mutant{timeline: shown(func(e *triage.TimelineEvent) { e.Intended = e.Intends })}},
		{"intents are not shown", "intents are shown", "want Intended true", mutant{timeline: shown(func(e *triage.TimelineEvent) { e.Intended = false })}},
		{"a held change is made", "intents are shown", "want it to have what is not held", mutant{write: on(func(ctx context.Context, to runner.Issues, ref triage.Ref, e effect.SetType) (effect.Written, error) {
			w, err := to.Write(ctx, ref, e)
			w.Held = []string{e.Name}
			return w, err
		})}},
		{"a proposal is made", "proposals are held", "must change nothing", mutant{write: on(func(ctx context.Context, to runner.Issues, ref triage.Ref, e effect.Assign) (effect.Written, error) {
			_, err := to.Write(ctx, ref, effect.Assign{Logins: e.Logins})
			return effect.Written{Held: e.Logins}, err
		})}},
		{"a proposal is not reported", "proposals are held", "it holds [], want [Bug]", mutant{write: on(func(ctx context.Context, to runner.Issues, ref triage.Ref, e effect.SetType) (effect.Written, error) {
			_, err := to.Write(ctx, ref, e)
			return effect.Written{}, err
		})}},
		{"a label of the issue is held", "proposals are held", "it holds [Kind/Feature what? 100%], want [what? 100%]", mutant{write: on(func(ctx context.Context, to runner.Issues, ref triage.Ref, e effect.AddLabels) (effect.Written, error) {
			w, err := to.Write(ctx, ref, e)
			if len(w.Held) > 0 {
				w.Held = e.Names
			}
			return w, err
		})}},
		{"a proposal is an event", "proposals are held", "1 events of the proposal", mutant{write: on(func(ctx context.Context, to runner.Issues, ref triage.Ref, e effect.SetType) (effect.Written, error) {
			w, err := to.Write(ctx, ref, e)
			if err == nil && len(w.Held) > 0 {
				_, err = to.Write(ctx, ref, effect.Comment{Body: "type: " + e.Name})
			}
			return w, err
		})}},
		{"labels as asked for", "labels in the repository's spelling", "BUG", mutant{label: func(name *string, _ *error) { *name = strings.ToUpper(*name) }}},
		{"an absent label is empty", "labels in the repository's spelling", "absent", mutant{label: otherwise[string](triage.ErrNotFound, nil)}},
		{"one page of labels", "pages of labels", "100 labels", mutant{page: func(_ int, _ *[]string, last *int) { *last = 1 }}},
		{"the first page again", "pages of labels", "labels, want each", mutant{page: func(n int, names *[]string, _ *int) {
			if n > 1 {
				*names = nil
			}
		}}},
		{"roles are rounded", "permissions", "admin", mutant{role: func(role *string) {
			if *role == "admin" {
				*role = "write"
			}
		}}},
		{"the newest issues first", "what an account opened", "oldest first", mutant{list: func(list *[]triage.Issue, _ *error) { slices.Reverse(*list) }}},
		{"merges are unknown", "what an account opened", "merged", mutant{list: func(list *[]triage.Issue, _ *error) {
			for k := range *list {
				(*list)[k].Merged = false
			}
		}}},
		{"every account exists", "accounts", "Account that is absent", mutant{account: func(err *error) { *err = nil }}},
		{"an issue is a pull request", "pull requests", "Pull of an issue", mutant{pull: otherwise[triage.PullRequest](triage.ErrNotFound, nil)}},
		{"moved files lose their path", "pull requests", "old.go", mutant{files: func(list *[]triage.ChangedFile) {
			for k := range *list {
				(*list)[k].Before = ""
			}
		}}},
		{"the newest commits first", "long lists of a pull request", "commits", mutant{messages: func(list *[]string) { slices.Reverse(*list) }}},
		{"too many reviews without an error", "long lists of a pull request", "Reviews of 1,100", mutant{reviews: otherwise[[]triage.Review](triage.ErrTruncated, nil)}},
		{"searches are not limited", "searches find issues or pull requests", "of 13", mutant{found: func(f *runner.Found) { f.Total = len(f.Issues) + 1 }}},
		{"an open issue is left out", "open issues and pull requests", "Open", mutant{list: func(list *[]triage.Issue, _ *error) { *list = (*list)[:max(0, len(*list)-1)] }}},
		{"a partial list without an error", "open issues and pull requests", "by one call", mutant{list: otherwise[[]triage.Issue](triage.ErrTruncated, nil)}},
		{"reactions of all contents", "reactions of a content", "heart", mutant{reacted: func(list *[]triage.Reaction, _ *error) {
			*list = append(*list, triage.Reaction{Actor: "alice", At: start})
		}}},
		{"reactions are cut", "too many reactions", "401", mutant{reacted: otherwise[[]triage.Reaction](triage.ErrTruncated, nil)}},
		{"a label is lost", "concurrent use", "8 labels", mutant{write: on(func(ctx context.Context, to runner.Issues, ref triage.Ref, e effect.AddLabels) (effect.Written, error) {
			if slices.Contains(e.Names, "label 3") {
				return effect.Written{}, nil
			}
			return to.Write(ctx, ref, e)
		})}},
		{"reactions to a comment go to the issue", "reactions to a comment", "Reactions to comment", mutant{write: on(func(ctx context.Context, to runner.Issues, ref triage.Ref, e effect.React) (effect.Written, error) {
			return to.Write(ctx, ref, effect.React{Content: e.Content})
		})}},
	}
	for _, p := range promises() {
		found := strings.HasPrefix(p.name, "write ") // they share one check
		for _, tt := range tests {
			found = found || tt.detected == p.name
		}
		if !found {
			t.Errorf("no fault is detected by the test %q", p.name)
		}
	}
	for _, tt := range tests {
		t.Run(tt.fault, func(t *testing.T) {
			t.Parallel()
			k := slices.IndexFunc(promises(), func(p promise) bool { return p.name == tt.detected })
			if k < 0 {
				t.Fatalf("the suite has no test %q", tt.detected)
			}
			p := promises()[k]
			m, in := tt.mutant, New(p.repo()).Host("")
			m.Issues, m.Repository, m.Search = in.Issues, in.Repository, in.Search
			problems, skip := p.verify(t, runner.HostOf(m))
			if skip != "" {
				t.Errorf("%s: it is skipped: %s", tt.detected, skip)
			}
			if !strings.Contains(strings.Join(problems, "\n"), tt.says) || len(problems) == 0 {
				t.Errorf("%s: got the problems %q, want one with %q", tt.detected, problems, tt.says)
			}
		})
	}
}
