// Package execute carries a reviewed plan out: one write at a time, in order. It marks each
// write in the journal before and after, looks a write of unknown outcome up before it
// repeats it, and stops at the first failure.
package execute

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/wait"
	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/runner/internal/history"
	"github.com/org/foreman-action/runner/internal/plan"
	"github.com/org/foreman-action/triage"
)

// A Host is where an issue is written, and read back.
type Host interface {
	// Issue returns the issue as it is now.
	Issue(ctx context.Context, ref triage.Ref) (triage.Snapshot, error)
	// Comments returns the issue's comments created or changed at or after since, those from
	// the newest one on for which until holds; nil: all. See the method of runner.Issues.
	Comments(ctx context.Context, ref triage.Ref, since time.Time, until func(triage.Comment) bool) ([]triage.Comment, error)
	// Comment returns one comment of the issue; ErrNotFound when it has none with that id.
	Comment(ctx context.Context, ref triage.Ref, id int64) (triage.Comment, error)
	// Write carries one effect out.
	Write(ctx context.Context, ref triage.Ref, e effect.Effect) (effect.Written, error)
}

// A Target is where and how a plan is carried out.
type Target struct {
	Host     Host // nil: only in a dry run
	Identity history.Identity
	// Issue is the issue as it was last read, for the ids of its labels.
	Issue triage.Issue
	// Since is a time before which this task cannot have written.
	Since time.Time
	// Settled is the time from which a write that an earlier attempt began cannot take effect any
	// more. Zero: none can.
	Settled time.Time
	// DryRun writes nothing.
	DryRun bool
	// Comments are those that were read since then; nil: none were read.
	Comments *plan.Comments
	// Sticky returns the id of the comment that a source last kept up to date, as the memory
	// has it; 0: it has none. The memory is read for that only with load. Nil: there is none.
	Sticky  func(ctx context.Context, source string, load bool) int64
	Journal *Journal // nil: none is kept
	// Guard is called before each write. Its error stops the run before the write.
	Guard func(context.Context) error
	Sleep func(context.Context, time.Duration) error // nil: real
	Log   func(format string, args ...any)           // progress, a line each
	Warn  func(format string, args ...any)
}

// An Outcome is the result of carrying out a plan.
type Outcome struct {
	Results  []triage.ActionResult // one for each step
	Steps    []plan.Step           // as they were carried out
	Err      error                 // the first failure; nil: none
	Gone     bool                  // the issue was deleted or transferred meanwhile
	Deferred bool                  // a step was skipped only for now
}

// Executed counts the actions that were carried out.
func (o Outcome) Executed() int { return Executed(o.Results) }

// Executed counts the results of actions that were carried out.
func Executed(list []triage.ActionResult) int {
	n := 0
	for _, r := range list {
		if r.State == triage.Done || r.State == triage.Noted {
			n++
		}
	}
	return n
}

// Run carries out a reviewed plan. made is the plan as it was before its review: after a
// failure the steps that were not reached have its verdicts.
func Run(ctx context.Context, made, reviewed plan.Plan, t Target) Outcome {
	x := newExecution(made, t)
	x.resumed, x.out.Steps = reviewed.Resumed, slices.Clone(reviewed.Steps)
	for i := 0; i < len(x.out.Steps); {
		n := x.together(i)
		if !x.advance(ctx, x.out.Steps[i:i+n]) {
			break
		}
		i += n
	}
	return x.out
}

// Abort returns the outcome of a plan that was not begun, because of an error: only the actions
// of an earlier attempt are done. made is the plan as it was before its review, reviewed the
// same plan as far as its review got.
func Abort(made, reviewed plan.Plan, err error) Outcome {
	out := newExecution(made, Target{}).out
	for i := range made.Steps {
		s := &reviewed.Steps[i]
		if made.Steps[i].Verdict == triage.Do && s.Verdict == triage.Do && s.Landed {
			s.Reason = didBefore
			out.Results[i] = done(s)
		}
	}
	if errors.Is(err, triage.ErrGone) {
		out.Gone = true
		for i := range out.Results {
			if r := &out.Results[i]; r.State == triage.NotRun {
				r.Reason = triage.ErrGone.Error()
			}
		}
		return out
	}
	out.Err = err
	return out
}

