package handoff

import "fmt"

// ParseBuilder decodes and validates a Builder's result. An error is a [*ValidationError] with
// every problem; then the result is empty.
func ParseBuilder(data []byte) (BuilderResult, error) {
	c := checker{role: Builder}
	result := readBuilder(&c, data)
	if err := c.err(); err != nil {
		return BuilderResult{}, err
	}
	return result, nil
}

// ParseInspector decodes and validates an Inspector's result. An error is a [*ValidationError] with
// every problem; then the result is empty.
func ParseInspector(data []byte) (InspectorResult, error) {
	c := checker{role: Inspector}
	result := readInspector(&c, data)
	if err := c.err(); err != nil {
		return InspectorResult{}, err
	}
	return result, nil
}

// readBuilder returns the valid parts of a Builder's result, and records the problems in c.
func readBuilder(c *checker, data []byte) (result BuilderResult) {
	root := c.root(data)
	if root == nil {
		return result
	}
	result.Run = c.run(root)
	work := c.work(root, result.Run)
	if work == nil {
		return result
	}
	summary, ok := phrase(work["summary"])
	switch {
	case !ok:
		c.add("work.summary", CodeRequired, "must be a non-empty string")
	case length(summary) > MaxSummary:
		c.add("work.summary", CodeTooLong, fmt.Sprintf("must be at most %d characters long, and is %d", MaxSummary, length(summary)))
	}
	result.Work = &BuilderWork{summary, enum(c, work["complexity"], "work.complexity", Low, Medium, High)}
	return result
}

// readInspector returns the valid parts of an Inspector's result, and records the problems in c.
func readInspector(c *checker, data []byte) (result InspectorResult) {
	root := c.root(data)
	if root == nil {
		return result
	}
	result.Run = c.run(root)
	work := c.work(root, result.Run)
	if work == nil {
		return result
	}
	result.Work = &InspectorWork{
		Status:    enum(c, work["status"], "work.status", Approved, ChangesRequested),
		Issues:    []Issue{},
		NextTasks: []string{},
	}
	issues, ok := work["issues"].([]any)
	if !ok {
		c.add("work.issues", CodeRequired, "must be an array")
	}
	if len(issues) == 0 && result.Work.Status == ChangesRequested {
		c.add("work.issues", CodeNoIssues, "must not be empty when work.status is 'changes_requested'")
	}
	for i, v := range issues {
		result.Work.Issues = append(result.Work.Issues, c.issue(v, at("work.issues", i)))
	}
	tasks, ok := work["next_tasks"].([]any)
	if !ok {
		c.add("work.next_tasks", CodeType, "must be an array of strings")
	}
	result.Work.NextTasks = c.phrases(tasks, "work.next_tasks")
	return result
}

// issue reads one finding.
func (c *checker) issue(v any, path string) Issue {
	object, ok := v.(map[string]any)
	if !ok {
		c.add(path, CodeType, "must be an object")
		return Issue{}
	}
	issue := Issue{Severity: enum(c, object["severity"], path+".severity", Blocker, Major, Minor)}
	if issue.Description, ok = phrase(object["description"]); !ok {
		c.add(path+".description", CodeRequired, "must be a non-empty string")
	}
	paths, _ := object["paths"].([]any)
	if len(paths) == 0 {
		c.add(path+".paths", CodeRequired, "must be a non-empty array of strings")
	}
	issue.Paths = c.phrases(paths, path+".paths")
	return issue
}
