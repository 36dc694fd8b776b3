// Package e2e holds the tests that need more than Go: the real image, started the way
// the runner starts a container action, and a workflow that says "uses: ./" under act.
// Both talk to the fake GitHub. Where no Docker engine answers, the tests say so and
// skip, or take the form that needs none.
package e2e