// didBefore is why nothing is written for a step that is done.
const didBefore = "an earlier attempt did it"

// An execution is one run over the steps of a plan.
type execution struct {
	Target

	resumed  bool
	comments *plan.Comments // those that may be this task's; nil: not read, or outdated
	out      Outcome
}

func newExecution(p plan.Plan, t Target) *execution {
	x := &execution{Target: t, resumed: p.Resumed, comments: t.Comments}
	x.out.Steps = slices.Clone(p.Steps)
	for i := range p.Steps {
		x.out.Results = append(x.out.Results, untried(&p.Steps[i]))
	}
	return x
}

// untried is the result of a step that was not tried: by its verdict, or because the run ended
// before it.
func untried(s *plan.Step) triage.ActionResult {
	r := s.ActionResult
	r.Values, r.URL = nil, "" // of an earlier attempt
	switch s.Verdict {
	case triage.Do:
		r.State = triage.NotRun
	case triage.Refuse:
		r.State = triage.Refused
	case triage.Skip:
		r.State = triage.Skipped
	}
	return r
}

// done is the result of a step that was carried out.
func done(s *plan.Step) triage.ActionResult {
	r := s.ActionResult
	r.State, r.Values = triage.Done, s.Written()
	if s.RecordOnly() {
		r.State = triage.Noted
	}
	return r
}

// writes reports whether a step has to be carried out now.
func (x *execution) writes(s *plan.Step) bool {
	return s.Verdict == triage.Do && !s.Unknown && !x.DryRun
}

func (x *execution) result(s *plan.Step) *triage.ActionResult { return &x.out.Results[s.Index] }

// step carries out one step, and reports whether the next one follows.
func (x *execution) step(ctx context.Context, s *plan.Step) bool {
	r := x.result(s)
	*r = untried(s)
	switch {
	case s.Unknown:
		r.State = triage.Failed
		x.out.Err = &triage.UnknownActionError{Type: s.Action.Type, Index: s.Index}
		x.Journal.mark(ctx, *r)
		return false
	case x.writes(s):
		_, err := x.carryOut(ctx, []*plan.Step{s})
		return x.settle(ctx, s, err)
	case s.Verdict == triage.Do:
		r.State = triage.Planned
	default:
		x.out.Deferred = x.out.Deferred || s.Deferred
	}
	x.finish(ctx, *r)
	return true
}

// settle sets the result of a step that was tried, and reports whether the next one follows.
func (x *execution) settle(ctx context.Context, s *plan.Step, err error) bool {
	r := x.result(s)
	switch {
	case errors.Is(err, errNothing):
		r.Verdict, r.State, r.Reason = triage.Skip, triage.Skipped, s.Reason
	case errors.Is(err, triage.ErrNotFound), x.tooMany(s, err):
		r.Verdict, r.State, r.Reason = triage.Skip, triage.Skipped, err.Error()
	case err != nil:
		x.fail(ctx, r, err)
		return false
	default:
		*r = done(s)
	}
	x.finish(ctx, *r)
	return true
}

// finish records the result of a step.
func (x *execution) finish(ctx context.Context, r triage.ActionResult) {
	x.Journal.mark(ctx, r)
	x.Log("%d. %s: %s", r.Index+1, r.Action.Type, describe(r))
}

func describe(r triage.ActionResult) string {
	if r.Reason == "" {
		return r.State.Result()
	}
	return fmt.Sprintf("%s (%s)", r.State.Result(), r.Reason)
}

// fail ends the run with an error of a step. That the issue is gone is not a failure.
func (x *execution) fail(ctx context.Context, r *triage.ActionResult, err error) {
	if errors.Is(err, triage.ErrGone) {
		x.out.Gone = true
		r.State, r.Reason = triage.NotRun, triage.ErrGone.Error()
		return
	}
	r.State, r.Reason = triage.Failed, err.Error()
	x.out.Err = err
	// After these errors the outcome is unknown, or nothing was tried.
	if !errors.Is(err, triage.ErrUncertain) && !errors.Is(err, triage.ErrHalted) {
		x.Journal.mark(ctx, *r)
	}
}

