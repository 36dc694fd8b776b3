// Package agent asks agents over HTTP for decisions.
//
// An agent is a service that answers POST /task: a protocol.TaskMessage goes in, a
// protocol.DecisionMessage comes out. [Remote] is the harness's side of that call.
// It trusts nothing that comes back: the answer's size, its time and its form are
// checked before a decision leaves this package.
package agent
