package executor

import "github.com/org/foreman-action/queue"

// Parse parses a decision as an attempt does.
func Parse(dec queue.Decision) error {
	_, err := parse(dec)
	return err
}
