// Package executor carries out decisions: the outbox between the queue and GitHub.
//
// The life of a decision, from top to bottom in executor.go:
//
//	fetch    the loop leases as many decisions as there are free slots
//	execute  the lease is kept while an attempt runs
//	attempt  a decision is parsed and given to package runner, which plans and writes
//	settle   the result is recorded: done, failed, or released to be retried
//
// A lease lasts for Options.Lease, some seconds, and is renewed while the attempt runs
// (lease.go). So when a process is killed, the next one continues soon. A write waits for its
// turn within the rate of its account (gate.go, package ratelimit). The journal lists what was
// written, so that the next process that leases the decision continues from there.
//
// No write is made twice, whatever happens to a process meanwhile:
//
//  1. The lease is renewed, and the journal gets the write as begun.
//  2. The lease is renewed again, which fails once another process has leased the decision.
//  3. The write is sent. If the lease is lost while it is under way, it is cancelled.
//
// A process that leases the decision after step 2 finds the write in the journal as begun. It
// looks for it on the issue during Options.Settle, until the write has taken effect or cannot any
// more, before it repeats it.
//
// When an attempt is retried, and when its try counts, is decided by makeRetryDecision
// (retry.go). An outage of GitHub counts as no try (outage.go).
package executor
