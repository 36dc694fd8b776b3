package results

// Internal names that the tests use.
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

// Run returns the run's id in the result of [Claims].
func (j jobIDs) Run() string { return j.run }

// Job returns the job's id in the result of [Claims].
func (j jobIDs) Job() string { return j.job }

// ParseClosing and ClosingName parse and build the names of artifacts that announce closes.
var (
	ParseClosing = parseClosing
	ClosingName  = closingName
)
