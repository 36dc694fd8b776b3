package actions

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/org/foreman-action/internal/yamlfile"
)

// Values are the parsed inputs. An input that was not given and has no default is empty.
type Values struct {
	Token        Secret // the input, else GITHUB_TOKEN; empty when there is neither
	Config       string // path in the repository
	Rules        []string
	AgentURL     *url.URL // absolute, http or https; nil when not given
	AgentAuth    string   // none, token or oidc
	AgentToken   Secret   // not empty when AgentAuth is token
	AgentTimeout time.Duration
	AllowClose   bool
	LLMProvider  string
	LLMModel     string
	Memory       string // artifact, cache, file or off
	MemoryPath   string
	Summary      string   // facts or model
	LLMKey       Secret   // empty when not given
	LLMBaseURL   *url.URL // absolute, http or https; nil when not given
	LLMTimeout   time.Duration
	LLMMaxTokens int
	BotLogin     string
	Issue        int // 0 when not given
	DryRun       bool
	OnAgentError string // fail or skip
	JobIndex     int    // which job of a matrix this is, from 0; 0 also without a matrix

	set map[InputName]bool
}

// IsSet reports whether the workflow gave the input a value other than the default. action.yml
// passes every input, so a value that equals the default counts as not set.
func (v Values) IsSet(name InputName) bool { return v.set[name] }

// An InputError is a mistake in one input.
type InputError struct {
	Name    InputName
	Problem string // the wanted and the found value; never a secret
}

// Error names the input, then the problem.
func (e *InputError) Error() string { return "input " + string(e.Name) + ": " + e.Problem }

// parseInputs reads every input. The returned secrets are the texts to mask, even if err is not
// nil.
func parseInputs(getenv func(string) string) (v Values, secrets []string, err error) {
	p := &inputParser{getenv: getenv, set: map[InputName]bool{}}
	v = Values{
		Token:        Secret(cmp.Or(p.text(InputToken), strings.TrimSpace(getenv("GITHUB_TOKEN")))),
		Config:       p.text(InputConfig),
		Rules:        p.list(InputRules),
		AgentURL:     p.url(InputAgentURL),
		AgentAuth:    p.text(InputAgentAuth),
		AgentToken:   Secret(p.text(InputAgentToken)),
		AgentTimeout: p.duration(InputAgentTimeout),
		AllowClose:   p.bool(InputAllowClose),
		LLMProvider:  p.text(InputLLMProvider),
		LLMModel:     p.text(InputLLMModel),
		Memory:       p.text(InputMemory),
		MemoryPath:   p.text(InputMemoryPath),
		Summary:      p.text(InputSummary),
		LLMKey:       Secret(p.text(InputLLMKey)),
		LLMBaseURL:   p.url(InputLLMBaseURL),
		LLMTimeout:   p.duration(InputLLMTimeout),
		LLMMaxTokens: p.number(InputLLMMaxTokens),
		BotLogin:     p.text(InputBotLogin),
		Issue:        p.number(InputIssue),
		DryRun:       p.bool(InputDryRun),
		OnAgentError: p.text(InputOnAgentError),
		JobIndex:     p.index(InputJobIndex),
		set:          p.set,
	}
	// A token without "agent-auth: token" is no mistake: it may belong to an agent in the
	// configuration file, which is not read here.
	if v.AgentAuth == "token" && v.AgentToken == "" {
		p.fail(InputAgentToken, `agent-auth "token" needs this input, but it is empty (is the secret set?)`)
	}
	if v.AgentAuth == "oidc" && v.AgentToken != "" {
		p.fail(InputAgentToken, `cannot be combined with agent-auth "oidc": remove agent-token, or set agent-auth to "token"`)
	}
	secrets = []string{string(v.AgentToken), string(v.LLMKey)}
	for _, u := range []*url.URL{v.AgentURL, v.LLMBaseURL} {
		if u != nil {
			password, _ := u.User.Password()
			secrets = append(secrets, password)
		}
	}
	if len(p.errs) > 0 {
		return Values{}, secrets, errors.Join(p.errs...)
	}
	return v, secrets, nil
}

