package runner

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/runner/internal/history"
	"github.com/org/foreman-action/runner/internal/lookups"
	"github.com/org/foreman-action/triage"
)

// lookup answers the look-ups of rules for one decision. It implements [facts.Lookup].
type lookup struct {
	*reads
	known bool // nothing is read: only data that was already read is available
}

// Permission returns the permission of an account.
func (l lookup) Permission(ctx context.Context, login string) (string, error) {
	if !l.known {
		return l.reads.Permission(ctx, login)
	}
	if p, ok := l.permissions[strings.ToLower(login)]; ok {
		return p, nil
	}
	return "", facts.ErrUnasked
}

// Timeline returns the changes of the issue. Nothing has happened yet on an issue that was just opened.
func (l lookup) Timeline(ctx context.Context) (facts.Timeline, error) {
	if l.fresh() {
		return facts.Opening(*l.d.Issue), nil
	}
	if l.known && !l.timeline.asked {
		return facts.Timeline{}, facts.ErrUnasked
	}
	t, err := l.reads.Timeline(ctx)
	if err != nil {
		return facts.Timeline{}, err
	}
	return rulesTimeline(l.history(t), l.now()), nil
}

// Earlier returns more changes.
func (l lookup) Earlier(ctx context.Context) (facts.Timeline, error) {
	if l.known {
		return facts.Timeline{}, facts.ErrUnasked
	}
	if err := l.earlier(ctx); err != nil {
		return facts.Timeline{}, err
	}
	return rulesTimeline(l.history(l.timeline.value), l.now()), nil
}

// Read copies a part to k.
func (l lookup) Read(ctx context.Context, p facts.Part, k *facts.Known) error {
	if l.known && !l.has(p) {
		return facts.ErrUnasked
	}
	return l.reads.Read(ctx, p, k)
}

// lookup returns the look-ups of rules. With known, only data that was already read is available.
func (a attempt) lookup(known bool) facts.Lookup {
	switch {
	case a.o.Supplied != nil:
		return supplied{a.o.Supplied, a.d.OnPull()}
	case a.o.Host.Repository == nil:
		return hostless{reads: a.reads}
	}
	return lookup{a.reads, known}
}

// supplied answers look-ups from Options.Supplied.
type supplied struct {
	facts.Lookup
	pull bool // the issue is a pull request
}

// Read copies a part to k. An issue has no data of pull requests.
func (s supplied) Read(ctx context.Context, p facts.Part, k *facts.Known) error {
	if facts.SpecOf(p).Pulls && !s.pull {
		return nil
	}
	return s.Lookup.Read(ctx, p, k)
}

// hostless answers look-ups without a host: it has only the data that needs no call.
type hostless struct {
	facts.Supplied // without values
	reads          *reads
}

// Timeline returns the changes of an issue that was just opened.
func (l hostless) Timeline(ctx context.Context) (facts.Timeline, error) {
	if l.reads.fresh() {
		return facts.Opening(*l.reads.d.Issue), nil
	}
	return l.Supplied.Timeline(ctx)
}

// Read copies a part to k if no call is needed.
func (l hostless) Read(ctx context.Context, p facts.Part, k *facts.Known) error {
	if p == facts.MemoryPart || l.reads.has(p) {
		return l.reads.Read(ctx, p, k)
	}
	return l.Supplied.Read(ctx, p, k)
}

// has reports whether the data of a part is known without a call.
func (r *reads) has(p facts.Part) bool {
	return p == facts.MemoryPart && r.record != nil || r.parts.Has(r.d, p)
}

// Read reads a part, unless that was done before, and copies it to k.
func (r *reads) Read(ctx context.Context, p facts.Part, k *facts.Known) error {
	if p == facts.MemoryPart {
		k.Before = rulesMemory(r.Record(ctx), r.task)
		return nil
	}
	r.parts.Host, r.parts.Now = r.host.Repository, r.now
	if search := r.host.Search; search != nil {
		r.parts.Find = func(ctx context.Context, query string, most int) (lookups.Found, error) {
			found, err := search.Find(ctx, r.d.Ref(), query, most)
			return lookups.Found(found), err
		}
	}
	return r.parts.Read(ctx, r.d, p, k)
}

// rulesTimeline returns the history in the form that rules read. Commits with a date in the future
// are left out, because with them the pull request would never count as idle.
func rulesTimeline(h history.History, now time.Time) facts.Timeline {
	p := facts.Timeline{Partial: !h.Complete, More: h.Before > 0, Changes: make([]facts.Change, 0, len(h.Events))}
	for _, e := range h.Events {
		if e.Kind == "committed" && e.At.After(now) {
			continue
		}
		p.Changes = append(p.Changes, facts.Change{
			Kind: e.Kind, At: e.At, Login: e.Actor, Label: e.Label, Ours: h.Ours(e), Human: h.Human(e),
		})
	}
	return p
}

// rulesMemory returns a record in the form that rules read, without the current task.
func rulesMemory(r memory.Record, task string) facts.Memory {
	var m facts.Memory
	if e := r.Earlier; e != nil {
		m.Tasks, m.Comments = e.Tasks, e.Done[protocol.ActionComment]
	}
	seen := map[string]bool{}
	for _, t := range r.Tasks {
		if t.ID == task || t.Suppressed() {
			continue
		}
		m.Tasks++
		for _, a := range t.Actions {
			switch spec, _ := protocol.SpecOf(a.Type); {
			case a.Result != triage.Done:
			case a.Type == protocol.ActionComment:
				m.Comments++
			case spec.AddsLabels():
				for _, name := range a.Values {
					if key := text.Fold(name); !seen[key] {
						seen[key] = true
						m.Labels = append(m.Labels, name)
					}
				}
			}
		}
	}
	m.Never = slices.Clone(r.Never)
	_, m.Closing = r.ClosingDue()
	return m
}
