// Package runner turns an event on an issue into a task, a decision into a plan,
// and a plan into guarded, recorded, exactly-once writes.
package runner
