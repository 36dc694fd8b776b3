package settings

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/yamlfile"
)

// SchemaID is the address under which the JSON Schema of the server's configuration
// goes. It names the schema; nothing need be there.
const SchemaID = "https://github.com/org/foreman-action/foremand.schema.json"

type object = map[string]any

// Schema returns the JSON Schema, draft 2020-12, of the server's configuration, made of
// what [Load] decodes. It does not tell all that loading tells.
func Schema() map[string]any {
	theirs := config.Schema()
	sections, _ := theirs["properties"].(object)
	s := yamlfile.Schema(reflect.TypeFor[document](), func(path string) object {
		if part, ok := sections[path].(object); ok && isRunners(path) {
			return part
		}
		out := keySchema(path)
		if d := cmp.Or(descriptions()[path], repoDescriptions()[path]); d != "" {
			out["description"] = d
		}
		return out
	})
	if defs, ok := theirs["$defs"]; ok {
		s["$defs"] = defs
	}
	s["$schema"], s["$id"] = "https://json-schema.org/draft/2020-12/schema", SchemaID
	s["title"] = "Configuration of foremand"
	return s
}

func isRunners(path string) bool {
	return slices.Contains(runnersKeys(), path)
}

// keySchema is what the type of a key's value does not tell. A number and a yes or no
// may come from a variable, as text.
func keySchema(path string) object {
	texts := object{"type": "array", "items": object{"type": "string"}}
	number := func(from int) object {
		return object{"type": []string{"integer", "string"}, "minimum": from}
	}
	switch path {
	case "llm.api_key", "queue.db_path":
		return object{"type": []string{"string", "null"}}
	case "polling.maintainers":
		return object{"enum": []string{"skip", "include"}}
	case "repos.agents.protocol":
		return object{"enum": []string{"queue", "sync"}}
	case "repos.agents.config":
		return configSchema()
	case "polling.enabled", "server.behind_tls", "repos.agents.allow_close":
		return object{"type": []string{"boolean", "string", "integer"}}
	case "queue.max_tasks_per_hour", "polling.first_run", "server.port",
		"repos.agents.concurrency", "repos.agents.container.memory_mb", "repos.agents.container.pids":
		return number(0)
	case "server.webhook_secrets", "polling.ignore":
		return texts
	}
	if strings.HasSuffix(path, "_seconds") || path == "queue.max_retries" || path == "queue.max_drains" ||
		path == "queue.max_writes_per_minute" || path == "queue.max_writes_per_hour" ||
		path == "identity.app.app_id" || path == "identity.app.installation_id" {
		return number(1)
	}
	return object{}
}

// configSchema is the free-form part of an agent, and what is read of it.
func configSchema() object {
	text := object{"type": "string"}
	return object{"type": "object", "properties": object{
		"url": text, "image": text, "port": object{"type": []string{"integer", "string"}},
		"event_types": object{"anyOf": []any{text, object{"type": "array", "items": text}}},
	}}
}

