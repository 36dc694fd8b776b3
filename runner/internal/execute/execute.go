// Package execute carries out a reviewed plan: one write at a time, in order. It records each write
// in the journal, before and after. If the outcome of a write is unknown, it looks the outcome up
// before it repeats the write. It stops at the first failure; a refusal by the host that will not
// change is not a failure.
package execute

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/wait"
	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/runner/internal/history"
	"github.com/org/foreman-action/runner/internal/outcome"
	"github.com/org/foreman-action/runner/internal/plan"
	"github.com/org/foreman-action/triage"
)

// A Host reads and writes an issue.
type Host interface {
	// Issue returns the current issue.
	Issue(ctx context.Context, ref triage.Ref) (triage.Snapshot, error)
	// Comments returns the issue's comments created or changed at or after since. It reads
	// backwards from the newest one, and stops at a comment for which until returns true; if
	// until is nil, it reads all. See runner.Issues.
	Comments(ctx context.Context, ref triage.Ref, since time.Time, until func(triage.Comment) bool) ([]triage.Comment, error)
	// Timeline returns the history of the issue. See runner.Issues.
	Timeline(ctx context.Context, ref triage.Ref) (triage.Timeline, error)
	// Comment returns one comment of the issue. ErrNotFound: the issue has no comment with that id.
	Comment(ctx context.Context, ref triage.Ref, id int64) (triage.Comment, error)
	// Write carries out one effect.
	Write(ctx context.Context, ref triage.Ref, e effect.Effect) (effect.Written, error)
}

// A Target contains everything needed to carry out a plan, except the plan.
type Target struct {
	Host     Host // may be nil in a dry run
	Identity history.Identity
	// Issue is the issue as it was last read. It has the ids of its labels.
	Issue triage.Issue
	// Since is a time before which this task cannot have written.
	Since time.Time
	// DryRun means that nothing is written.
	DryRun bool
	// LabelIDs returns the ids of labels that the host remembered and that were not looked up, one for each
	// name, or "" for a label that was looked up. Nil: none was remembered.
	LabelIDs func(names []string) []string
	// Comments are the comments among which the review looked for those of an earlier attempt; nil:
	// they were not read.
	Comments *plan.Comments
	// Sticky returns the id of the comment that a source last posted or updated with
	// update_comment, from the memory; 0: there is none. It reads the memory only if load is true.
	// Nil: there is no memory.
	Sticky  func(ctx context.Context, source string, load bool) int64
	Journal *Journal // nil: there is no journal
	// Guard is called before each write. Its error stops the run before that write.
	Guard func(context.Context) error
	// Posted is called with the author of each comment that was posted; nil: it is not called.
	Posted func(login string)
	Sleep  func(context.Context, time.Duration) error // nil: a real timer
	Log    *slog.Logger                               // receives the progress
	Warn   func(format string, args ...any)
}

