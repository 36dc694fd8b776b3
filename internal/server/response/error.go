package response

import "net/http"

// An Error is an answer other than success. Handlers return it, and one place writes it.
type Error struct {
	Status  int
	Detail  any         // of the JSON: a sentence, or a list of problems
	Header  http.Header // besides those of every answer; nil: none
	Warning Warning     // for the log; zero: none
	Cause   error       // with the warning, for the log alone; nil: none
}

// A Warning is a kind of refused request that operators need to know about. Clients can
// cause any number of them, so the log has at most one a minute.
type Warning int

// The warnings.
const (
	UnknownCredential Warning = iota + 1 // none or a wrong one, or too many wrong ones
	WrongSignature                       // of a webhook
	TooManyBodies                        // at the same time
	NoSpool                              // for long bodies; Cause has the reason
)

// Error returns the sentence, or the text of the status if there is a list.
func (e *Error) Error() string {
	if s, ok := e.Detail.(string); ok {
		return s
	}
	return http.StatusText(e.Status)
}
