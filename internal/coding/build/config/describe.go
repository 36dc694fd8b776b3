package config

// describe returns the JSON Schema of a key without its type.
func describe(path string) map[string]any {
	schema := map[string]any{}
	if doc := docs()[path]; doc != "" {
		schema["description"] = doc
	}
	switch path {
	case "version":
		schema["const"] = 1
	case "sandbox":
		schema["enum"] = []string{string(NoSandbox), string(Docker)}
	case "builder.preset":
		schema["enum"] = presets(builder)
	case "inspector.preset":
		schema["enum"] = presets(inspector)
	case "builder.result_from", "inspector.result_from":
		schema["enum"] = []string{string(File), string(Message)}
	case "limits.min_severity":
		schema["enum"] = []string{"blocker", "major", "minor"}
	case "limits.rounds", "limits.attempts":
		schema["minimum"], schema["maximum"] = 1, 20
	case "limits.log_bytes", "limits.diff_bytes":
		schema["type"] = []string{"string", "integer"}
	}
	return schema
}

func docs() map[string]string {
	all := map[string]string{
		"version":             "Version of the file's format: 1.",
		"builder":             "The agent that changes the code.",
		"inspector":           "The agent that judges the change. It must not change anything.",
		"setup":               "Commands that prepare each new clone for the Builder and for the checks, each a list of a program and its arguments.",
		"checks":              "Commands that judge each round before the Inspector does.",
		"checks.run":          "A program and its arguments.",
		"checks.required":     "Whether a failure sends the Builder into another round. Absent: true.",
		"limits":              "The limits of a run.",
		"limits.rounds":       "Rounds of Builder and Inspector.",
		"limits.attempts":     "How often an agent may run in a round, if it crashes, hangs or leaves no valid result.",
		"limits.run_timeout":  "Time limit of the whole run.",
		"limits.log_bytes":    "How much of each command's output is kept.",
		"limits.diff_bytes":   "Size limit of the patch that the Inspector gets; a longer patch is cut.",
		"limits.min_severity": "Least severity of a finding that causes another round. Absent: the Inspector's verdict decides.",
		"env":                 "Names of environment variables that commands get. GitHub's tokens are never passed.",
		"sandbox":             "Where agents, setup and checks run: none means this machine, docker a container for each command.",
		"image":               "Image of the containers, with the agents, the tools of the checks, sh and tar. Required with sandbox: docker, and not allowed without it.",
		"commit":              "Author of the commits that Foreman makes.",
		"commit.name":         "Name of the author.",
		"commit.email":        "Email address of the author.",
		"publish":             "Settings of the pull request.",
		"publish.draft":       "Whether the pull request is a draft.",
		"publish.protected":   "Globs of paths that no published change may touch, such as .github/**.",
		"publish.submodules":  "Whether a published change may change submodules.",
	}
	for _, role := range []string{builder, inspector} {
		all[role+".preset"] = "A known agent."
		all[role+".command"] = "A program and its arguments, with placeholders such as {{prompt_file}}."
		all[role+".script"] = "Folder with recorded steps that replace the agent."
		all[role+".model"] = "Model that the agent uses."
		all[role+".result"] = "File of the result, relative to the root of the repository."
		all[role+".result_from"] = "Where the result is: in the file that the agent writes, or in its final message."
		all[role+".timeout"] = "Time limit of one run of the agent."
		all[role+".idle_timeout"] = "How long the agent may print nothing."
		all[role+".setup"] = "Whether the setup commands also prepare the Inspector's clone. Only for the inspector."
	}
	return all
}
