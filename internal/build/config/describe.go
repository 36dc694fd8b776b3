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
		"setup":               "Commands that run once in a new worktree, each a list of a program and its arguments.",
		"checks":              "Commands that judge each round before the Inspector does.",
		"checks.run":          "A program and its arguments.",
		"checks.required":     "Whether a failure sends the Builder into another round. Absent: true.",
		"limits":              "The limits of a run.",
		"limits.rounds":       "Rounds of Builder and Inspector.",
		"limits.attempts":     "Runs of one agent in a round, when it crashes, hangs or leaves no valid result.",
		"limits.run_timeout":  "Time for everything.",
		"limits.log_bytes":    "Output kept of one command.",
		"limits.diff_bytes":   "Size of the patch that the Inspector gets; a longer one is cut.",
		"limits.min_severity": "How grave a finding must be for another round. Absent: the Inspector's verdict decides.",
		"env":                 "Names of variables that the commands get. Tokens of GitHub are never among them.",
		"sandbox":             "Where agents, setup and checks run: none is this machine, docker a container for each command.",
		"image":               "Image of the containers, with the agents, the tools of the checks, sh and tar. Needed exactly for sandbox: docker.",
		"commit":              "Author of the commits that Foreman makes.",
		"commit.name":         "Name of the author.",
		"commit.email":        "Email address of the author.",
		"publish":             "How the work becomes a pull request.",
		"publish.draft":       "Whether the pull request is a draft.",
		"publish.protected":   "Paths that no published change may touch, with * and ** for any part.",
		"publish.submodules":  "Whether a published change may change submodules.",
	}
	for _, role := range []string{builder, inspector} {
		all[role+".preset"] = "A known agent."
		all[role+".command"] = "A program and its arguments, with placeholders such as {{prompt_file}}."
		all[role+".script"] = "Folder with recorded steps that stand in for an agent."
		all[role+".model"] = "Model that the agent uses."
		all[role+".result"] = "File of the result, relative to the worktree."
		all[role+".result_from"] = "Whether the agent writes the result to the file, or its final message holds it."
		all[role+".timeout"] = "Time for one run of the agent."
		all[role+".idle_timeout"] = "How long the agent may print nothing."
	}
	return all
}
