package rest

import (
	"errors"
	"fmt"
	"mime"
	"net/http"
)

// ErrForeign means that another server answered instead of GitHub, such as a proxy with its
// maintenance page or sign-in page. It is unknown whether GitHub received the request.
var ErrForeign = errors.New("the answer is not GitHub's")

// CheckOrigin returns [ErrForeign] for a response that is not from GitHub's API: a web page, or no
// content where GitHub sends JSON. size is the size of the body in bytes. Web pages with a status
// that is an error anyway are accepted, because GitHub itself sends some.
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