// An Outcome is the result of carrying out a plan.
type Outcome struct {
	Results  []triage.ActionResult // one for each step
	Steps    []plan.Step           // the steps in the form in which they were carried out
	Err      error                 // the first failure; nil: none
	Gone     bool                  // the issue was deleted or transferred meanwhile
	Closed   bool                  // the host refuses every write to the repository
	Deferred bool                  // a step was skipped only temporarily
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

// Run carries out a reviewed plan. made is the plan before its review: after a failure, the steps
// that were not reached have the verdicts of made.
func Run(ctx context.Context, made, reviewed plan.Plan, t Target) Outcome {
	x := newExecution(made, t)
	x.resumed, x.steps = reviewed.Resumed, reviewed.Order()
	for i := 0; i < len(x.steps); {
		n := x.together(i)
		if !x.advance(ctx, x.steps[i:i+n]) {
			break
		}
		i += n
	}
	for _, s := range x.steps {
		x.out.Steps[s.Index] = s
	}
	return x.out
}

// Abort returns the outcome of a plan that was not started because of an error. Only actions of an
// earlier attempt are done. made is the plan before its review, and reviewed the plan after the
// part of the review that was made before the error.
func Abort(made, reviewed plan.Plan, err error) Outcome {
	out := newExecution(made, Target{}).out
	for i := range made.Steps {
		s := &reviewed.Steps[i]
		if made.Steps[i].Verdict == triage.Do && s.Verdict == triage.Do && s.Landed {
			s.Reason = didBefore
			out.Results[i] = done(s)
		}
	}
	if refused, closed := errors.AsType[*triage.RefusedError](err); closed {
		out.Closed = true
		for i := range out.Results {
			if r := &out.Results[i]; r.State == triage.NotRun {
				r.State, r.Reason = triage.Refused, refused.Error()
			}
		}
		return out
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

// repeated is the reason of an action that is not built in, if an earlier try may have carried it out.
const repeated = "an earlier try may have carried it out; it was repeated with the same key"

// didBefore is the reason why nothing is written for a step that is done.
const didBefore = "an earlier attempt did it"

// An execution is one run over the steps of a plan.
type execution struct {
	Target

	resumed     bool
	keyed       map[string]int64  // ids of the sticky comments that this run wrote, by their keys
	steps       []plan.Step       // in the order in which they are carried out
	panelFailed bool              // GitHub's panel applied what was only proposed, so it is not used any more
	apart       map[string]string // the reasons why the rest of a group is not carried out, by groups
	closed      error             // the refusal of every write to the repository; nil: none
	out         Outcome
}

func newExecution(p plan.Plan, t Target) *execution {
	x := &execution{Target: t, resumed: p.Resumed, keyed: map[string]int64{}, apart: map[string]string{}}
	x.out.Steps = slices.Clone(p.Steps)
	for i := range p.Steps {
		x.out.Results = append(x.out.Results, untried(&p.Steps[i]))
	}
	return x
}

// untried returns the result of a step that was not tried, because of its verdict, because the host
// refused it before, or because the run ended before it.
func untried(s *plan.Step) triage.ActionResult {
	r := s.ActionResult
	r.Values, r.URL = nil, "" // the values and the URL are from an earlier attempt
	switch s.Verdict {
	case triage.Do:
		if r.State = triage.NotRun; s.Refused {
			r.State = triage.Refused
		}
	case triage.Suggest:
		r.State = triage.NotRun
	case triage.Refuse:
		r.State = triage.Refused
	case triage.Skip:
		r.State = triage.Skipped
	}
	return r
}

// done returns the result of a step that was carried out.
func done(s *plan.Step) triage.ActionResult {
	r := s.ActionResult
	r.State, r.Values = triage.Done, outcome.NamesOf(s.HeldNames).NotIn(s.Written())
	switch {
	case s.RecordOnly():
		r.State = triage.Noted
	case len(s.HeldNames) == 0:
	case len(r.Values) == 0:
		r.State, r.Carrier = triage.Suggested, triage.CarrierGitHub
	default:
		r.Reason = "GitHub proposes " + strings.Join(s.HeldNames, ", ")
	}
	return r
}

// writes reports whether a step must be carried out now.
func (x *execution) writes(s *plan.Step) bool {
	return s.Verdict == triage.Do && !s.Unknown && !s.Refused && !x.DryRun && x.dropped(s) == ""
}

// dropped returns the reason why a step is no longer carried out, or "": another step of its group
// was not carried out.
func (x *execution) dropped(s *plan.Step) string {
	if !s.Grouped() || s.Landed {
		return ""
	}
	return x.apart[s.Group()]
}

func (x *execution) result(s *plan.Step) *triage.ActionResult { return &x.out.Results[s.Index] }

// step carries out one step, and reports whether the run continues.
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
	case s.Refused:
		r.State = triage.Refused
	case s.Verdict == triage.Do && x.dropped(s) != "":
		r.Verdict, r.State, r.Reason = triage.Skip, triage.Skipped, x.dropped(s)
	case s.Verdict == triage.Do:
		r.State = triage.Planned
	case s.Verdict == triage.Suggest && x.DryRun:
		r.State = triage.Planned
	case s.Verdict == triage.Suggest && (s.Astray || s.Carrier == triage.CarrierGitHub && s.Proposal == 0):
		return x.suggest(ctx, s)
	case s.Verdict == triage.Suggest:
		r.State = triage.Suggested
	default:
		x.out.Deferred = x.out.Deferred || s.Deferred
		x.doubled(s.Doubled)
	}
	x.finish(ctx, *r)
	return true
}

// settle sets the result of a step that was tried, and reports whether the run continues.
func (x *execution) settle(ctx context.Context, s *plan.Step, err error) bool {
	r := x.result(s)
	refused, final := errors.AsType[*triage.RefusedError](err)
	switch {
	case final:
		r.State, r.Reason = triage.Refused, refused.Error()
		if refused.Repository {
			x.closed, x.out.Closed = refused, true
		}
	case errors.Is(err, triage.ErrNotFound), x.tooMany(s, err):
		r.Verdict, r.State, r.Reason = triage.Skip, triage.Skipped, err.Error()
	case err != nil:
		x.fail(ctx, r, err)
		return false
	case s.Verdict == triage.Skip: // the repository has none of its labels any more
		*r = untried(s)
	default:
		*r = done(s)
	}
	if s.Grouped() && (r.State == triage.Refused || r.State == triage.Skipped) {
		x.apart[s.Group()] = plan.Dropped(s.Action.Type, r.Reason)
	}
	x.finish(ctx, *r)
	return true
}

// doubled makes the run fail at its end because of comments that were posted twice, if err is not
// nil. The other actions are carried out.
func (x *execution) doubled(err error) {
	if x.out.Err == nil {
		x.out.Err = err
	}
}

// finish records the final result of a step.
func (x *execution) finish(ctx context.Context, r triage.ActionResult) {
	x.Journal.mark(ctx, r)
	//nolint:sloglint // people read this line in the log of the action
	x.Log.InfoContext(ctx, fmt.Sprintf("%d. %s: %s", r.Index+1, r.Action.Type, describe(r)))
}

func describe(r triage.ActionResult) string {
	if r.Reason == "" {
		return r.State.Result()
	}
	return fmt.Sprintf("%s (%s)", r.State.Result(), r.Reason)
}

// fail ends the run with an error of a step. If the issue no longer exists, this is not a failure.
func (x *execution) fail(ctx context.Context, r *triage.ActionResult, err error) {
	if errors.Is(err, triage.ErrGone) {
		x.out.Gone = true
		r.State, r.Reason = triage.NotRun, triage.ErrGone.Error()
		return
	}
	r.State, r.Reason = triage.Failed, err.Error()
	if errors.Is(err, triage.ErrUncertain) {
		r.State = triage.Unknown
	}
	x.out.Err = err
	if !errors.Is(err, triage.ErrHalted) { // else nothing was tried
		x.Journal.mark(ctx, *r)
	}
}

// maxTries is the maximum number of tries of a write whose outcome is unknown.
const maxTries = 3

// carryOut makes one write for all steps, and repeats it if its outcome is unknown. With an error
// it returns those steps that were not carried out, or may not have been.
func (x *execution) carryOut(ctx context.Context, steps []*plan.Step) (left []*plan.Step, err error) {
	if x.closed != nil && !steps[0].RecordOnly() && !steps[0].Landed {
		return steps, x.closed
	}
	if before, err := x.before(steps[0]); before || err != nil {
		return steps, err
	}
	left = slices.Clone(steps)
	if left[0].Own() && x.resumed && x.Journal.Began(left[0].Index) {
		left[0].Reason = repeated
	}
	for try := 1; ; try++ {
		if err := x.guard(ctx); err != nil {
			return left, err
		}
		for _, s := range steps {
			if r := x.result(s); try == 1 {
				r.State = triage.Trying
				if e, adds := s.Effect.(effect.AddLabels); adds {
					x.Journal.assume(s.Index, e.Names, x.assumedIDs(e.Names))
				}
				x.Journal.mark(ctx, *r)
			}
		}
		err := x.write(ctx, left)
		if !errors.Is(err, triage.ErrUncertain) {
			return left, err
		}
		//nolint:sloglint // as in finish
		x.Log.InfoContext(ctx, fmt.Sprintf("%d. %s: checking whether it was carried out", left[0].Index+1, left[0].Action.Type), "error", err)
		looks := Looks{Rest: Settle}
		for len(left) > 0 && looks.Rest > 0 {
			if werr := x.sleep(ctx, looks.Next()); werr != nil {
				return left, fmt.Errorf("%w; and the run ended before the result was looked up: %w", err, werr)
			}
			var lerr error
			if left, lerr = x.missing(ctx, left); lerr != nil {
				return left, fmt.Errorf("%w; and looking up the result failed: %w", err, lerr)
			}
		}
		switch {
		case len(left) == 0:
			return nil, nil
		case x.labelWrite(left[0]) == removesLabels && len(left) > 1:
			// Several labels are removed by another API, which may not exist on this host. The
			// caller then removes each label separately. Removing a label twice does no harm.
			return left, fmt.Errorf("the labels were not removed together: %v", err) //nolint:errorlint // the outcome is known
		case left[0].Own():
			left[0].Reason = repeated
		}
		if try == maxTries {
			return left, fmt.Errorf("gave up after %d tries: %w", maxTries, err)
		}
	}
}

// guard returns an error if no write may happen now.
func (x Target) guard(ctx context.Context) error {
	err := ctx.Err()
	if err == nil && x.Guard != nil {
		err = x.Guard(ctx)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", triage.ErrHalted, err)
	}
	return nil
}

// before reports whether an earlier attempt carried out the step. The review has looked for the
// writes of earlier attempts; the error is that it could not read all comments.
func (x *execution) before(s *plan.Step) (bool, error) {
	if s.Landed {
		s.Reason = didBefore
		return true, nil
	}
	if _, ok := s.Comment(); ok && x.resumed && x.Comments != nil && s.Accepted == nil {
		return false, x.Comments.Err
	}
	return false, nil
}

// grace is how long a write may continue after the run was asked to stop. It is less than the time
// that the Actions runner grants.
const grace = 5 * time.Second

// write makes the call for steps that are written together. If the run is asked to stop, the call
// may still finish within the grace period, because the outcome of an interrupted write is unknown.
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
		return nil // the memory's record stores the result
	}
	switch e := s.Effect.(type) {
	case effect.Comment:
		return x.post(calm, s, e)
	case effect.Assign:
		return x.assign(calm, s, e)
	case effect.AddLabels:
		labels := joinLabels(steps)
		labels.IDs = x.assumedIDs(labels.Names)
		w, err := x.Host.Write(calm, x.Identity.Ref, labels)
		hold(steps, w)
		x.without(steps, w.Missing)
		return err
	case effect.SetType:
		w, err := x.Host.Write(calm, x.Identity.Ref, e)
		hold(steps, w)
		return err
	case effect.RemoveLabels:
		_, err := x.Host.Write(calm, x.Identity.Ref, x.removal(labelsOf(steps)))
		return err
	case effect.Custom:
		if s.Accepted != nil {
			e.Task = s.Accepted.ID
		}
		w, err := x.Host.Write(calm, x.Identity.Ref, e)
		s.URL = w.Comment.URL
		return err
	default:
		_, err := x.Host.Write(calm, x.Identity.Ref, e)
		return err
	}
}

