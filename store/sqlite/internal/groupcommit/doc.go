// Package groupcommit implements group commit for one connection that writes: operations of many
// callers share a transaction, and with it one flush to the disk.
//
// # The problem
//
// A durable commit waits for the disk, which takes about 0.1 to 10 ms. SQLite has one writer at a
// time. With a transaction for each operation, the flush therefore limits the number of claims
// and heartbeats per second, however many callers there are. Other databases have solved this
// since the 1980s (IBM IMS Fast Path; commit_delay in PostgreSQL; the binary log's group commit
// in MySQL): operations that arrive during one flush are committed together by the next one.
//
// # How it works
//
// A [Writer] owns the connection and one goroutine. A caller of [Writer.Write] or
// [Writer.WriteBatch] appends its operation to a queue and waits. The goroutine repeats these
// steps:
//
//  1. gather takes up to 256 operations from the queue as a group. Callers that were answered
//     together tend to call again together, and a group that starts without them makes them wait
//     for a whole flush. So gather first waits for the expected number of operations, but no
//     longer than the average time of recent flushes (0.2 to 5 ms).
//  2. commit runs the group in one transaction. Operations of WriteBatch get one call with the
//     arguments of all of them, so that one statement can serve many callers.
//  3. Every caller gets its own result after the commit. Then [Database.Maintain] runs.
//
// # When an operation fails
//
//   - It changed nothing, such as a claim that found no task: only its caller gets the error, and
//     the group continues.
//   - It failed after a change, or panicked: the group is rolled back, and each operation is run
//     again in a transaction of its own (apart). The panic continues in the goroutine of its
//     caller.
//   - The commit fails: all callers of the group get that error.
//   - A caller's context ends: an operation that has not begun is skipped. For an operation that
//     has begun the caller waits, because it may be committed.
//
// So an operation may run more than once, and must set its results anew each time.
//
// # Invariants
//
//   - Only the goroutine of the writer uses the Database.
//   - A caller gets a nil error only after the commit that contains its operation.
//   - Within a group, operations run in the order in which they arrived.
//   - mu guards the queue only, and is never held while SQL runs.
//
// # Where to change it
//
// The size of groups: maxGroup. The time a group waits for more operations: gather and the bounds
// beside it. The statement that several operations share: the function that is passed to
// [Writer.WriteBatch]. The work between groups, such as checkpoints: Database.Maintain.
package groupcommit
