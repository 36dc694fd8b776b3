// Package cost limits the work of one evaluation of an expression: its steps, the text that it
// builds and the work of its patterns. Code charges a [Budget] before it does such work.
package cost

import (
	"errors"
	"fmt"
)

// The limits of one evaluation. A step is one iteration of a loop, or comparable work.
const (
	MaxSteps = 100_000
	MaxText  = 4 << 20 // bytes of new text
	MaxItems = 100_000 // items of new lists and mappings; the virtual machine enforces it
)

// The limits of an expression's patterns.
const (
	// MaxStates is the largest number of states that the patterns of one expression may visit for
	// each character of the longest text. An engine needs 5 to 8 ns for a state, so the patterns
	// take less than 50 ms on the largest issue.
	MaxStates = 120
	// LongestText is the length in characters of the longest text of an issue: a title, a blank
	// line and a body of the largest sizes that GitHub accepts.
	LongestText = 256 + 2 + 65_536
	// MaxPatterns is 5/4 of the work that MaxStates allows on the longest text. The additional
	// quarter is for patterns on short texts, which MaxStates does not limit.
	MaxPatterns = MaxStates * LongestText * 5 / 4
)

// BytesPerStep is how many bytes a simple scan reads in the time of one step.
const BytesPerStep = 256

// The errors for a budget that is used up.
var (
	ErrSteps    = fmt.Errorf("the expression takes more than %d steps", MaxSteps)
	ErrText     = fmt.Errorf("the expression builds more than %d bytes of text", MaxText)
	ErrPatterns = errors.New("the expression's patterns are too much work on a text of this size")
)

// A Meter measures one evaluation after another. It is not safe for concurrent use.
type Meter struct {
	Steps    Budget
	Text     Budget // bytes of new text
	Patterns Budget // upper bound of the states that patterns visit
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
