package main

import "github.com/org/foreman-action/rules/internal/forms"

// An entry is a name with its description on a page.
type entry struct{ name, doc string }

func ruleKeyDocs() []entry {
	return []entry{
		{"id", "its name in reports and tests; required"},
		{"on", "the events that it listens to; see [Events](rules/events.md)"},
		{"when", "its condition; without one it always fires; see [Conditions](rules/conditions.md)"},
		{"then", "the list of its actions; required; see [Actions](rules/actions.md)"},
		{"stop", "`true`: when it fires or cannot be judged, later rules are not evaluated, and the agent is not asked"},
		{"override_humans", "`true`: it may repeat changes that people undid; see [People win](rules/people.md)"},
		{"together", "`true`: all of its actions are carried out, or none; see [All or none](rules/together.md)"},
		{"else_undo", "`true`: its earlier actions are reverted when its condition is false"},
		{"scan", "the search, or the list of searches, for issues or pull requests of a rule that listens to `schedule`; see [Schedule](rules/schedule.md)"},
	}
}

func fileKeyDocs() []entry {
	return []entry{
		{"version", "`1`; required"},
		{"extends", "the file of an organisation, whose policy can only be tightened; see [extends.md](extends.md)"},
		{"disable", "the ids of inherited rules that are switched off"},
		{"mode", "`apply`, or `shadow`: decide and report, write nothing"},
		{"policy", "the limits of all actions, of rules and agents; see [configuration.md](configuration.md)"},
		{"limits", "short for `policy.limits`"},
		{"labels", "short for `policy.labels`"},
		{"llm", "the model that an agent should use"},
		{"memory", "where the records of earlier work are stored"},
		{"agent", "an HTTP agent that decides where the rules do not"},
		{"forms", "names for the fields of issue forms; see [Forms](rules/forms.md)"},
		{"tables", "values by name; see [Tables](rules/tables.md)"},
		{"rules", "the list of rules"},
		{"tests", "tests of the rules; see [Tests](rules/tests.md)"},
		{"include", "further files of this repository"},
	}
}

func testKeyDocs() []entry {
	return []entry{
		{"name", "its title in the output; required, and unique in the file"},
		{"event", "an event as in `on`; `issues.opened` without it"},
		{"now", "the time of the run"},
		{"repo", "the repository, as `owner/name`"},
		{"issue", "fields of the issue, as conditions name them: `{title: Crash, labels: [bug]}`"},
		{"actor", "who caused the event; by default the author of the comment, or else of the issue; `permission` is admin for an OWNER, write for a MEMBER or COLLABORATOR, else read"},
		{"comment", "the comment of the event: `{body: /foreman triage, author: octocat}`"},
		{"label", "the label that the event is about"},
		{"assignee", "the assignee that the event is about"},
		{"milestone", "the milestone that the event is about"},
		{"pr", "fields of the pull request; `files` lists the paths that it changes, `commit_messages`, `approved_by` and `changes_requested_by` are look-ups"},
		{"author", "the author of the issue: `{issues: 2, pulls: 1, merged_pulls: 1, closed_pulls: 0, created_at: 2020-01-31}`; without `created_at` it is unknown, as for an App"},
		{"contrib", "how the issue suits contributors: `{score: 80, duplicate_evidence: high, security_sensitive: false}`"},
		{"memory", "the record of earlier actions: `{labels: [needs-info], by: {needs-info: ask-version}}`; `by` names the rule that added a label, for `else_undo`; by default every rule that names the label added it, and the label is reverted only when all of them revert"},
		{"past", "the timeline, the oldest event first: `{event: labeled, label: bug, at: 2025-12-24, by: hubot, as: human}`; `as` is human, bot or us; without this key, the labels of the issue came with it"},
		{"functions", "the results of functions that the program adds, by name, such as `{tier: gold}`; see [In a Go program](../embed.md#a-function-of-your-own)"},
		{"expect", "the expected results; required"},
	}
}

func expectKeyDocs() []entry {
	return []entry{
		{"fired", "the ids of all rules that fire, in order"},
		{"labels", "the labels of the issue afterwards, in any order and case"},
		{"comments", "how many comments there are, or a list with a part of each"},
		{"closed", "whether the issue is closed, at once or later, or the reason"},
		{"escalated", "whether it is escalated, or a part of the reason"},
		{"decision", "`label_and_respond`, `close`, `escalate` or `skip`"},
		{"undone", "the ids of the rules with a reverted action: a label that the memory lists, or a scheduled close"},
		{"retriage", "whether the issue is decided on again"},
		{"actions", "all actions, as in `then`, without `{{ }}`; `rationale`, `confidence` and `suggest` are compared only if they are written"},
		{"error", "a part of the message of a condition that fails; the other keys are about the other rules"},
	}
}

