package runner

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/text"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/triage"
)

// A lookup answers what rules ask beyond the event. It keeps what it found.
type lookup struct {
	*work
	ctx         context.Context //nolint:containedctx // expressions carry none; it lives as long as one decision
	permissions map[string]string
	files       []string
	listed      bool
}

// Permission asks the host once for each login.
func (l *lookup) Permission(login string) (string, error) {
	key := strings.ToLower(login)
	if p, ok := l.permissions[key]; ok {
		return p, nil
	}
	if l.o.Host == nil {
		return "", fmt.Errorf("look up what %s may do: %w", text.Quote(login), triage.ErrNeedsHost)
	}
	p, err := l.o.Host.Permission(l.ctx, l.e.Ref(), login)
	if err != nil {
		return "", err
	}
	if l.permissions == nil {
		l.permissions = map[string]string{}
	}
	l.permissions[key] = p
	return p, nil
}

// Past is the timeline. Nothing happened on an issue that was just opened.
func (l *lookup) Past() (facts.Past, error) {
	if l.fresh() {
		return facts.Past{}, nil
	}
	t, err := l.past.timeline(l.ctx)
	if err != nil {
		return facts.Past{}, err
	}
	return hindsight{Timeline: t, bot: l.o.Bot, issue: *l.e.Issue}.rulesPast(), nil
}

// rulesPast is the timeline as rules see it.
func (h hindsight) rulesPast() facts.Past {
	p := facts.Past{Partial: !h.Complete, Changes: make([]facts.Change, 0, len(h.Events))}
	for _, e := range h.Events {
		p.Changes = append(p.Changes, facts.Change{
			Kind: e.Kind, At: e.At, Login: e.Actor, Label: e.Label, Ours: h.ours(e), Human: h.human(e),
		})
	}
	return p
}

// Files asks the host once. An issue changes none. A file that is moved counts with both
// its paths. The error says that there are more files than the host lists: the rest may
// be anything.
func (l *lookup) Files() ([]string, error) {
	if l.listed || !l.e.Issue.PullRequest {
		return l.files, nil
	}
	if l.o.Host == nil {
		return nil, fmt.Errorf("list the files of %s: %w", l.e.Ref(), triage.ErrNeedsHost)
	}
	files, err := l.o.Host.Files(l.ctx, l.e.Ref())
	if err != nil {
		return nil, err
	}
	if p := l.e.Pull; p != nil && p.ChangedFiles > len(files) {
		return nil, fmt.Errorf("list the files of %s: %w: GitHub lists %d of the %d that it changes, and never more than 3,000",
			l.e.Ref(), triage.ErrTruncated, len(files), p.ChangedFiles)
	}
	for _, f := range files {
		l.files = append(l.files, f.Path)
		if f.Before != "" {
			l.files = append(l.files, f.Before)
		}
	}
	l.listed = true
	return l.files, nil
}

// Memory is what the record of the issue tells.
func (l *lookup) Memory() (facts.Memory, error) {
	return rulesMemory(l.remembered(l.ctx), l.o.TaskID), nil
}

// An answered is a lookup that asks nobody: it tells what was found before.
type answered struct{ *lookup }

// Permission returns what was found.
func (l answered) Permission(login string) (string, error) {
	if p, ok := l.permissions[strings.ToLower(login)]; ok {
		return p, nil
	}
	return "", facts.ErrUnasked
}

// Past returns what was read.
func (l answered) Past() (facts.Past, error) {
	if !l.past.asked && !l.fresh() {
		return facts.Past{}, facts.ErrUnasked
	}
	return l.lookup.Past()
}

// Files returns what was listed.
func (l answered) Files() ([]string, error) {
	if !l.listed && l.e.Issue.PullRequest {
		return nil, facts.ErrUnasked
	}
	return l.lookup.Files()
}

// Memory returns what was loaded.
func (l answered) Memory() (facts.Memory, error) {
	if l.known == nil {
		return facts.Memory{}, facts.ErrUnasked
	}
	return l.lookup.Memory()
}

// rulesMemory is a record as rules see it, but for the task at hand.
func rulesMemory(r memory.Record, task string) facts.Memory {
	var m facts.Memory
	if e := r.Earlier; e != nil {
		m.Tasks, m.Comments = e.Tasks, e.Done[protocol.ActionComment]
	}
	seen := map[string]bool{}
	for _, t := range r.Tasks {
		if t.ID == task {
			continue
		}
		m.Tasks++
		for _, a := range t.Actions {
			switch {
			case a.Result != memory.Done:
			case a.Type == protocol.ActionComment:
				m.Comments++
			case a.Type == protocol.ActionAddLabel || a.Type == protocol.ActionAddLabels:
				for _, name := range a.Values {
					if !seen[fold(name)] {
						seen[fold(name)] = true
						m.Labels = append(m.Labels, name)
					}
				}
			}
		}
	}
	m.Never = slices.Clone(r.Never)
	_, m.Closing = r.Due()
	return m
}
