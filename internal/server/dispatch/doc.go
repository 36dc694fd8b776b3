// Package dispatch delivers tasks to agents. It notifies agents that claim their tasks. Synchronous
// agents answer a task with the decision, so it sends them the whole task.
//
// One loop checks the queue's backlog when it is woken and every few seconds. It starts a round for
// each agent with pending tasks. Each round runs in its own goroutine, so that a slow agent does
// not delay others. A lost notification does no harm, because it is repeated until the task is
// claimed. For a synchronous agent, the server claims the task, and renews the claim until the
// agent answers.
//
// A circuit breaker of package health limits the requests to each agent.
package dispatch
