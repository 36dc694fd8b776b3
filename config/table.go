package config

import (
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/org/foreman-action/internal/config/schema"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/policy"
	"github.com/org/foreman-action/protocol"
)

type object = schema.Object

// table returns the keys of configuration files. It omits the larger schemas, which [Schema] adds,
// because [Load] calls it for every file. own are actions that are not built in.
func table(own ...protocol.ActionSpec) schema.Table {
	plain := object{"type": "string"}
	return slices.Concat(schema.Table{
		{Path: "version", JSON: object{"const": 1}, Doc: "Version of the file's form."},
		{Path: "extends", JSON: object{"type": "string", "pattern": `^[A-Za-z0-9._-]+/[A-Za-z0-9._-]+:[^/].*@[^@]+$`},
			Doc: "File of another repository whose rules come first and whose policy applies: owner/repo:path@ref, at a tag or a commit."},
		{Path: "disable", Doc: "Ids of inherited rules that are switched off."},
		{Path: "mode", Rule: schema.OneOf(string(ModeApply), string(ModeShadow)),
			Doc: "Whether decisions are carried out (apply) or only reported (shadow)."},
		{Path: "forms", Doc: "Fields of issue forms, by the names that rules use."},
		{Path: "tables", Doc: "Tables of text, numbers or booleans that rules look up."},
		{Path: "rules", Doc: "Rules, evaluated in order."},
		{Path: "tests", Doc: "Tests of the rules; foreman rules test runs them."},
		{Path: "include", JSON: object{"anyOf": []any{plain, object{"type": "array", "items": plain}}},
			Doc: "More rule files, as paths or globs below the repository's root."},
	}, policyKeys(knownActions(own)), earnKeys(knownActions(own)), modelKeys(), agentKeys(knownActions(own)))
}

// names returns the values of a type of texts as texts.
func names[T ~string](values []T) []string {
	list := make([]string, len(values))
	for i, v := range values {
		list[i] = string(v)
	}
	return list
}

func policyKeys(actions []string) schema.Table {
	const (
		day       = 24 * time.Hour
		limitsDoc = "Maximum number of actions of each type per event; 0 forbids. Absent types have a default."
		labelsDoc = "Which labels may be added or removed, for rules and agents alike."
		allowDoc  = "Names of labels, in any case; * stands for any characters. Absent: every label; empty: none."
		denyDoc   = "Names of labels that are never touched, and patterns as in allow; wins over allow. Names that look alike are denied, too."
	)
	return schema.Table{
		{Path: "policy", Doc: "The limits of all decisions."},
		{Path: "limits", Rule: limits(actions), Doc: limitsDoc + " Short for policy.limits."},
		{Path: "policy.limits", Rule: limits(actions), Doc: limitsDoc},
		{Path: "labels", Doc: labelsDoc + " Short for policy.labels."},
		{Path: "policy.labels", Doc: labelsDoc},
		{Path: "labels.allow", Rule: schema.LabelPatterns(), Doc: allowDoc},
		{Path: "policy.labels.allow", Rule: schema.LabelPatterns(), Doc: allowDoc},
		{Path: "labels.deny", Rule: schema.LabelPatterns(), Doc: denyDoc},
		{Path: "policy.labels.deny", Rule: schema.LabelPatterns(), Doc: denyDoc},
		{Path: "policy.allow_close", Doc: "Whether an issue may be closed."},
		{Path: "policy.actions", Rule: schema.Each(action(actions)), Doc: "Types of actions that are permitted. Absent: all."},
		{Path: "policy.create_labels", Doc: "Whether labels that the repository does not have are created."},
		{Path: "policy.unknown_action", Rule: schema.OneOf(policy.UnknownStop, policy.UnknownReject),
			Doc: "Effect of an unknown action: stop the list there, or reject the whole plan."},
		{Path: "policy.comment_length", Rule: schema.Between(1, policy.MaxCommentLength), Doc: "Maximum length of a comment, in characters."},
		{Path: "policy.mentions", Rule: schema.Globs(), Doc: "Globs of logins and teams that an agent may mention. Absent: none."},
		{Path: "policy.links", Rule: schema.Globs(), Doc: "Globs of hosts that an agent may link to. Absent: all."},
		{Path: "policy.comment_interval", Rule: schema.ZeroOrMore(),
			Doc: "Minimum time between two commented events on one issue, such as 24h; 0: none."},
		{Path: "policy.max_comments_per_issue", Rule: schema.ZeroOrMore(), JSON: object{"minimum": 0},
			Doc: "Maximum number of our comments on one issue, except sticky ones; 0: any number."},
		{Path: "policy.max_writes_per_hour", Rule: schema.ZeroOrMore(), JSON: object{"minimum": 0},
			Doc: "Maximum number of changes to one issue within an hour; 0: any number."},
		{Path: "policy.max_scanned_issues", Rule: schema.Between(1, policy.MaxScannable), JSON: object{},
			Doc: "Maximum number of issues that a scheduled run decides on."},
		{Path: "policy.shadow_period", Rule: schema.Positive(), Doc: "How long people have to take an action that shadow mode planned, 1d to 90d."},
		{Path: "policy.judge_after", Rule: schema.Days(int(policy.MinJudgeAfter/day), int(policy.MaxJudgeAfter/day)),
			Doc: "How long after an action its outcome is judged, 1d to 90d. Absent: policy.shadow_period."},
		{Path: "policy.judge_reads", Rule: schema.Between(1, policy.MaxJudgeReads), Doc: "Maximum number of calls of GitHub that a scheduled run makes to judge outcomes. Absent: 200."},
		{Path: "policy.automation", Rule: schema.OneOf(append(names(policy.Automations()), string(policy.AutomationEarned))...),
			Doc: "Level from which actions are carried out without a person's answer: full_control (none), cautious (high confidence), balanced (high and medium), full (all but low), or earned (those whose track record meets policy.earn, of high and medium confidence). The others are proposed. Absent: full."},
		{Path: "policy.approve", Rule: schema.Each(action(actions)), Doc: "Types of actions that are always proposed to a person first."},
		{Path: "policy.suggestions", Rule: schema.OneOf(names(policy.AllSuggestions())...),
			Doc: "Where proposals are shown: auto (GitHub's panel where it is seen to be on, else a comment), github (the panel is on), comment, or off (skip what would be proposed). Absent: auto."},
		{Path: "policy.suggestion_ttl", Rule: schema.Days(int(policy.MinSuggestionTTL/day), int(policy.MaxSuggestionTTL/day)),
			Doc: "How long a proposal waits for an answer, 1d to 365d. Absent: 30d."},
	}
}