func formTypeDocs() []entry {
	return []entry{
		{forms.Text, "the text; the type when none is given; the fences of a field with `render` are left out"},
		{forms.Semver, `a version, such as "1.4.0"; "v1.4" is read as that; compare it with semver`},
		{forms.Number, "a number, such as 12 or 2.5"},
		{forms.List, "a list of texts: the chosen options of a dropdown, or lines"},
		{forms.Checkboxes, "a list of texts: the boxes that are ticked"},
	}
}

// A trap is a condition that looks right but is a mistake. say is a part of the message.
type trap struct{ written, why, say, instead string }

func docTraps() []trap {
	return []trap{
		{`when: any(issue.labels, # == "bug")`, "` #` begins a YAML comment, which cuts the condition short", `" #" starts a comment`, `when: 'any(issue.labels, # == "bug")'`},
		{`when: label("a") and label("b") # or label("c")`, "the same, and the rest is a valid condition", `" #" starts a comment`, "when: label(\"a\") and label(\"b\") or label(\"c\")"},
		{`when: issue.body matches "\bcrash\b"`, "in quotes `\\b` is a backspace: it would never match", "backspace", "when: issue.body matches `\\bcrash\\b`"},
		{`when: issue.body matches "v\d"`, "in quotes `\\d` is not a valid escape", "backticks", "when: issue.body matches `v\\d`"},
		{`when: !label("x")`, "`!` begins a YAML tag", "write not", `when: not label("x")`},
		{`when: "x" in issue.labels`, "YAML ends the value after the second quote", "quote", `when: '"x" in issue.labels'`},
		{`when: ["a"] == issue.labels`, "a bracket begins a YAML list", "", `when: issue.labels == ["a"]`},
		{"when: `x` == issue.title", "YAML has no values that begin with a backtick", "", "when: issue.title == `x`"},
		{`when: issue.locked ? false : true`, "YAML reads the text before `: ` as a key", "", `when: 'issue.locked ? false : true'`},
		{`when: issue.title contains "a: b"`, "the same", "", `when: 'issue.title contains "a: b"'`},
		{"when: issue.body matches `(?<=v)2`", "look-behind and look-ahead are not there", "look-behind is not supported", "when: issue.body matches `v2`"},
		{`when: isue.title == "x"`, "a misspelt name", "did you mean issue", `when: issue.title == "x"`},
		{`when: issue.milestone == nil`, "no field is nil", `compare it with ""`, `when: issue.milestone == ""`},
		{`when: issue.labels contains "bug"`, "`contains` is for texts", "use in", `when: label("bug")`},
		{`when: pr.files contains "docs/"`, "`pr.files` is a list of paths", "any_file(", `when: any_file("docs/**")`},
		{`when: form.version < "2.0.0"`, "as texts 10.0.0 comes before 2.0.0", "semver(", `when: semver(form.version, "< 2.0.0")`},
		{`when: issue.created_at > "2026-01-02"`, "a time is not a text", "date(", `when: issue.created_at > date("2026-01-02")`},
		{`when: now() > issue.created_at`, "`now` is not a function", "without ()", `when: now > issue.created_at`},
		{`when: command("/foreman triage")`, "`command` takes the name without /foreman", `command("triage")`, `when: command("triage")`},
		{`when: issue.title == "a" or "b"`, "each side of or is a condition", "each side of or is a condition", `when: issue.title in ["a", "b"]`},
		{`when: any_file("*.{js,ts}")`, "braces have no special meaning in a glob", "braces have no special meaning", `when: any_file("*.js", "*.ts")`},
		{`when: any_file("src/**", "!src/docs/**")`, "`!` does not exclude files", "! does not exclude files", `when: any_file("src/**") and not any_file("src/docs/**")`},
		{`when: issue.comments > "3"`, "a text is not a number", "without quotes", `when: issue.comments > 3`},
		{`when: now - issue.created_at > "14d"`, "a text is not a length of time", `duration("14d")`, `when: now - issue.created_at > duration("14d")`},
		{`when: not issue.author in ["a", "b"]`, "`not` applies only to the next value", "issue.author not in", `when: issue.author not in ["a", "b"]`},
		{`when: issue.title matches /panic/i`, "a pattern is a text", "(?i)panic", "when: issue.title matches `(?i)panic`"},
		{`when: issue.title =~ "panic"`, "there is no `=~`", "write matches", "when: issue.title matches `panic`"},
		{`when: ${{ issue.locked }}`, "a condition is an expression by itself", "without ${{ }}", `when: issue.locked`},
		{`when: issue.labels.length == 0`, "values have no fields of JavaScript", "len(issue.labels)", `when: len(issue.labels) == 0`},
		{`when: issue.milestone == null`, "no field is missing", `a text with ""`, `when: issue.milestone == ""`},
		{`when: issue.state == open`, "a text without quotes is a name", `in quotes: "open"`, `when: issue.state == "open"`},
		{`when: title contains "panic"`, "fields have the name of their value before them", "write issue.title", `when: issue.title contains "panic"`},
		{`when: pr.title startsWith "feat"`, "a pull request is an issue, too", "write issue.title", `when: issue.title startsWith "feat"`},
		{`when: issue.title.contains("a")`, "values have no methods", "no methods", `when: issue.title contains "a"`},
		{`when: not issue.state == "open"`, "`not` applies only to the next value", "not applies only to issue.state", `when: issue.state != "open"`},
	}
}

