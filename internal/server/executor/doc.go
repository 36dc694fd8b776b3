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
// The journal is written late (progress.go): with the permission of the next write, with the record of
// the issue, or at the end of the attempt. So a write costs one transaction, if Options.Progress is one
// database. These steps ensure that no write is made twice, even if a process is suspended or killed:
//
//  1. One transaction renews the lease, stores in the journal that the write begins and how the earlier
//     ones ended, and takes the slot. If another process has leased the decision, it stores nothing.
//  2. If the write has to wait for its slot, the lease is renewed again afterwards.
//  3. The write is sent. If the lease is lost in the meantime, the write is cancelled.
//
// A process that leases the decision after that finds the write in the journal as begun, also if it
// ended. While the write may still take effect, package runner searches the issue for it, as it does for
// every write whose answer is lost. If the write is still missing after that, it is repeated.
//
// makeRetryDecision decides when an attempt is retried, and whether it counts as a try. During an
// outage of GitHub no try counts (outage.go).
package executor