// descriptions says what every key of the server's own sections is, but for repositories.
func descriptions() map[string]string {
	return map[string]string{ //nolint:gosec // words about credentials, and none
		"identity":                       "Who the server is on GitHub.",
		"identity.github_token":          "Token of the bot; best as ${GITHUB_TOKEN}. May be absent in mode shadow, which writes nothing.",
		"identity.github_user":           "Login under which the server's writes appear. May be absent for an App.",
		"identity.api_url":               "Root of GitHub's API. Absent: $GITHUB_API_URL, else https://api.github.com.",
		"identity.timeout_seconds":       "Longest time of one request to GitHub; default 30.",
		"identity.app":                   "A GitHub App, in place of a token.",
		"identity.app.app_id":            "Number of the App.",
		"identity.app.installation_id":   "Number of its installation. Absent: looked up for each repository.",
		"identity.app.private_key":       "The App's private key, as PEM.",
		"identity.app.private_key_file":  "File with the App's private key.",
		"llm":                            "Model that agents are told of.",
		"llm.provider":                   "Provider of the model, such as anthropic.",
		"llm.model":                      "Name of the model.",
		"llm.api_key":                    "Accepted, as published files have it; no agent gets it.",
		"polling":                        "How GitHub is asked for issues.",
		"polling.interval_seconds":       "Time between two polls of a repository; default 60.",
		"polling.first_run":              "Most issues of a repository's first poll, the newest ones; default 100.",
		"polling.maintainers":            "Whether issues of maintainers are passed over (skip, the default) or not (include).",
		"polling.enabled":                "Whether GitHub is polled; false where webhooks come. Default true.",
		"polling.ignore":                 "Logins, such as stale[bot], whose issues are left out, and whose changes count as the server's own.",
		"queue":                          "Where tasks are kept, and how long.",
		"queue.db_path":                  "SQLite file of the queue. Absent: ~/.foreman/queue.db.",
		"queue.url":                      "Path of a SQLite file, or postgres://user@host/database.",
		"queue.claim_timeout_seconds":    "How long a claim lasts without a heartbeat; default 300.",
		"queue.max_retries":              "How often a task is handed out before it fails; default 3.",
		"queue.max_drains":               "How often a decision is tried before its task fails; default 8.",
		"queue.drain_timeout_seconds":    "How long a decision is left to the harness that carries it out, should that one be killed: at least twice identity.timeout_seconds and ten seconds more; default 120.",
		"queue.drain_interval_seconds":   "Longest time until decisions are looked for; default 10.",
		"queue.requeue_interval_seconds": "Time between two looks for claims that ran out; default 60.",
		"queue.retention":                "How long done and failed tasks are kept, such as 30d (the default).",
		"queue.max_tasks_per_hour":       "Most tasks of a repository within an hour, others wait; default 100; 0: any number.",
		"queue.max_writes_per_minute":    "Most writes to GitHub within a minute; default 80.",
		"queue.max_writes_per_hour":      "Most writes to GitHub within an hour; default 500.",
		"memory":                         "Where is remembered what was done on an issue.",
		"memory.db_path":                 "SQLite file of the memory. Absent: ~/.foreman/memory.db.",
		"server":                         "Where the server listens, and who may talk to it.",
		"server.host":                    "Address to listen on; default 127.0.0.1. Others need credentials.",
		"server.port":                    "Port to listen on; default 8000; 0: any free one.",
		"server.tls":                     "Certificate, for HTTPS.",
		"server.tls.cert":                "File of the certificate chain, as PEM.",
		"server.tls.key":                 "File of its private key, as PEM.",
		"server.behind_tls":              "Whether something in front of the server encrypts; then the dashboard's cookies are for HTTPS only. Default false.",
		"server.webhook_secret":          "Secret of the webhook; absent: no webhook is accepted.",
		"server.webhook_secrets":         "Several, while one takes the place of another.",
		"server.credentials":             "Agents that are let in. Absent: any, on loopback only.",
		"server.credentials.name":        "Name of the agent, for logs.",
		"server.credentials.secret":      "What it shows: a bearer token, or the password of its address.",
		"server.credentials.agents":      "Addresses that it may claim for. Absent: any.",
		"server.operators":               "People who may retry and cancel tasks.",
		"server.operators.name":          "Name of the person, for logs.",
		"server.operators.secret":        "Their password.",
		"telemetry":                      "Where traces go.",
		"telemetry.endpoint":             "Address of an OpenTelemetry collector (OTLP over HTTP). Absent: no traces.",
	}
}

// repoDescriptions says the same of the repositories.
func repoDescriptions() map[string]string {
	return map[string]string{
		"repos":                            "Repositories that are served.",
		"repos.owner":                      "User or organisation.",
		"repos.name":                       "Name without the owner.",
		"repos.agents":                     "Agents that are asked; the first one that takes the event counts.",
		"repos.agents.type":                "Kind of agent; issue-triage takes the events issue.*.",
		"repos.agents.allow_close":         "Whether its decisions may close issues.",
		"repos.agents.protocol":            "queue (the default): it is nudged and claims; sync: it answers at once.",
		"repos.agents.concurrency":         "Tasks that it is given at a time; default 8.",
		"repos.agents.timeout_seconds":     "How long an agent of the protocol sync may take for its answer; default 60.",
		"repos.agents.container":           "What the container of a managed agent gets.",
		"repos.agents.container.env":       "Variables of its environment.",
		"repos.agents.container.memory_mb": "Memory in MiB; default 512.",
		"repos.agents.container.cpus":      "Processors; default 1.",
		"repos.agents.container.pids":      "Processes and threads; default 256.",
		"repos.agents.container.user":      "User, by number, such as 65534:65534. Absent: the image's.",
		"repos.agents.config":              "Free-form; url, image, port and event_types are read.",
	}
}
