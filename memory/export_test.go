package memory

// Fit is the last step of Put. It returns how often something was encoded.
func Fit(r *Record) (steps int) { return r.fit() }

// Room is the size of a record for Put and AddHumans.
func Room(r Record) int { return r.head() + roomOf(r.Tasks).sum() + roomOf(r.Humans).sum() }

// MaxRevision is the last one that can be written.
const MaxRevision = maxRevision