// A doubt is a condition that is valid, and of which "rules check" warns. say is a part of the warning
// of the rules; empty: package lint warns of it.
type doubt struct{ on, written, why, say, instead string }

func docDoubts() []doubt {
	return []doubt{
		{"issues.opened", `event.label == "bug"`, "only the events labeled and unlabeled have a label; so do assignee and milestone", "event.label is always empty", `label("bug")`},
		{"issues.opened", `command("triage")`, "only the events of `issue_comment` have a comment", "always empty", "listen to `issue_comment.created`"},
		{"issue_comment.created", `command("accept")`, "`/foreman accept` and `/foreman reject` answer proposals; Foreman carries that out, too", "answers a proposal", `command("approve")`},
		{"issues.opened", `pr.draft`, "issues have no fields of a pull request, and no files", "always empty", "listen to `pull_request.opened`"},
		{"issues.opened", `event.action == "labeled"`, "the rule does not listen to it", "is never", "listen to `issues.labeled`"},
		{"issue_comment.created", `issue.author == "@octocat"`, "a login has no @", "a login has no @", `issue.author == "octocat"`},
		{"issues.opened", `label("kind/*")`, "`label` takes a name, not a pattern; so do comparisons, `add_label` and `remove_label`", "", `any_label("kind/*")`},
		{"issues.opened", `label("bug ")`, "no label begins or ends with a space", "", `label("bug")`},
		{"issues.opened", `issue.milestone == "v2 "`, "nor does a login, a milestone or a type", "ends with a space", `issue.milestone == "v2"`},
		{"issues.opened", "issue.title matches `/panic/i`", "the slashes are a part of the pattern", "the slashes", "issue.title matches `(?i)panic`"},
		{"issues.opened", `lower(issue.title) contains "Panic"`, "a text in lower case has no capital letters", "never yields", `lower(issue.title) contains "panic"`},
		{"issues.opened", `issue.title contains "*panic*"`, "only patterns of labels and globs have wildcards", "no wildcards", `issue.title contains "panic"`},
		{"issues.opened", `similar(issue.title, "how do I install this") > 60`, "it is a number from 0 to 1", "0 to 1", `similar(issue.title, "how do I install this") > 0.6`},
		{"pull_request.opened", `"docs/" in pr.files`, "`in` compares whole paths", "is a folder", `any_file("docs/**")`},
		{"pull_request.opened", `any_file("src")`, "a glob matches files, and `src` is a folder", "is a folder", `any_file("src/**")`},
	}
}

// A surprise is a valid condition that may not mean what its author intended.
type surprise struct{ written, why, instead string }

func docSurprises() []surprise {
	return []surprise{
		{`event.label == "bug"`, "false for Bug: `==` is case-sensitive", `lower(event.label) == "bug"`},
		{`any_file("src/*")`, "one star stays within a folder", `any_file("src/**")`},
		{`any_file("app/[id]/**")`, "brackets match one of the characters in them", "any_file(`app/\\[id]/**`)"},
		{`any_file("src/**") and any_file("**/*.go")`, "the two globs may match different files", `any(pr.files, matches_glob(#, "src/**") and matches_glob(#, "**/*.go"))`},
		{"issue.body matches `^OS: Linux$`", "`^` and `$` match only the start and the end of the whole text; lines may end with a carriage return", "issue.body matches `(?m)^OS: Linux\\r?$`"},
		{"issue.title matches `(?i)\\bсбой\\b`", "`\\b` recognizes only ASCII letters", "issue.title matches `(?i)(^|\\PL)сбой(\\PL|$)`"},
		{`issue.body == ""`, "false for a body of spaces, or of a template's hints", "trim(issue.body) == \"\" or issue.body matches `^(\\s*<!--[^>]*-->)*\\s*$`"},
		{`issue.labels[0] == "bug"`, "fails for an issue without labels", `first(issue.labels) == "bug"`},
		{`int(issue.title) > 3`, "fails for a title that is not a number, and with it the run; anybody can write such a title", "issue.title matches `^[4-9]$`"},
	}
}
