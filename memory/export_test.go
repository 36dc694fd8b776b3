package memory

// Fit is what Put does at its end. It returns how often something was encoded.
func Fit(r *Record) (steps int) { return r.fit() }

// Room is what Put and AddHumans take for the size of a record.
func Room(r Record) int { return r.head() + roomOf(r.Tasks).sum() + roomOf(r.Humans).sum() }

// MaxRevision is the last one that can be written.
const MaxRevision = maxRevision