// An inputParser reads inputs and collects mistakes. After a mistake its methods
// return the zero value.
type inputParser struct {
	getenv func(string) string
	set    map[InputName]bool
	errs   []error
}

func (p *inputParser) fail(name InputName, format string, args ...any) {
	p.errs = append(p.errs, &InputError{Name: name, Problem: fmt.Sprintf(format, args...)})
}

func (p *inputParser) raw(name InputName) (string, Input) {
	row, _ := inputRow(name)
	v := readInput(p.getenv, name)
	p.set[name] = v != row.Default
	return v, row
}

// text reads an input of one line, and checks it against Enum.
func (p *inputParser) text(name InputName) string {
	v, row := p.raw(name)
	if strings.ContainsFunc(v, unicode.IsControl) {
		p.fail(name, "want one line of text, got a line break or another control character")
		return ""
	}
	if len(row.Enum) == 0 {
		return v
	}
	if slices.Contains(row.Enum, v) {
		return v
	}
	hint := ""
	if near := yamlfile.Suggest(v, row.Enum); near != "" {
		hint = fmt.Sprintf(" (did you mean %q?)", near)
	}
	p.fail(name, "want %s, got %s%s", alternatives(row.Enum), quote(v), hint)
	return ""
}

func (p *inputParser) list(name InputName) []string {
	v, _ := p.raw(name)
	var items []string
	for line := range strings.Lines(v) {
		if item := strings.TrimSpace(line); item != "" {
			items = append(items, item)
		}
	}
	return items
}

// bool accepts the booleans of YAML 1.2's core schema, so that a value means the same with and
// without quotes.
func (p *inputParser) bool(name InputName) bool {
	v, _ := p.raw(name)
	switch v {
	case "true", "True", "TRUE":
		return true
	case "false", "False", "FALSE":
		return false
	}
	p.fail(name, "want true or false, got %s", quote(v))
	return false
}

func (p *inputParser) duration(name InputName) time.Duration {
	v, row := p.raw(name)
	d, err := time.ParseDuration(v)
	if err != nil {
		p.fail(name, "want a duration such as %s, got %s", row.Default, quote(v))
		return 0
	}
	if d <= 0 {
		p.fail(name, "want a duration above zero, got %s", quote(v))
		return 0
	}
	return d
}

// number reads an issue's number, with or without its "#".
func (p *inputParser) number(name InputName) int {
	v, _ := p.raw(name)
	if v == "" {
		return 0
	}
	n, err := strconv.ParseInt(strings.TrimPrefix(v, "#"), 10, 32)
	if err != nil || n < 1 {
		p.fail(name, "want a number such as 42, got %s", quote(v))
		return 0
	}
	return int(n)
}

// index reads a number that counts from 0.
func (p *inputParser) index(name InputName) int {
	v, _ := p.raw(name)
	n, err := strconv.ParseUint(v, 10, 31)
	if err != nil {
		p.fail(name, "want a number such as 0, got %s", quote(v))
		return 0
	}
	return int(n)
}

// url does not repeat a value that it refuses: it may hold a password.
func (p *inputParser) url(name InputName) *url.URL {
	v := p.text(name)
	if v == "" {
		return nil
	}
	u, err := url.Parse(v)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" {
		p.fail(name, "want an address that starts with https:// or http:// and names a host")
		return nil
	}
	return u
}

// quote returns a value in quotes, shortened when it is longer than any valid one.
func quote(v string) string { return strconv.Quote(clipText(v, 60)) }

// alternatives returns `"a", "b" or "c"`.
func alternatives(values []string) string {
	var b strings.Builder
	for i, v := range values {
		switch {
		case i > 0 && i == len(values)-1:
			b.WriteString(" or ")
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(`"` + v + `"`)
	}
	return b.String()
}
