package results

// What the tests look at from outside.
var (
	Claims      = claims
	Pack        = pack
	Unpack      = unpack
	ParseAnswer = parseAnswer
	Signatures  = signatures
	ParseKey    = parseKey
	Key         = key
	Prefix      = prefix
	Version     = defaultVersion
	Digest      = digest
)

// Run and Job are the ids that [Claims] returns.
func (b backend) Run() string { return b.run }

// Job is the second of them.
func (b backend) Job() string { return b.job }

// Number reads a number of an answer.
func (a answer) Number(name string) (int64, error) { return a.number(name) }

// Text reads a text of an answer.
func (a answer) Text(name string) (string, error) { return a.text(name) }

// OK reads whether it was done.
func (a answer) OK() (bool, string, error) { return a.ok() }

// ParseClosing and ClosingName are of the artifacts that announce closings.
var (
	ParseClosing = parseClosing
	ClosingName  = closingName
)
