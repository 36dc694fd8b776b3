// Package sanitize neutralizes and escapes untrusted text before it is posted, logged or put
// into a summary. No other package escapes such text.
//
// Every function is pure, safe for concurrent use, accepts any bytes and returns valid
// UTF-8 without control characters. It is idempotent unless its comment says otherwise.
//
// # The problem
//
// Agents, models and templates repeat untrusted text. Posted unchanged, such text mentions
// people, links issues, closes them ("fixes #1"), gives commands to other bots, or hides HTML
// comments that look like our markers. In a log it can be a workflow command of the runner.
// Escaping with a Markdown parser would not do: GitHub, other bots and mail clients each read
// the text by rules of their own.
//
// # Neutralizing a comment
//
// [Comment] inserts a zero width space (U+200B) behind the first character of each active
// sequence, as in "@" + U+200B + "octocat". Readers see the text unchanged, and programs find
// no name, reference, tag or command. The zero width spaces of the input are dropped first, so
// a second pass changes nothing. [Value] does the same for one value within a maintainer's
// text, [Trusted] protects only the text that follows a maintainer's, and [Log] breaks workflow
// commands by ordinary spaces.
//
//   - plaintext.go: control, bidirectional and invisible characters, terminal sequences
//   - neutralize.go: which characters act, and the writer that parts them; links.go:
//     addresses and their hosts; marker.go: our markers
//   - code.go: which places are code; blocks.go, blockstart.go, html.go: block structure
//   - place.go: where a value stands in a maintainer's text; unclosed.go: tags without an end
//   - markdown.go: escaping for the job summary; workflowlog.go: log lines
//
// # Code is left alone only where that is certain
//
// A package name such as @types/node must stay copyable in code, and a mention must not
// escape by looking like code to us and like text to GitHub. So a place counts as code
// (sure) only if no rule of GitHub Flavored Markdown can read it otherwise:
//
//   - The text has no "<" that could begin a tag, an autolink or an HTML block, no
//     backslash before a backtick, and no "$$".
//   - A fence opens in the first column, where it ends every list and quote, and its info
//     string is a plain word other than "math". An indented fence ends the trust in the
//     whole text.
//   - Outside of fences the runs of backticks pair up on every line, and nothing there is
//     read before code spans or cuts them: table bars, "$", reference definitions, link
//     destinations other than plain words, addresses that run into a backtick.
//
// In such code only slash commands are broken, since other bots do not read Markdown.
// Where the structure merely suggests code (likely), only foreign tags are left as typed.
//
// # Our marker
//
// Callers put a marker, an HTML comment, before the text, as a line of its own with a blank
// line behind it. There no text can show it or swallow it, open or not, and a text that is
// cut loses its end only. Nothing may be appended to a text: a fence or a tag may be open.
//
// Limits: nesting is followed 100 levels deep (blocks.go), an address is read for 1,024
// bytes (links.go), so time grows with the length of the text only. Cases are files in
// testdata; the fuzz targets check each promise with code of their own.
package sanitize