// assign assigns logins. It removes those that the host did not accept from the step.
func (x *execution) assign(ctx context.Context, s *plan.Step, e effect.Assign) error {
	w, err := x.Host.Write(ctx, x.Identity.Ref, e)
	if err != nil {
		return err
	}
	hold([]*plan.Step{s}, w)
	accepted := outcome.NamesOf(slices.Concat(w.Accepted, s.HeldNames))
	if dropped := accepted.NotIn(e.Logins); len(dropped) > 0 {
		s.Reason = "GitHub did not accept " + strings.Join(dropped, ", ")
	}
	if len(accepted.In(e.Logins)) == 0 {
		return &triage.RefusedError{Reason: "it did not accept " + strings.Join(e.Logins, ", "), Parameter: true}
	}
	e.Logins = accepted.In(e.Logins)
	s.Effect = e
	return nil
}

// post posts a comment with its marker, or replaces the comment with its key.
func (x *execution) post(ctx context.Context, s *plan.Step, c effect.Comment) error {
	known := c.ID != 0
	if c.Key != "" && !known {
		id, err := x.sticky(ctx, s, c.Key)
		if err != nil {
			return err
		}
		c.ID = id
	}
	c.Body = plan.IdentityOf(x.Identity, s).Marker(c, s.Source.Command).Mark(c.Body)
	w, err := x.Host.Write(ctx, x.Identity.Ref, c)
	if c.ID != 0 && !known && errors.Is(err, triage.ErrNotFound) { // the comment was deleted meanwhile
		c.ID = 0
		w, err = x.Host.Write(ctx, x.Identity.Ref, c)
	}
	if err != nil {
		return err
	}
	x.found(s, w.Comment)
	if author := w.Comment.Author; c.ID == 0 && author != "" {
		x.Identity.Login = author // of the token, whatever bot-login says
		if x.Posted != nil {
			x.Posted(author)
		}
	}
	return nil
}

