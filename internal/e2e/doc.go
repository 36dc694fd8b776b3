// Package e2e contains the tests that need more than Go. Some run the real image as the Actions
// runner starts a container action, or a workflow with "uses: ./" under act. They use the fake
// GitHub. Without a Docker engine, these tests are skipped, or they run in a form that needs no
// engine.
//
// Other tests run our memory stores against services and a client of other projects, or the
// dashboard in a real browser. Without a browser, the latter are skipped.
package e2e
