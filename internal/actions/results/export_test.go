package results

// What the tests look at from outside.
var (
	Claims   = claims
	Pack     = pack
	Unpack   = unpack
	ParseKey = parseKey
	Key      = key
	Prefix   = prefix
	Version  = defaultVersion
	Digest   = digest
)

// Run and Job are the ids that [Claims] returns.
func (j jobIDs) Run() string { return j.run }

// Job is the second of them.
func (j jobIDs) Job() string { return j.job }

// ParseClosing and ClosingName are of the artifacts that announce closings.
var (
	ParseClosing = parseClosing
	ClosingName  = closingName
)
