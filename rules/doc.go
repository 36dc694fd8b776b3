// Package rules turns rule files into decisions.
//
// A rule file lists rules; each names the events that it listens to, a condition
// and the actions that it plans:
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
// [Parse] reads a file, [Compile] type-checks the rules of all files and reports
// every mistake at once, each with file, line, column and the source line;
// [Set.Decide] asks them about one event.
//
// # Events
//
// "on" is one name or a list: issues.<activity>, issue_comment.<activity>,
// workflow_dispatch, repository_dispatch (all of its types) or
// repository_dispatch.<type>; issues.* and issue_comment.* mean every activity.
// A rule without "on" listens to issues.opened, issues.reopened and both
// dispatch events. Edits, label events and comments are answered with a comment
// only where a rule names that event: a comment under issues.* is a mistake.
//
// # Conditions
//
// "when" is an expression of the expr language that yields true or false; without
// it the rule always matches. It sees issue, event, actor and repo (the fields of
// [facts.Facts]), now, label(name) and any_label(glob, ...), which take no notice of case and
// whose "*" matches every run of characters, "/" included. Of expr's own functions
// those are available that cannot run away; the right side of "matches" is a
// constant. No field is ever nil: one that is not set is "", 0 or an empty list.
// [Reference] lists every name with an example.
//
// # Tests
//
// The expected behaviour of rules stands beside them, under the key tests; package
// [github.com/org/foreman-action/rules/ruletest] runs it.
//
// # Forms and tables
//
// Files may declare names for what GitHub's issue forms write into an issue, and tables:
//
//	forms:
//	  version: {heading: Version, type: semver}
//	  area: {heading: Affected area, type: list}
//	tables:
//	  area_of: {Networking: area/net, CLI: area/cli}
//
// form.version is then the text under the heading "### Version", the first of several, in any
// case. The types are text, semver, number, list (options of a dropdown, or lines) and
// checkboxes (those that are ticked). A field that was left empty, or that its type cannot
// read, is nil where it is compared with nil and before ??; elsewhere it is "", an empty list,
// or a number that compares with none: an author cannot make a condition fail by leaving a
// field empty. tables.area_of[x] is "", 0 or false for a key that the table does not hold; x in
// tables.area_of asks whether it does.
//
// [Compile] refuses patterns that could take longer than 50 ms on the largest issue
// that GitHub accepts, so that an author cannot make a condition fail by the size or the
// characters of an issue.
//
// # People
//
// Rules do not override people: a label that somebody removed is not added again by any rule.
// "override_humans: true" lifts that for one rule; [Set.OverridesHumans] reports the exceptions
// to the executor.
//
// # Actions
//
// An item of "then" is an action's name, a name with its main parameter
// ("add_label: bug") or a name with all parameters ("close_issue: {reason:
// not_planned}"); [protocol.ActionSpecs] lists them. Besides, "escalate" hands the
// issue to a human, with an optional reason.
//
// Strings may hold {{ expression }} parts that yield text, a number or a boolean.
// Where an action takes a list of strings, a YAML list holds such strings, and a
// bare string is an expression that yields a list: add_labels: [a, b] sets two
// labels, add_labels: filter(issue.labels, # != "x") computes them, and
// assign: "{{ issue.author }}" is a list of one. An action whose computed list is
// empty is left out.
//
// Values from {{ }} are foreign text: in Markdown they are neutralised, cut to
// 4,096 characters and kept apart by U+200B where two of them touch, elsewhere they lose their control characters and are cut to
// 256. Literal text stays as it is.
package rules
