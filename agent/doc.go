// Package agent implements the HTTP protocol between harnesses and agents, on both sides.
//
// An agent is a service that receives tasks and decides on them. There are two ways:
//
//   - A harness without a queue, such as the action, sends POST /task with a whole
//     protocol.TaskMessage. The agent answers with a protocol.DecisionMessage. [Remote] is the
//     harness's side of this call, and [NewHandler] with a Decide is the agent's.
//   - A harness with a queue sends POST /task with a task's id, as a hint that there is a task.
//     The agent claims the task over HTTP, sends heartbeats, and sends its decision. [Client]
//     makes these calls, and [Worker] does all of this. [NewHandler] receives the hints.
//
// Neither side trusts the other: sizes, times and forms are checked before any data leaves this
// package.
package agent
