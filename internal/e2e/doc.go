// Package e2e holds the tests that need more than Go: the real image, started the way the
// runner starts a container action, and a workflow with "uses: ./" under act. Both talk to the
// fake GitHub. Without a Docker engine the tests skip with that reason, or run in a form that
// needs none. Beside them stand the tests of our memory stores against services and a client
// that were not written here, and those of the dashboard in front of a real browser, which skip
// when there is none.
package e2e
