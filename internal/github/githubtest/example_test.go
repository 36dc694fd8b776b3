package githubtest_test

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/org/foreman-action/internal/github/githubtest"
)

// The connection breaks after the write: the caller gets an error, but the comment exists.
func Example() {
	s, err := githubtest.Start(githubtest.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	s.Repo("octo/hello").AddIssue(githubtest.Issue{Number: 7, Title: "It breaks"})
	s.Fault(githubtest.Fault{Method: "POST", Nth: 1, CutAfter: true})

	_, err = http.Post(s.URL+"/repos/octo/hello/issues/7/comments", "application/json", strings.NewReader(`{"body":"hi"}`))
	fmt.Println(err != nil, s.Issue("octo/hello", 7).Comments[0].Body)
	fmt.Println(s.Log())
	// Output:
	// true hi
	// [POST /repos/octo/hello/issues/7/comments 201 cut]
}
