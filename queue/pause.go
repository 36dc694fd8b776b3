package queue

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// MaxHeld is the largest number in Pause.Held.
const MaxHeld = 1000

// Pauses hold tasks back until people resume them. A task is held while any pause has it in its
// scope. Implementations are safe for concurrent use, and pass the tests of queuetest.RunPauses.
//
// While a task is held, ClaimNext does not hand it out, Backlog does not count it, and
// LeaseDecisions does not lease its decision. This holds for every call that begins after Pause
// has returned, in all processes that use the store. All other calls work as if there were no
// pause: tasks are added and joined, claims can be extended and completed, leases can be renewed
// and finished, and tasks can be retried, cancelled and purged. Pauses do not depend on a clock,
// and they last until Resume is called, also after a restart.
type Pauses interface {
	// Pause holds the tasks of a scope from now on. by is the person who pauses, and reason is for
	// people; it may be empty. If the scope is paused already, nothing changes, and Pause returns
	// the pause as it is, with already set. It fails if Scope.Check returns an error.
	Pause(ctx context.Context, s Scope, by, reason string) (p Pause, already bool, err error)
	// Resume ends the pause of a scope, and returns it as it was. Other pauses may still hold tasks
	// of the scope. Priority and order are those from before the pause. found is false if the scope
	// is not paused. Where a store must change many tasks for that, some of them may be handed out
	// a moment later than others, but never before an older task of their issue. If the store
	// fails after the pause has ended, RequeueStale does the rest, and Resume returns no error.
	Resume(ctx context.Context, s Scope) (p Pause, found bool, err error)
	// ListPauses returns the pauses, the oldest first. With count it counts their tasks, too; without, the
	// numbers Held, Claimed and Draining are 0. Its cost does not depend on the number of tasks.
	ListPauses(ctx context.Context, count bool) ([]Pause, error)
}

// A ScopeKind is the kind of a Scope.
type ScopeKind string

// The kinds of scopes.
const (
	ScopeEverything ScopeKind = "everything" // all tasks; Scope.Name is empty
	ScopeRules      ScopeKind = "rules"      // tasks without an agent; Scope.Name is empty
	ScopeAgent      ScopeKind = "agent"      // tasks of the agent with the address Scope.Name
	ScopeRepo       ScopeKind = "repository" // tasks of the repository Scope.Name, "owner/name", in any letter case
)

// A Scope is a part of the tasks.
type Scope struct {
	Kind ScopeKind
	Name string
}

// Check returns the reason why the scope is invalid, or nil.
func (s Scope) Check() error {
	switch s.Kind {
	case ScopeEverything, ScopeRules:
		if s.Name != "" {
			return fmt.Errorf("a pause of %s has no name, got %q", s.Kind, s.Name)
		}
	case ScopeAgent:
		if s.Name == "" || !IsText(s.Name) {
			return errors.New("want the address of an agent")
		}
	case ScopeRepo:
		owner, name, ok := strings.Cut(s.Name, "/")
		if !ok || owner == "" || name == "" || strings.Contains(name, "/") || !IsText(s.Name) {
			return fmt.Errorf(`want a repository as "owner/name", got %q`, CleanText(s.Name))
		}
	default:
		return fmt.Errorf("want %s, %s, %s or %s to pause, got %q", ScopeEverything, ScopeRules, ScopeAgent, ScopeRepo, s.Kind)
	}
	return nil
}

// Has reports whether the tasks of an agent in a repository are in the scope. An empty agent
// stands for tasks without an agent.
func (s Scope) Has(agent, repo string) bool {
	switch s.Kind {
	case ScopeEverything:
		return true
	case ScopeRules:
		return agent == ""
	case ScopeAgent:
		return agent != "" && agent == s.Name
	case ScopeRepo:
		return strings.EqualFold(repo, s.Name)
	}
	return false
}

// String returns the scope for people, such as "the repository o/r".
func (s Scope) String() string {
	switch s.Kind {
	case ScopeRules:
		return "the rules"
	case ScopeAgent, ScopeRepo:
		return "the " + string(s.Kind) + " " + s.Name
	case ScopeEverything:
	}
	return string(s.Kind)
}

// A Pause holds the tasks of a scope.
type Pause struct {
	Scope  Scope
	By     string    // the person who paused
	At     time.Time // since when, by the clock of the store
	Reason string    // for people; may be empty
	// Held is the number of tasks that the pause holds: pending tasks and decisions that could be
	// handed out without it. It is a lower bound: MaxHeld means that there may be more.
	Held int
	// Claimed and Draining count the tasks of the scope that were handed out before, and that are
	// in progress: claims of agents, and decisions being carried out.
	Claimed, Draining int
}

// HeldBy returns the first pause that holds the tasks of an agent in a repository. ok is false if
// there is none.
func HeldBy(list []Pause, agent, repo string) (p Pause, ok bool) {
	for _, p := range list {
		if p.Scope.Has(agent, repo) {
			return p, true
		}
	}
	return Pause{}, false
}
