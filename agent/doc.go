// Package agent is the HTTP wire between harness and agents, both ends of it.
//
// An agent is a service that takes tasks and decides on them. There are two ways:
//
//   - Of a harness without a queue, such as the action, it gets POST /task with a whole
//     protocol.TaskMessage, and answers with a protocol.DecisionMessage. [Remote] is the
//     harness's side of that call, and [NewHandler] with a Decide the agent's.
//   - Of a harness with a queue it gets POST /task with a task's id, as a hint that there
//     is one. It claims the task over HTTP, sends heartbeats, and hands its decision in.
//     [Client] makes these calls; [Worker] does all of it, and [NewHandler] takes the hints.
//
// Neither end trusts the other: sizes, times and forms are checked before anything
// leaves this package.
package agent
