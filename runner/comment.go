package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/triage"
)

func comment() action {
	return action{
		judge: func(p *planner, s *Step) { p.judgeOnce(s) },
		write: func(ctx context.Context, x *execution, s *Step) error {
			return x.post(ctx, s, 0)
		},
	}
}

// updateComment is the sticky comment: one for each key, written anew in place.
func updateComment() action {
	return action{
		judge: func(p *planner, s *Step) {
			if !validKey(s.key) {
				s.set(triage.Refuse, "key: want letters, digits, '.', '_' and '-', at most 64")
				return
			}
			p.judgeComment(s)
		},
		write: func(ctx context.Context, x *execution, s *Step) error {
			id, err := x.sticky(ctx, s.key)
			if err != nil {
				return err
			}
			err = x.post(ctx, s, id)
			if id != 0 && errors.Is(err, triage.ErrNotFound) {
				return x.post(ctx, s, 0) // somebody deleted it meanwhile
			}
			return err
		},
	}
}

// judgeOnce is judgeComment for a comment that may be posted once only.
func (p *planner) judgeOnce(s *Step) {
	s.once = first(s.Action, "once")
	switch {
	case s.once == "":
	case !validKey(s.once):
		s.set(triage.Refuse, "once: want letters, digits, '.', '_' and '-', at most 64")
		return
	case p.said[s.once]:
		s.set(triage.Skip, "the plan says it already (once: "+s.once+")")
		return
	}
	p.judgeComment(s)
	p.said[s.once] = s.Verdict == triage.Do
}

// onceOnly passes over a comment that was posted on the issue before, be it there or
// deleted by now.
func (x *execution) onceOnly(ctx context.Context, h hindsight, s *Step) {
	said := func(e triage.TimelineEvent) bool {
		m, ok := markOf(e.Body)
		return ok && e.Kind == "commented" && m.once == s.once && m.task != x.Task && h.ours(e)
	}
	if e, found := h.last(said); found {
		giveWay(s, fmt.Sprintf("it was said on %s (once: %s)", e.At.UTC().Format(time.DateOnly), s.once))
		return
	}
	if x.Record != nil {
		for _, t := range x.Record(ctx).Tasks {
			for _, a := range t.Actions {
				if t.ID != x.Task && a.Type == protocol.ActionComment && a.Result == memory.Done && slices.Contains(a.Values, s.once) {
					giveWay(s, fmt.Sprintf("it was said on %s, and deleted since (once: %s)", t.At.UTC().Format(time.DateOnly), s.once))
					return
				}
			}
		}
	}
	if !h.Complete {
		giveWay(s, "the timeline of the issue is too long to tell whether it was said before (once: "+s.once+")")
	}
}

// judgeComment makes the body harmless and holds it against the policy.
func (p *planner) judgeComment(s *Step) {
	name := s.Action.Type
	body, _, _ := s.Action.Text("body")
	// What is not posted anyway is not worth the work of making it harmless, which
	// drops characters only where nobody sees any.
	switch limit := p.policy.MaxLength(); {
	case p.used[name] >= p.limits[name] && (!s.answers() || p.limits[name] <= 0):
		s.set(triage.Refuse, fmt.Sprintf("policy.limits.%s is %d per event", name, p.limits[name]))
		return
	case len(body) > 8*limit:
		s.set(triage.Refuse, fmt.Sprintf("the body has %d bytes, policy.comment_length is %d characters", len(body), limit))
		return
	}
	s.text = p.policy.Clean(body, s.Source)
	n := utf8.RuneCountInString(s.text)
	switch limit := p.policy.MaxLength(); {
	case strings.TrimSpace(s.text) == "":
		s.set(triage.Refuse, "nothing of the body is left once it is made harmless")
	case n > limit:
		s.set(triage.Refuse, fmt.Sprintf("the body has %d characters, policy.comment_length is %d", n, limit))
	case !p.mayComment && !s.answers() && (!p.agentMay || !s.Source.IsAgent()):
		s.set(triage.Skip, "edits, label events and comments are answered only where a rule names that event")
	}
}

// post creates a comment, or replaces the one with the given id.
func (x *execution) post(ctx context.Context, s *Step, id int64) error {
	body := s.text + "\n\n" + x.marker(s)
	var c triage.Comment
	var err error
	x.comments = nil // from now on what was read is old
	if id == 0 {
		c, err = x.Host.CreateComment(ctx, x.Ref, body)
	} else {
		c, err = x.Host.UpdateComment(ctx, x.Ref, id, body)
	}
	if err != nil {
		return err
	}
	x.posted(s, c)
	return nil
}

// posted notes the comment that a step led to.
func (x *execution) posted(s *Step, c triage.Comment) {
	x.urls[s.Index] = c.URL
	if c.Author != "" && !strings.EqualFold(c.Author, x.Bot) {
		x.warn("comments are posted as %s, but the bot's login is %s: set bot-login, or a re-run may not recognise them",
			c.Author, x.Bot)
	}
}

// isComment reports whether a step writes a comment.
func (s *Step) isComment() bool {
	return s.Action.Type == protocol.ActionComment || s.Action.Type == protocol.ActionUpdateComment
}
