// Package faults has crash tests: the real server and a real agent are ended with SIGKILL
// at every request between them, GitHub and the sender of webhooks, and started again. In
// the end every decision must have been carried out on its issue exactly once.
//
// Other tests suspend a server for longer than its leases last, or run two servers on one
// queue, in a file or in PostgreSQL.
//
// The tests run a few rounds by default; -kill.rounds asks for more.
package faults
