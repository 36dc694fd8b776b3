package actions

import (
	"cmp"
	"strings"
)

// An InputName is the name of an input, as a workflow writes it under with.
type InputName string

// The inputs, described by [Inputs].
const (
	InputToken        InputName = "token"
	InputConfig       InputName = "config"
	InputRules        InputName = "rules"
	InputAgentURL     InputName = "agent-url"
	InputAgentAuth    InputName = "agent-auth"
	InputAgentToken   InputName = "agent-token"
	InputAgentTimeout InputName = "agent-timeout"
	InputAllowClose   InputName = "allow-close"
	InputLLMProvider  InputName = "llm-provider"
	InputLLMModel     InputName = "llm-model"
	InputMemory       InputName = "memory"
	InputMemoryPath   InputName = "memory-path"
	InputSummary      InputName = "memory-summary"
	InputLLMKey       InputName = "llm-key"
	InputLLMBaseURL   InputName = "llm-base-url"
	InputLLMTimeout   InputName = "llm-timeout"
	InputLLMMaxTokens InputName = "llm-max-tokens" //nolint:gosec // tokens of a model's answer
	InputBotLogin     InputName = "bot-login"
	InputIssue        InputName = "issue"
	InputDryRun       InputName = "dry-run"
	InputOnAgentError InputName = "on-agent-error"
	InputJobIndex     InputName = "job-index"
)

// An Input is one row of the table of inputs.
type Input struct {
	Name InputName
	// Default is the value of an input that is absent or empty.
	Default string
	// Metadata is the default in action.yml if that default is a workflow expression, which this
	// program cannot evaluate. Empty: the same as Default.
	Metadata string
	// Description is Markdown, one line, for action.yml and the documentation.
	Description string
	// Secret means that the value must never be shown.
	Secret bool
	// List means that the value has one item per line.
	List bool
	// Enum holds the only values allowed. Empty: any.
	Enum []string
	// Hidden inputs are set by a default in action.yml; the documentation does not list them.
	Hidden bool
}

// Inputs returns every input in the order in which the documentation lists them. It is the only
// source of names and defaults: action.yml and docs/inputs.md are generated from it. docs/inputs.md
// omits the hidden inputs.
func Inputs() []Input {
	return []Input{
		{Name: InputToken, Metadata: "${{ github.token }}", Secret: true,
			Description: "Token for the writes on GitHub; it needs `issues: write` and `contents: read`."},
		{Name: InputConfig, Default: ".github/foreman.yml",
			Description: "Configuration file, read from the workspace or else from the default branch. If there is no `.github/foreman.yml`, the default is `.github/foreman.yaml`."},
		{Name: InputRules, List: true,
			Description: "Further rule files, one path or glob per line."},
		{Name: InputAgentURL,
			Description: "Base address of an HTTP agent; `/task` is appended unless the path ends in it. Empty: the rules decide."},
		{Name: InputAgentAuth, Default: "none", Enum: []string{"none", "token", "oidc"},
			Description: "How Foreman authenticates to the agent: `none`, `token` (see `agent-token`) or `oidc` (needs `id-token: write`)."},
		{Name: InputAgentToken, Secret: true,
			Description: "Bearer token for the agent, with `agent-auth: token`."},
		{Name: InputAgentTimeout, Default: "60s",
			Description: "Time for the agent's whole answer, from connecting to the last byte, such as `90s` or `2m`."},
		{Name: InputAllowClose, Default: "false",
			Description: "Whether a decision may close the issue."},
		{Name: InputLLMProvider,
			Description: "Provider of the model that the agent should use, such as `anthropic`; `memory-summary: model` uses it too."},
		{Name: InputLLMModel,
			Description: "Model that the agent should use; `memory-summary: model` uses it too."},
		{Name: InputMemory, Default: "artifact", Enum: []string{"artifact", "cache", "file", "off"},
			Description: "Where the records of earlier work on issues are stored, for the agent's summary: `artifact` (reading needs `actions: read`), `cache` (GitHub denies writing it on issue events by default), `file` (see `memory-path`) or `off`. A lost record is rebuilt from the issue's timeline."},
		{Name: InputMemoryPath, Default: ".foreman/memory",
			Description: "Folder of the `file` memory and its journal, in the workspace."},
		{Name: InputSummary, Default: "facts", Enum: []string{"facts", "model"},
			Description: "How the summary of earlier work for the agent is written: by `facts` (code) or by `model` (the model of `llm-provider`). The model's text follows the facts; if the model fails, or mentions a comment that the facts do not have, the agent gets the facts alone."},
		{Name: InputLLMKey, Secret: true,
			Description: "API key for `memory-summary: model`; else `FOREMAN_LLM_KEY`, or the provider's own variable (`ANTHROPIC_API_KEY`, `OPENAI_API_KEY`)."},
		{Name: InputLLMBaseURL,
			Description: "Address of a service that speaks the provider's protocol, for `memory-summary: model`. Empty: the provider's own."},
		{Name: InputLLMTimeout, Default: "20s",
			Description: "Time for the model's answer, for `memory-summary: model`."},
		{Name: InputLLMMaxTokens, Default: "4096",
			Description: "Maximal number of tokens of one answer of the model, for `memory-summary: model`."},
		{Name: InputBotLogin, Default: "github-actions[bot]",
			Description: "Login of the token's account. By it Foreman recognises its own events and comments. Set it if the token is an App's, such as `my-app[bot]`."},
		{Name: InputIssue,
			Description: "Number of the issue to triage, for `workflow_dispatch`."},
		{Name: InputDryRun, Default: "false",
			Description: "Whether to decide and report without writing anything."},
		{Name: InputOnAgentError, Default: "fail", Enum: []string{"fail", "skip"},
			Description: "Fallback when an agent gives no usable answer: `fail` the step, or `skip` the event."},
		{Name: InputJobIndex, Default: "0", Metadata: "${{ strategy.job-index }}", Hidden: true,
			Description: "Index of this job in its matrix. GitHub sets it; do not set it yourself."},
	}
}

// readInput returns the value of an input without surrounding space. It reads the variable whose
// name is INPUT_ and the input's name in upper case. If that is empty, it reads the same name with
// underscores for hyphens, because shells cannot set a name with hyphens. If both are empty, it
// returns the default of the table. An unknown name has an empty value.
func readInput(getenv func(string) string, name InputName) string {
	row, ok := inputRow(name)
	if !ok {
		return ""
	}
	variable := "INPUT_" + strings.ToUpper(string(name))
	return cmp.Or(strings.TrimSpace(getenv(variable)), strings.TrimSpace(getenv(strings.ReplaceAll(variable, "-", "_"))), row.Default)
}

func inputRow(name InputName) (Input, bool) {
	for _, row := range Inputs() {
		if row.Name == name {
			return row, true
		}
	}
	return Input{}, false
}
