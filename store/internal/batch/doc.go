// Package batch joins concurrent calls of several callers into one transaction and one round
// trip.
//
// # The problem
//
// Every step of a task is answered after its own commit. A database server can write the commits
// of several connections to the disk together, if they arrive at the same moment. But callers
// that work step by step soon arrive at different moments. A commit that just misses a flush
// waits for the end of this flush and for the next one. Each transaction also costs a round trip,
// a statement to be bound and run, and about as much time again in this process. That is several
// times the cost of its rows.
//
// # How it works
//
// One batch runs at a time: a single call, or a group. Calls that arrive meanwhile wait for the
// next batch, which takes all of them, whatever their kinds.
//
//   - A kind of call has one statement, which takes a list of requests.
//   - A single call runs at once, in the caller's goroutine and context, with a list of one.
//   - Several calls run together: one statement for each [Kind] among them, all in one round trip
//     and one transaction. Callers that were answered together tend to call again together. A
//     batch therefore waits for the expected number of calls first, for at most as long as a
//     batch takes.
//   - A group does not serve every call, for example not one on a task that another transaction
//     has locked. Such a call runs alone afterwards, and then waits for the lock. The reasons for
//     rejecting a call are found in one place.
//   - When a group fails, it was rolled back, and each call runs alone, so that an error affects
//     only the caller that caused it. If the database is out of reach, all calls get that error
//     instead: the outcome is unknown, and a call that runs again could take effect twice.
//   - A batch that takes longer than [Overdue] may be waiting for a lock. It does not delay other
//     calls, because the next batch starts beside it. After 100 ms of waiting for a lock the
//     group is rolled back, and each of its calls runs alone, so that only the call that needs
//     the lock waits.
//   - A call whose context ends before its batch starts is not run. If its context ends later,
//     the caller still gets the result, because other steps depend on it, such as carrying out a
//     claimed task.
//
// # Locks
//
// Transactions that wait for each other end with an error after a second. The statement of a group
// therefore skips locked tasks and never waits for one. It may wait for a transaction that
// adds a task with the same id or key, that leases a decision on the same issue, or that saves the
// record of the same issue. In each transaction additions come first and leases last, and both are
// sorted the same way everywhere, so there is no deadlock. Records are not sorted, because a process
// saves the record of an issue only while it has the lease of the decision; if two groups wait
// for each other nevertheless, both are rolled back after 100 ms, and their calls run alone.
//
// A step of a decision takes a slot under a lock of the account that writes. The statements that take
// these locks come before all others (Joined.Before), sorted by account: a transaction that waits for one
// has locked nothing else. The statement after them sees the slots of the transactions that had the
// lock, because its snapshot is newer than the wait.
package batch
