// Package executor carries out decisions: the outbox between the queue and GitHub.
//
// The life of a decision, from top to bottom in executor.go:
//
//	fetch    the loop leases as many decisions as there are free slots
//	execute  the lease is kept while an attempt runs
//	attempt  a decision is parsed and given to package runner, which plans and writes
//	settle   the result is recorded: done, failed, or released to be retried
//
// A lease lasts Options.Lease and is renewed while the attempt runs (lease.go). Before each
// write it must last longer than the write may take, so a process that was suspended notices
// that it lost the lease before it sends anything; the write also waits for its turn within the
// rate of its account (gate.go, package ratelimit). The journal lists what was written, so that
// the next process that leases the decision continues from there.
//
// When an attempt is retried, and when its try counts, is decided by makeRetryDecision
// (retry.go). An outage of GitHub counts as no try (outage.go).
package executor
