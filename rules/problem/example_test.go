package problem_test

import (
	"errors"
	"fmt"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/rules/problem"
)

// All mistakes of a file are returned at once, each with its place.
func ExampleList() {
	_, err := config.Parse("foreman.yml", []byte(`version: 1
rules:
  - id: crash
    when: issue.titel contains "crash"
    then: [{add_label: bug}]
  - id: crash
    then: [{add_lable: bug}]
`), nil)
	var mistakes problem.List
	if !errors.As(err, &mistakes) {
		fmt.Println(err)
		return
	}
	for _, m := range mistakes {
		fmt.Printf("line %d, column %d: %s\n", m.Line, m.Column, m.Message)
	}
	// Output:
	// line 4, column 17: issue has no field titel; did you mean title?
	// line 6, column 9: the id crash is used twice; the first is at foreman.yml:3
	// line 7, column 13: unknown action "add_lable"; did you mean add_label?
}
