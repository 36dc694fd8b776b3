// Package e2e holds the tests that need more than Go: the real image, started the way
// the runner starts a container action, and a workflow that says "uses: ./" under act.
// Both talk to the fake GitHub. Where no Docker engine answers, the tests say so and
// skip, or take the form that needs none. Beside them stand the tests of our memory
// stores against services and a client that were not written here, and those of the
// dashboard in front of a real browser, which skip when there is none.
package e2e
