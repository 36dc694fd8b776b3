package handoff_test

import (
	"errors"
	"fmt"

	"github.com/org/foreman-action/internal/handoff"
)

func ExampleParseBuilder() {
	result, err := handoff.ParseBuilder([]byte(`{
		"run": {"status": "ok", "failed_step": null, "error": null},
		"work": {"summary": "Mend the parser of dates", "complexity": "low"}
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Work.Complexity, result.Work.Summary)
	// Output: low Mend the parser of dates
}

func ExampleParseInspector_problems() {
	_, err := handoff.ParseInspector([]byte(`{
		"run": {"status": "ok"},
		"work": {"status": "changes_requested", "issues": [{"severity": "critical", "description": "It panics", "paths": []}], "next_tasks": []}
	}`))
	if invalid, ok := errors.AsType[*handoff.ValidationError](err); ok {
		for _, p := range invalid.Problems {
			fmt.Println(p.Path, p.Code)
		}
	}
	// Output:
	// work.issues[0].severity invalid_enum
	// work.issues[0].paths required
}
