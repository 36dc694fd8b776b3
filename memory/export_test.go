package memory

// Fit is the last step of Put. It returns the number of encodings.
func Fit(r *Record) (steps int) { return r.fit() }

// Room returns the size of a record as Put and AddHumans calculate it.
func Room(r Record) int { return r.head() + roomOf(r.Tasks).sum() + roomOf(r.Humans).sum() }

// MaxRevision is the last revision that can be written.
const MaxRevision = maxRevision

// PairRoom returns the size of a pair in the stored form.
func PairRoom(p Pair) int { return roomOf([]Pair{p}).sum() }

// MaxPairRoom returns the upper bound of that size.
func MaxPairRoom(p Pair) int { return p.maxRoom() }
