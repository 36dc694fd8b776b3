package queue

import "fmt"

// A Seen is a task as a caller saw it, for Retry, AskAgain and Cancel. They refuse with ErrChanged if the
// task has changed since: an agent may have claimed it or decided on it, or somebody else may have retried
// it.
type Seen struct {
	ID      string
	State   State // empty: any state, and the numbers have no meaning
	Attempt int   // Info.Attempt
	Epoch   int64 // Info.Epoch
}

// Seen returns the task as it is.
func (i Info) Seen() Seen { return Seen{i.ID, i.State, i.Attempt, i.Epoch} }

// Check returns an error with ErrChanged if the task has changed, and nil if now is the task that the
// caller saw. Implementations call it in the transaction of the change.
func (s Seen) Check(now Seen) error {
	if s.State == "" || s == now {
		return nil
	}
	return fmt.Errorf("%w: it was %s, and is %s", ErrChanged, s.text(), now.text())
}

// text describes the state for people.
func (s Seen) text() string {
	return fmt.Sprintf("%s (claims: %d, leases: %d)", s.State, s.Attempt, s.Epoch)
}
