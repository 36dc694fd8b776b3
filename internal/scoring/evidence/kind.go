package evidence

// A Level is a degree of risk or of confidence.
type Level string

// The levels.
const (
	Low    Level = "low"
	Medium Level = "medium"
	High   Level = "high"
)

// An Evidence is a sign that an issue is being worked on or is solved already.
type Evidence struct {
	Kind       string `enum:"title_similarity,linked_pull_request,existing_content,assignment" json:"kind"`
	Confidence Level  `json:"confidence"`
	Title      string `json:"title"`
	URL        string `json:"url"`
	Reason     string `json:"reason"`
}

// The kinds of evidence.
const (
	TitleSimilarity = "title_similarity"
	LinkedPull      = "linked_pull_request"
	ExistingContent = "existing_content"
	Assignment      = "assignment"
)
