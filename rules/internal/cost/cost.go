// Package cost limits the work of one evaluation of an expression: its steps, the text
// that it builds and the work of its patterns. Code that does such work gets a [Budget]
// and charges it before.
package cost

import (
	"errors"
	"fmt"
)

// The limits of one evaluation. A step is a turn of a loop or comparable work.
const (
	MaxSteps = 100_000
	MaxText  = 4 << 20 // bytes of new text
	MaxItems = 100_000 // of new lists and mappings, the virtual machine's budget
)

// The limits of an expression's patterns.
const (
	// MaxStates is how many states the patterns of one expression may go through for
	// each character of the longest text. It keeps them below 50 ms on the largest
	// issue: a state takes an engine 5 to 8 ns.
	MaxStates = 120
	// LongestText is the length in characters of the longest text of an issue: a title,
	// a blank line and a body, as long as GitHub takes them.
	LongestText = 256 + 2 + 65_536
	// MaxPatterns leaves room for the patterns on short texts, whose states are not added
	// up.
	MaxPatterns = MaxStates * LongestText * 5 / 4
)

// BytesPerStep is how much text a cheap scan reads in the time of a step.
const BytesPerStep = 256

// The errors of a spent budget.
var (
	ErrSteps    = fmt.Errorf("the expression takes more than %d steps", MaxSteps)
	ErrText     = fmt.Errorf("the expression builds more than %d bytes of text", MaxText)
	ErrPatterns = errors.New("the expression's patterns are too much work on a text of this size")
)

// A Meter measures one evaluation after another. It is not safe for concurrent use.
type Meter struct {
	Steps    Budget
	Text     Budget // bytes of new text
	Patterns Budget // states that patterns go through, at most
}

// NewMeter returns a meter with full budgets.
func NewMeter() Meter {
	return Meter{
		Steps:    Budget{limit: MaxSteps, exceeded: ErrSteps},
		Text:     Budget{limit: MaxText, exceeded: ErrText},
		Patterns: Budget{limit: MaxPatterns, exceeded: ErrPatterns},
	}
}

// Reset fills the budgets for the next evaluation.
func (m *Meter) Reset() { m.Steps.spent, m.Text.spent, m.Patterns.spent = 0, 0, 0 }

// A Budget is an amount of work of one kind. The zero value allows none.
type Budget struct {
	spent, limit int
	exceeded     error
}

// Charge spends n. It fails when more than the limit is spent.
func (b *Budget) Charge(n int) error {
	b.spent += n
	if b.spent > b.limit {
		return b.exceeded
	}
	return nil
}

// Spent returns the charges since the last reset.
func (b *Budget) Spent() int { return b.spent }
