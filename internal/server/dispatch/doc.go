// Package dispatch delivers tasks to agents. It notifies agents that claim their tasks. Synchronous
// agents answer a task with the decision, so it sends them the whole task.
//
// One loop checks the queue's backlog when it is woken and every few seconds. It starts a round for
// each agent with pending tasks. Each round runs in its own goroutine, so that a slow agent does
// not delay others. A lost notification does no harm, because it is repeated until the task is
// claimed. For a synchronous agent, the server claims the task, and renews the claim until the
// agent answers.
//
// Workers do this for a synchronous agent. A check of the backlog is too expensive for each task, and
// the loop pauses between two checks. So a worker goes on with the agent's next task after a decision,
// and a new task gets a worker at once, both without a check. The semaphore of the agent permits that
// for a short time after each check: until then, the claims of other servers are known.
//
// A circuit breaker of package health limits the requests to each agent.
package dispatch
