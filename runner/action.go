package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/runner/internal/execute"
	"github.com/org/foreman-action/triage"
)

// An Action is an action of the program's own, such as a message to a chat. The runner treats it like
// a built-in one: it is planned, limited, recorded and reported. It is carried out only if
// [policy.Policy.Actions] names it. People cannot revert it, and the issue does not show it.
type Action struct {
	// Spec has the action's name, parameters and limit; see [protocol.ActionSpec.CheckOwn]. Parameters
	// are sanitized like those of built-in actions: names lose invisible characters, and texts of
	// [protocol.KindMarkdown] are neutralized and limited like comments.
	Spec protocol.ActionSpec
	// Do carries out the action for an issue. item has the parameters of Spec, and no others. If they
	// come from an agent or from {{ }}, they are untrusted text.
	//
	// Do must be idempotent: calls with the same key are the same action, and together have the effect
	// of one. The key is a UUID that all attempts at a task share. Do is called again with the same key
	// if an earlier attempt may have called Do, or after an error that matches [triage.ErrUncertain],
	// [context.DeadlineExceeded] or [context.Canceled]. Such an error means that the action may have
	// been carried out. After three tries the outcome is reported as unknown.
	//
	// ctx ends after [ActionTimeout], and shortly after the run is asked to stop. Do must return then.
	// The other errors are as those of [Issues.Write]. A panic is an error. Comment.URL of the result
	// becomes the URL in the report, and the rest of the result is ignored. Do may be called by several
	// goroutines, for different tasks.
	Do func(ctx context.Context, ref triage.Ref, item protocol.ActionItem, key string) (effect.Written, error)
}

// ActionTimeout is the longest time of one call of [Action.Do].
const ActionTimeout = time.Minute

// checkActions returns an error that names the first wrong field.
func checkActions(list []Action) error {
	names := map[string]bool{}
	for i, a := range list {
		switch err := a.Spec.CheckOwn(); {
		case err != nil:
			return fmt.Errorf("runner: Options.Actions[%d].Spec.%w", i, err)
		case names[a.Spec.Name]:
			return fmt.Errorf("runner: Options.Actions[%d].Spec.Name: %s is used twice", i, a.Spec.Name)
		case a.Do == nil:
			return fmt.Errorf("runner: Options.Actions[%d].Do is nil", i)
		}
		names[a.Spec.Name] = true
	}
	return nil
}

// ownSpecs returns the specifications of the program's own actions.
func ownSpecs(own []Action) []protocol.ActionSpec {
	var list []protocol.ActionSpec
	for _, a := range own {
		list = append(list, a.Spec)
	}
	return list
}

// writerOf returns the host for writes, which also carries out the program's own actions. It is nil
// without a host.
func writerOf(a attempt) execute.Host {
	switch {
	case a.o.Host.Issues == nil:
		return nil
	case len(a.o.Actions) == 0:
		return a.o.Host.Issues
	}
	return ownWriter{a.o.Host.Issues, a.setup}
}

// An ownWriter is a host that carries out the program's own actions itself.
type ownWriter struct {
	Issues
	s setup
}

// Write carries out an own action, or passes the effect to the host.
func (w ownWriter) Write(ctx context.Context, ref triage.Ref, e effect.Effect) (effect.Written, error) {
	c, own := e.(effect.Custom)
	if !own {
		return w.Issues.Write(ctx, ref, e)
	}
	for _, a := range w.s.o.Actions {
		if a.Spec.Name == c.Spec.Name {
			key := []string{"action", w.s.id.ID, w.s.id.Scope, c.ID}
			if c.Task != "" {
				key = []string{"action", c.Task, c.ID}
			}
			return a.do(ctx, ref, c.Item, protocol.DeriveTaskID(key...))
		}
	}
	return effect.Written{}, fmt.Errorf("%w: %s", effect.ErrUnknown, text.Quote(c.Spec.Name))
}

// do calls Do, within its time.
func (a Action) do(ctx context.Context, ref triage.Ref, item protocol.ActionItem, key string) (w effect.Written, err error) {
	if err := effect.PassGate(ctx); err != nil {
		return w, err
	}
	ctx, cancel := context.WithTimeout(ctx, ActionTimeout)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			w, err = effect.Written{}, fmt.Errorf("the action %s panicked: %s", a.Spec.Name, text.Quote(fmt.Sprint(p)))
		}
	}()
	w, err = a.Do(ctx, ref, item, key)
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		err = fmt.Errorf("%w: %w", triage.ErrUncertain, err)
	}
	if err != nil {
		return effect.Written{}, fmt.Errorf("%s on %s: %w", a.Spec.Name, ref, err)
	}
	return w, nil
}
