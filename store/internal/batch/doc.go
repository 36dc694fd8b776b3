// Package batch joins calls of several callers that are made at the same time into one
// transaction and one round trip.
//
// # The problem
//
// Every step of a task is answered after its own commit. A database server writes the commits
// of several connections to the disk together, if they come at the same moment. But callers
// that work one step after the other soon come at different moments, and each flush that begins
// without a commit makes it wait for two. And each transaction costs a round trip, a statement
// to be bound and run, and as much again in this process: several times the cost of its rows.
//
// # How it works
//
// One batch is carried out at a time: a single call, or a group. Calls made meanwhile wait for the
// next batch, which takes all of them, whatever their kinds.
//
//   - A caller that is alone runs its own statement at once, in its own goroutine and context.
//   - Several are run together: one statement for each [Kind] among them, all in one round trip
//     and one transaction. Callers that were answered together tend to come back together, so a
//     batch first waits for as many as are expected, for as long as it takes itself at most.
//   - Calls that could not be served so, such as on a task that another transaction has locked,
//     are run alone afterwards. So a statement for several handles the simple calls only, and
//     the reasons of refusals are found in one place.
//   - When a group fails, it was rolled back, and each call is run alone: a failure is that of
//     one caller. Only if the database is out of reach do all get that error: the outcome is
//     unknown then, and running a call again could do it twice.
//   - A batch that takes longer than [Overdue] may wait for a lock. It does not hold up others:
//     the next one begins beside it. After a tenth of a second it is rolled back, and each of its
//     calls is run alone, so that only the call that needs the lock waits.
//   - A caller whose context ends before its batch begins is not served. One whose context ends
//     later gets the result all the same, because of the steps that depend on it: a claim that is
//     returned, the next task of the issue.
//
// # Locks
//
// Transactions that wait for each other end with an error after a second. So a statement for
// several tasks passes over those that are locked, and never waits for one. It may wait for a
// transaction that adds a task with the same id or key, or leases a decision on the same issue.
// Additions come first in a transaction, leases last, and each in the same order everywhere, so
// there is no deadlock.
package batch
