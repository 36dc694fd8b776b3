// Package faults holds the tests that kill: the real server and a real agent are ended
// with SIGKILL while tasks pass through them, at every step that one of them takes with
// the other, with GitHub or with who sends webhooks, and started again. In the end each
// issue must carry what was decided on it, once.
//
// A server may also stand still for longer than its leases last, and then go on. There
// may be two servers on one queue, in a file or in PostgreSQL.
//
// The tests run a few rounds by default; -kill.rounds asks for more.
package faults