// found stores the URL of a step's comment, and the id if it is a sticky one. It warns if the
// author is unexpected.
func (x *execution) found(s *plan.Step, c triage.Comment) {
	s.URL = c.URL
	if e, _ := s.Comment(); e.Key != "" {
		x.keyed[e.Key] = c.ID
		e.ID = c.ID
		s.Effect = e
	}
	if why := x.Identity.ForeignAuthor(c); why != "" {
		x.Warn("%s", why)
	}
}

// posted reports whether the comment of a step is on the issue.
func (x *execution) posted(ctx context.Context, s *plan.Step, c effect.Comment) (bool, error) {
	list, err := x.Host.Comments(ctx, x.Identity.Ref, x.Since, nil)
	if err != nil && !errors.Is(err, triage.ErrTruncated) {
		return false, err
	}
	posted, ok := plan.IdentityOf(x.Identity, s).Find(list, c, s.Source.Command)
	if !ok {
		return false, err
	}
	x.found(s, posted)
	return true, nil
}

// missing reads the issue after a write of unknown outcome, and returns the steps that did not take
// effect.
func (x *execution) missing(ctx context.Context, steps []*plan.Step) ([]*plan.Step, error) {
	switch e := steps[0].Effect.(type) {
	case effect.Comment:
		posted, err := x.posted(ctx, steps[0], e)
		if posted && err == nil {
			return nil, nil
		}
		return steps, err
	case effect.React:
		return steps, nil // adding the same reaction twice does no harm
	case effect.Custom:
		return steps, nil // it is repeated with the same key
	default:
		issue, err := x.Host.Issue(ctx, x.Identity.Ref)
		if err != nil {
			return steps, err
		}
		now := outcome.StateOf(issue.Issue)
		return slices.DeleteFunc(steps, func(s *plan.Step) bool { return outcome.Holds(s.Effect, now) && !x.recreated(s, issue.LabelIDs) }), nil
	}
}

