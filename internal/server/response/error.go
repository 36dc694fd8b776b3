package response

import (
	"log/slog"
	"net/http"
)

// An Error is an answer that reports a failure. Handlers return it, and the server writes it in one
// place.
type Error struct {
	Status  int
	Detail  any         // of the JSON: a sentence, or a list of problems
	Header  http.Header // in addition to the headers of every answer; nil: none
	Warning Warning     // for the log; zero: none
	Cause   error       // logged with the warning, and not sent; nil: none
	Attrs   []slog.Attr // like Cause
}

// A Warning is a kind of refused request that operators need to know about. Clients can cause many
// of them, so the log contains at most one per minute.
type Warning int

// The warnings.
const (
	UnknownCredential Warning = iota + 1 // missing or wrong, or too many wrong ones
	WrongSignature                       // of a webhook
	TooManyBodies                        // at the same time
	NoSpool                              // for long bodies; Cause has the reason
	OtherAgent                           // claimed with a credential that is for others; Attrs has both
	InvalidDecision                      // Attrs has the task and the problems
)

// Error returns the sentence, or the text of the status if there is a list.
func (e *Error) Error() string {
	if s, ok := e.Detail.(string); ok {
		return s
	}
	return http.StatusText(e.Status)
}

// NoPattern is the http.Request.Pattern of a request that no pattern of the API matches.
const NoPattern = "unmatched"

// Unmatched returns the error 404 or 405 for a request that no pattern of a mux matches. h is the
// mux's handler for it, of http.ServeMux.Handler.
func Unmatched(h http.Handler, r *http.Request) *Error {
	recorded := &recorder{header: http.Header{}}
	h.ServeHTTP(recorded, r)
	if recorded.status != http.StatusMethodNotAllowed {
		return &Error{Status: http.StatusNotFound, Detail: "Not Found"}
	}
	return &Error{
		Status: http.StatusMethodNotAllowed, Detail: "Method Not Allowed",
		Header: http.Header{"Allow": recorded.header["Allow"]},
	}
}

// A recorder records the status and the header of an answer.
type recorder struct {
	header http.Header
	status int
}

func (r *recorder) Header() http.Header         { return r.header }
func (r *recorder) Write(b []byte) (int, error) { return len(b), nil }
func (r *recorder) WriteHeader(status int)      { r.status = status }
