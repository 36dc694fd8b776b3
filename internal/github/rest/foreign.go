package rest

import (
	"errors"
	"fmt"
	"mime"
	"net/http"
)

// ErrForeign means that something else answered in GitHub's place, such as the maintenance page
// or the sign-in page of a proxy. Whether GitHub got the request is not known.
var ErrForeign = errors.New("the answer is not GitHub's")

// CheckOrigin returns an [ErrForeign] for an answer, with a body of size bytes, that is not from
// GitHub's API: a web page, or nothing where GitHub sends JSON. Pages with other statuses are
// errors in any case, and GitHub itself sends some.
func CheckOrigin(res *http.Response, size int64) error {
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	page := kind == "text/html" || kind == "application/xhtml+xml"
	switch code := res.StatusCode; {
	case code == http.StatusOK, code == http.StatusCreated, (&AnswerError{Status: code}).redirect():
		if size == 0 && !page {
			return fmt.Errorf("%w: %d %s with no content", ErrForeign, code, http.StatusText(code))
		}
	case size == 0 && (code == http.StatusNoContent || code == http.StatusResetContent):
		return nil
	case code >= 200 && code <= 299, code == http.StatusNotFound, code == http.StatusGone:
	default:
		return nil
	}
	if !page {
		return nil
	}
	return fmt.Errorf("%w: %d %s with %s", ErrForeign, res.StatusCode, http.StatusText(res.StatusCode), kind)
}
