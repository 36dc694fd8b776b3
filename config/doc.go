// Package config reads the configuration file of the action: the policy, the rules, the agent and
// the memory. It reads the repository's own files and the file that they extend.
//
// [Load] has these steps:
//
//	read ──▶ decode ──▶ check ──▶ join ──▶ settle and expand ──▶ compile ──▶ problems
//
// In detail:
//
//   - read: read the file, the files that it includes, and the file that it extends.
//   - decode, check: decode the sections of each file and check their values.
//   - join: join the sections of the repository's own files into one side. The extended file is the
//     other side.
//   - settle, expand: for each key on both sides, choose the value that applies. Resolve the
//     variables in the values.
//   - compile: compile the rules.
//   - problems: return a [Config], or the problems of all files at once.
//
// A new key needs a field in sections.go, with its name and type, and a row in table.go, with the
// permitted values and the description. [Load] and [Schema] use both. settle.go puts the key's
// value into the Config. The keys of policy are fields of [policy.Section], and [policy.Tighten]
// puts them into the Config.
package config
