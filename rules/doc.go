// Package rules turns rule files into decisions.
//
// A rule file lists rules. Each rule names the events that it listens to, a condition and the
// actions that it plans:
//
//	version: 1
//	rules:
//	  - id: crash
//	    on: [issues.opened, issues.edited]
//	    when: issue.text matches `(?i)\b(panic|segfault)\b` and not label("kind/question")
//	    then:
//	      - add_label: kind/crash
//	      - comment: "Thanks {{ issue.author }}, we look into it."
//	    stop: true
//
// [Parse] reads a file. [Compile] type-checks the rules of all files and reports every mistake at
// once, each with file, line, column and the source line. [Set.Decide] evaluates the rules for one
// event.
//
// # Events
//
// "on" is one name or a list: issues.<activity>, issue_comment.<activity>, workflow_dispatch,
// repository_dispatch (all of its types) or repository_dispatch.<type>; issues.* and
// issue_comment.* mean every activity. A rule without "on" listens to issues.opened,
// issues.reopened, workflow_dispatch and repository_dispatch. A rule may answer edits, label events
// and comments with a comment only if "on" names the event in full: a comment under issues.* is a
// mistake.
//
// # Conditions
//
// "when" is an expression of the expr language that yields true or false; without it the rule
// always matches. It sees issue, event, actor and repo (the fields of [facts.Facts]), now,
// label(name) and any_label(pattern, ...). Both functions ignore case, and "*" in a pattern matches
// any characters, including "/". Of expr's own functions, only those of bounded cost are available. The right side
// of "matches" must be a constant. No field is ever nil: an unset field is "", 0 or an empty list.
// [Reference] lists every name with an example. [CompileWith] adds functions of the program's own.
//
// # Tests
//
// A rule file may contain tests of its rules under the key tests. Package
// [github.com/org/foreman-action/rules/ruletest] runs them.
//
// # Forms and tables
//
// Files may declare names for the fields of GitHub's issue forms, and tables:
//
//	forms:
//	  version: {heading: Version, type: semver}
//	  area: {heading: Affected area, type: list}
//	tables:
//	  area_of: {Networking: area/net, CLI: area/cli}
//
// Then form.version is the text under the first heading "### Version", in any case. The types are
// text, semver, number, list (options of a dropdown, or lines) and checkboxes (the ticked ones). A
// field is nil in a comparison with nil and before ?? if it is empty or its text does not fit the
// type. Elsewhere it is then "", an empty list, or a number that is neither less nor greater than
// any other. So an author cannot make a condition fail by leaving a field empty. tables.area_of[x]
// is "", 0, false or an empty list when the table has no key x; "x in tables.area_of" tests for the
// key.
//
// [Compile] rejects patterns that could take longer than 50 ms on the largest issue that GitHub
// accepts. So an author cannot make a condition fail by the size or the characters of an issue.
//
// # People
//
// Rules do not override people: no rule adds a label again that a person removed. "override_humans:
// true" lifts this restriction for one rule.
//
// # Actions
//
// An item of "then" is an action's name, a name with its main parameter ("add_label: bug") or a
// name with all parameters ("close_issue: {reason: not_planned}"); [protocol.ActionSpecs] lists
// them. In addition, "escalate" hands the issue to a human, with an optional reason.
//
// Strings may contain {{ expression }} parts that yield text, a number or a boolean. Where an
// action takes a list of strings, write a YAML list of such strings, or an expression that yields a
// list: add_labels: [a, b] adds two labels, and add_labels: filter(issue.labels, # != "x") computes
// them. assign: "{{ issue.author }}" is a list of one. An action whose computed list is empty is
// left out.
//
// Values from {{ }} are untrusted text. In Markdown they are neutralized, cut to 4,096 characters
// and separated by U+200B where two of them touch. Elsewhere their control characters are removed
// and they are cut to 256 characters. Literal text is not changed.
package rules