func (x *execution) sleep(ctx context.Context, d time.Duration) error {
	if x.Sleep != nil {
		return x.Sleep(ctx, d)
	}
	return wait.For(ctx, d)
}

// suggest proposes a step in GitHub's panel, and reports whether the run continues. If GitHub carries the
// step out instead of proposing it, the change is undone, and the step is proposed in our comment.
func (x *execution) suggest(ctx context.Context, s *plan.Step) bool {
	r := x.result(s)
	names := effect.Values(s.Effect)
	if x.panelFailed || s.Astray {
		if s.Astray { // by an earlier attempt
			if _, err := x.takeBack(ctx, s, names); err != nil {
				x.fail(ctx, r, fmt.Errorf("undo what was only proposed: %w", err))
				return false
			}
			x.Warn("%s", appliedAnyway)
		}
		s.Carrier = triage.CarrierComment
		r.State, r.Carrier = triage.Suggested, s.Carrier
		x.finish(ctx, *r)
		return true
	}
	left, err := x.carryOut(ctx, []*plan.Step{s})
	refused, final := errors.AsType[*triage.RefusedError](err)
	switch {
	case final && refused.Repository:
		return x.settle(ctx, s, err)
	case final:
		// The comment can propose it, and its acceptance shows whether GitHub carries it out.
		s.Carrier = triage.CarrierComment
	case err != nil:
		return x.settle(ctx, s, err)
	case len(left) == 0 || len(s.HeldNames) < len(names):
		applied, err := x.takeBack(ctx, s, outcome.NamesOf(s.HeldNames).NotIn(names))
		if err != nil {
			x.fail(ctx, r, fmt.Errorf("undo what was only proposed: %w", err))
			return false
		}
		if !applied && len(s.HeldNames) == 0 {
			s.Verdict, s.Reason = triage.Skip, "a person did it at the same time"
			*r = untried(s)
			x.finish(ctx, *r)
			return true
		}
		if applied {
			x.panelFailed = true
			x.Warn("%s", appliedAnyway)
			s.Carrier = triage.CarrierComment
		}
	}
	r.State, r.Carrier = triage.Suggested, s.Carrier
	x.finish(ctx, *r)
	return true
}
