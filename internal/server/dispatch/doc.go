// Package dispatch gets tasks to agents. It notifies those that claim their tasks, and sends
// the whole task to those that answer it with the decision (synchronous agents).
//
// One loop looks at the queue's backlog when it is woken and every few seconds, and gives
// each agent that has pending tasks a round in a goroutine of its own, so that a slow agent
// delays no other. A notification is lost with no harm: it is repeated until the task is
// claimed. A task for a synchronous agent is claimed in the name of the server, and the claim
// is renewed until the agent answers.
//
// A circuit breaker (package breaker) stands before each agent.
package dispatch
