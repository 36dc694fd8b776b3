// Package executor executes decisions: it is the outbox between the queue and GitHub.
//
// The loop in executor.go leases as many decisions as there are free slots. Each then passes these
// methods, from top to bottom in attempt.go:
//
//	run      the lease is renewed while the attempt runs
//	execute  the decision is parsed, and its settings are read
//	apply    package runner plans and writes; each write passes guard and admit
//	settle   the result is recorded: done, failed, or released for a retry
//
// A lease lasts for Options.Lease, some seconds, and is renewed while the attempt runs (lease.go).
// So when a process is killed, the next one continues soon. Each write waits for a slot within the
// rate of its account (package ratelimit). The journal lists the writes, so that the next process
// that leases the decision can continue after them.
//
// These steps ensure that no write is made twice, even if a process is suspended or killed:
//
//  1. The lease is renewed, and the journal records the write as begun.
//  2. The lease is renewed again, which fails if another process has leased the decision.
//  3. The write is sent. If the lease is lost in the meantime, the write is cancelled.
//
// A process that leases the decision after step 2 finds the write in the journal as begun. While the
// write may still take effect, package runner searches the issue for it, as it does for every write
// whose answer is lost. If the write is still missing after that, it is repeated.
//
// makeRetryDecision decides when an attempt is retried, and whether it counts as a try. During an
// outage of GitHub no try counts (outage.go).
package executor