// errNothing is the error of a write that the host accepted without effect.
var errNothing = errors.New("nothing was changed")

// maxTries bounds how often a write of unknown outcome is tried.
const maxTries = 3

// carryOut makes one write for steps that go together, and makes sure of it. With an error it
// returns those steps that were not carried out.
func (x *execution) carryOut(ctx context.Context, steps []*plan.Step) (left []*plan.Step, err error) {
	if before, err := x.before(ctx, steps[0]); before || err != nil {
		return steps, err
	}
	left = slices.Clone(steps)
	for try := 1; ; try++ {
		if err := x.guard(ctx); err != nil {
			return left, err
		}
		for _, s := range steps {
			if r := x.result(s); try == 1 {
				r.State = triage.Trying
				x.Journal.mark(ctx, *r)
			}
		}
		err := x.write(ctx, left)
		if !errors.Is(err, triage.ErrUncertain) {
			return left, err
		}
		x.Log("%d. %s: %v; checking whether it was carried out", left[0].Index+1, left[0].Action.Type, err)
		if werr := x.sleep(ctx, time.Second<<(try-1)); werr != nil {
			return left, errors.Join(err, werr)
		}
		var rerr error
		left, rerr = x.missing(ctx, left)
		switch {
		case rerr != nil:
			return left, fmt.Errorf("%w; and looking up the result failed: %w", err, rerr)
		case len(left) == 0:
			return nil, nil
		case x.labelWrite(left[0]) == removesLabels && len(left) > 1:
			// Removed together, they go by another API, which may not be there at all. By
			// itself, each is removed as before. Removing twice does no harm.
			return left, fmt.Errorf("the labels were not removed together: %v", err) //nolint:errorlint // the outcome is known
		case try == maxTries:
			return left, fmt.Errorf("gave up after %d tries: %w", maxTries, err)
		}
	}
}

// guard asks whether a write may happen now.
func (x *execution) guard(ctx context.Context) error {
	err := ctx.Err()
	if err == nil && x.Guard != nil {
		err = x.Guard(ctx)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", triage.ErrHalted, err)
	}
	return nil
}

// before reports whether an earlier attempt carried the step out.
func (x *execution) before(ctx context.Context, s *plan.Step) (bool, error) {
	landed := s.Landed
	if c, ok := s.Comment(); ok && !landed && x.resumed {
		var err error
		if landed, err = x.earlier(ctx, s, c); err != nil {
			return false, err
		}
	}
	if landed {
		s.Reason = didBefore
	}
	return landed, nil
}

// earlier reports whether an earlier attempt posted a comment. One that it began to post may
// appear until x.Settled, because the process that sent it may have been killed a moment ago: the
// issue is read again after 1, 2, 3 and more seconds, and at the end.
func (x *execution) earlier(ctx context.Context, s *plan.Step, c effect.Comment) (bool, error) {
	begun := x.Journal != nil && x.Journal.before(s.Index) == triage.Trying
	for pause := time.Second; ; pause += time.Second {
		var left time.Duration
		if begun {
			left = x.Settled.Sub(x.Journal.Now())
			if x.comments != nil && x.comments.Err == nil {
				x.comments = nil // outdated
			}
		}
		posted, err := x.posted(ctx, s, c)
		if err != nil || posted || left <= 0 {
			return posted, err
		}
		x.Log("%d. %s: an earlier attempt began it; waiting %s for its effect", s.Index+1, s.Action.Type, left.Round(time.Millisecond))
		if err := x.sleep(ctx, min(pause, left)); err != nil {
			return false, fmt.Errorf("%w: %w", triage.ErrHalted, err)
		}
	}
}

// grace is how long a write under way may go on when the run is asked to stop: less than the
// time that the Actions runner gives.
const grace = 5 * time.Second