func modelKeys() schema.Table {
	return schema.Table{
		{Path: "llm", Doc: "Model whose address and name the agent receives, and that writes the summary with memory.summary: model."},
		{Path: "llm.provider", Doc: "Provider of the model, such as anthropic."},
		{Path: "llm.model", Doc: "Name of the model."},
		{Path: "llm.base_url", Doc: "Address of a service that speaks the provider's protocol. Absent: the provider's own."},
		{Path: "llm.timeout", Rule: schema.Positive(), Doc: "Time for one answer, such as 20s."},
		{Path: "llm.max_tokens", Rule: schema.Positive(), JSON: object{"minimum": 1}, Doc: "Maximum number of tokens of one answer."},
		{Path: "memory", Doc: "Where the records of earlier work on issues are stored."},
		{Path: "memory.store", Rule: schema.OneOf("off", "artifact", "cache", "file"), Doc: "Kind of store."},
		{Path: "memory.path", Doc: "Folder of the file store."},
		{Path: "memory.summary", Rule: schema.OneOf("facts", "model"), Doc: "How the summary of earlier work for the agent is written."},
	}
}

func agentKeys(actions []string) schema.Table {
	label := object{
		"type": "object", "additionalProperties": false, "required": []string{"add_label"},
		"properties": object{"add_label": object{"type": "string"}},
	}
	return schema.Table{
		{Path: "agent", Doc: "HTTP agent that decides where the rules do not."},
		{Path: "agent.url", Doc: "Base address of the agent."},
		{Path: "agent.name", Rule: schema.Text("1 to 50 letters, digits, '.', '_' and '-'", isAgentName), JSON: object{"pattern": agentName},
			Doc: "Name of the agent in track records. It stays when the address changes. Absent: the host of the address."},
		{Path: "agent.auth", Rule: schema.OneOf("none", "token", "oidc"), Doc: "How Foreman authenticates to the agent."},
		{Path: "agent.timeout", Rule: schema.Positive(), Doc: "Time for the agent's whole answer, such as 60s."},
		{Path: "agent.when", Doc: "Condition on which the agent is asked. Absent: when no rule fired."},
		{Path: "agent.may", Rule: schema.Each(action(actions)),
			Doc: "Types of actions that the agent may request, of those that are permitted. Absent: all of them."},
		{Path: "agent.on_failure", JSON: object{"anyOf": []any{object{"enum": []string{"fail", "skip"}}, label}},
			Doc: "Fallback when an agent gives no usable answer: fail, skip, or a label to add."},
	}
}

// agentName is the form of agent.name.
const agentName = `^[A-Za-z0-9._-]{1,50}$`

// isAgentName reports whether a text can be the name of an agent.
func isAgentName(s string) bool { return agentPattern().MatchString(s) }

var agentPattern = text.Regexp(agentName)

// knownActions returns the names of the actions that a plan may contain, with those that are not
// built in.
func knownActions(own []protocol.ActionSpec) []string {
	specs := append(protocol.ActionSpecs(), own...)
	known := make([]string, 0, len(specs))
	for _, s := range specs {
		known = append(known, s.Name)
	}
	return known
}

// action returns the rule for values that are names of actions.
func action(known []string) schema.Rule {
	return schema.Rule{Check: func(v schema.Value) {
		if name := v.Go.String(); !slices.Contains(known, name) {
			v.Problemf("unknown action %q%s", name, yamlfile.DidYouMean(name, known))
		}
	}}
}

// limits returns the rule for mappings from names of actions to numbers of at least 0.
func limits(known []string) schema.Rule {
	return schema.Rule{Check: func(v schema.Value) {
		limits, _ := reflect.TypeAssert[map[string]int](v.Go)
		for _, name := range slices.Sorted(maps.Keys(limits)) {
			at := yamlfile.Child(v.Node, name)
			if !slices.Contains(known, name) {
				v.ProblemAt(at, "unknown action %q%s", name, yamlfile.DidYouMean(name, known))
			}
			v := v.Entry(name, at)
			if spec, _ := protocol.SpecOf(name); spec.CountsAs != "" {
				v.Problemf("each label counts under %s; set that limit instead", spec.CountsAs)
			}
			if limits[name] < 0 {
				v.Problemf("want 0 or more, got %d", limits[name])
			}
		}
	}}
}
