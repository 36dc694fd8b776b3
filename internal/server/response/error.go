package response

import "net/http"

// An Error is an answer other than success. Handlers return it, and one place writes it.
type Error struct {
	Status  int
	Detail  any         // of the JSON: a sentence, or a list of problems
	Header  http.Header // besides those of every answer; nil: none
	Warning *Warning    // for the log; nil: none
}

// A Warning is a line for the log about a refused request. Clients can cause any number of
// them, so only one in a minute is logged for each Key.
type Warning struct {
	Message string
	Key     string // empty: the client's address
	Path    bool   // also log the path of the request
}

// Error returns the sentence, or the text of the status if there is a list.
func (e *Error) Error() string {
	if s, ok := e.Detail.(string); ok {
		return s
	}
	return http.StatusText(e.Status)
}