// write makes the call of steps that go together. A run that is asked to stop lets it finish:
// the outcome of a write that is cut off is unknown.
func (x *execution) write(ctx context.Context, steps []*plan.Step) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%w: %w", triage.ErrHalted, err)
	}
	calm, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() {
		if x.sleep(calm, grace) == nil {
			cancel()
		}
	})()
	s := steps[0]
	if s.RecordOnly() {
		return nil // the memory keeps it
	}
	switch e := s.Effect.(type) {
	case effect.Comment:
		return x.post(calm, s, e)
	case effect.Assign:
		return x.assign(calm, s, e)
	case effect.AddLabels:
		_, err := x.Host.Write(calm, x.Identity.Ref, effect.AddLabels{Names: labelsOf(steps)})
		return err
	case effect.RemoveLabels:
		_, err := x.Host.Write(calm, x.Identity.Ref, x.removal(labelsOf(steps)))
		return err
	default:
		_, err := x.Host.Write(calm, x.Identity.Ref, e)
		return err
	}
}

// assign drops the logins from the step that the host did not accept.
func (x *execution) assign(ctx context.Context, s *plan.Step, e effect.Assign) error {
	w, err := x.Host.Write(ctx, x.Identity.Ref, e)
	if err != nil {
		return err
	}
	accepted := effect.NamesOf(w.Accepted)
	if dropped := accepted.NotIn(e.Logins); len(dropped) > 0 {
		s.Reason = "GitHub did not accept " + strings.Join(dropped, ", ")
	}
	e.Logins = accepted.In(e.Logins)
	s.Effect = e
	if len(e.Logins) == 0 {
		return errNothing
	}
	return nil
}

// post posts a comment with its marker, or replaces the one with its key.
func (x *execution) post(ctx context.Context, s *plan.Step, c effect.Comment) error {
	if c.Key != "" {
		id, err := x.sticky(ctx, s, c.Key)
		if err != nil {
			return err
		}
		c.ID = id
	}
	c.Body = x.Identity.Marker(c, s.Source.Command).Mark(c.Body)
	if x.comments != nil && x.comments.Err == nil {
		x.comments = nil // outdated; that there are too many stays so
	}
	w, err := x.Host.Write(ctx, x.Identity.Ref, c)
	if c.ID != 0 && errors.Is(err, triage.ErrNotFound) { // it was deleted meanwhile
		c.ID = 0
		w, err = x.Host.Write(ctx, x.Identity.Ref, c)
	}
	if err != nil {
		return err
	}
	x.found(s, w.Comment)
	return nil
}

// found notes the comment that a step led to.
func (x *execution) found(s *plan.Step, c triage.Comment) {
	s.URL = c.URL
	if why := x.Identity.ForeignAuthor(c); why != "" {
		x.Warn("%s", why)
	}
}

// posted looks for the comment of a step among those on the issue.
func (x *execution) posted(ctx context.Context, s *plan.Step, c effect.Comment) (bool, error) {
	if x.comments == nil {
		list, err := x.Host.Comments(ctx, x.Identity.Ref, x.Since, nil)
		if err != nil && !errors.Is(err, triage.ErrTruncated) {
			return false, err
		}
		x.comments = &plan.Comments{List: list, Err: err}
	}
	was, ok := x.Identity.Find(x.comments.List, c, s.Source.Command)
	if !ok {
		return false, x.comments.Err
	}
	x.found(s, was)
	return true, nil
}

// missing reads back a write of unknown outcome, and returns those of its steps that did not
// take effect.
func (x *execution) missing(ctx context.Context, steps []*plan.Step) ([]*plan.Step, error) {
	switch e := steps[0].Effect.(type) {
	case effect.Comment:
		posted, err := x.posted(ctx, steps[0], e)
		if posted && err == nil {
			return nil, nil
		}
		return steps, err
	case effect.React:
		return steps, nil // the same one twice is one
	default:
		issue, err := x.Host.Issue(ctx, x.Identity.Ref)
		if err != nil {
			return steps, err
		}
		now := effect.StateOf(issue.Issue)
		return slices.DeleteFunc(steps, func(s *plan.Step) bool { return effect.Holds(s.Effect, now) }), nil
	}
}

func (x *execution) sleep(ctx context.Context, d time.Duration) error {
	if x.Sleep != nil {
		return x.Sleep(ctx, d)
	}
	return wait.For(ctx, d)
}
