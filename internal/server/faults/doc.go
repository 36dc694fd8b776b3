// Package faults has crash tests. They kill the real server and a real agent with SIGKILL at
// every request between the two, GitHub and the sender of webhooks, and start them again. At the
// end every decision must have been carried out on its issue exactly once.
//
// Other tests suspend a server for longer than its leases last, or run two servers on one queue,
// which is in a file or in PostgreSQL.
//
// The tests run a few rounds by default. The flag -kill.rounds sets another number.
package faults
