// Package drain carries out what agents decided, and keeps the queue moving: it is all
// of the server that works without being asked.
//
// Its loops are
//
//	decisions  leases decisions and carries them out, several at a time
//	requeue    takes up again what an agent, or another harness, did not finish
//	nudges     tells agents that there is work, or asks those that do not claim it
//	purge      deletes what is long done
//	presence   notes that a server is there, which agents can send heartbeats to
//	changes    hears from the queue that there is something to do
//
// Each is supervised: an error or a panic is logged and counted, and the loop goes on
// after a while. [Drainer.Health] says which one does not.
//
// A decision is carried out under a lease of the queue. Before each write the lease must
// last longer than the write may take; a process that stood still finds out that it lost
// it before it sends anything. What was done is in the journal, so that whoever gets the
// decision next goes on from there.
package drain
