package ruletest_test

import (
	"context"
	"fmt"

	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/rules/ruletest"
)

func Example() {
	file, err := rules.Parse("rules.yml", []byte(`
version: 1
rules:
  - {id: crash, when: issue.title contains "panic", then: [{add_label: kind/crash}]}
tests:
  - name: a panic is a crash
    issue: {title: "panic: out of memory"}
    expect: {fired: [crash], labels: [kind/crash]}
  - name: a question is none
    issue: {title: "Do not panic"}
    expect: {fired: []}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	tests, err := ruletest.Parse(file)
	if err != nil {
		fmt.Println(err)
		return
	}
	set, err := rules.Compile(file)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, t := range tests {
		r := ruletest.Run(context.Background(), set, t, nil)
		fmt.Println(t.Name, r.Passed())
		for _, m := range r.Mismatches {
			fmt.Printf("  %s: want %s, got %s\n", m.Key, m.Want, m.Got)
		}
	}
	// Output:
	// a panic is a crash true
	// a question is none false
	//   fired: want [], got [crash]
}
