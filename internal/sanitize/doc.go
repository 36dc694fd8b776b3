// Package sanitize neutralizes and escapes untrusted text before it is posted, logged or put into a
// summary. No other package escapes such text.
//
// Every function is pure, safe for concurrent use, accepts any bytes and returns valid UTF-8
// without control characters. It is idempotent unless its comment says otherwise.
//
// # The problem
//
// Agents, models and templates repeat untrusted text. Posted unchanged, such text mentions people,
// links issues, closes them ("fixes #1"), gives commands to other bots, or hides HTML comments that
// look like our markers. In a log it can be a workflow command of the runner. Escaping with a
// Markdown parser would not be enough: GitHub, other bots and mail clients each read the text by
// different rules.
//
// # Neutralizing a comment
//
// [Comment] inserts a zero width space (U+200B) after the first character of each active sequence,
// as in "@" + U+200B + "octocat". Readers see the text unchanged, and programs find no name,
// reference, tag or command. Comment first drops the zero width spaces of the input, so a second
// pass changes nothing. [Value] does the same for one value within a maintainer's text, and
// [Rationale] for the reason of an action. [Trusted] only keeps a maintainer's text from changing
// the text after it. [Log] breaks workflow commands with ordinary spaces.
//
//   - plaintext.go: control, bidirectional and invisible characters, terminal sequences
//   - neutralize.go: which characters are active, and the writer that breaks them; links.go:
//     addresses and their hosts; marker.go: our markers
//   - code.go: which places are code; blocks.go, blockstart.go, html.go: block structure
//   - place.go: the place of a value in a maintainer's text; unclosed.go: tags without an end
//   - markdown.go: escaping for the job summary; workflowlog.go: log lines
//
// # Text counts as code only where that is certain
//
// A package name such as @types/node must stay copyable in code. But a mention must not stay active
// because we read it as code and GitHub reads it as text. So a place counts as code (sure) only if
// no rule of GitHub Flavored Markdown can read it otherwise:
//
//   - The text has no "<" that could begin a tag, an autolink or an HTML block, no
//     backslash before a backtick, and no "$$".
//   - A fence opens in the first column, where it ends every list and quote, and its info
//     string is a plain word other than "math". If there is an indented fence, nothing in the
//     whole text counts as code.
//   - Outside of fences every run of backticks has a partner on its line. The line contains
//     nothing that is read before code spans or cuts them: table bars, "$", reference
//     definitions, link destinations other than plain words, addresses that run into a backtick.
//
// In such code only slash commands are broken, because other bots do not read Markdown. Where the
// structure merely suggests code (likely), active sequences are broken as in text. Only tags that
// GitHub does not show, as in List<String>, stay as typed.
//
// # Our marker
//
// Callers put a marker, an HTML comment, before the text, on a line of its own and followed by a
// blank line. At that position no text can make the marker visible or part of an open block. If a
// text is cut, only its end is lost. Callers must not append anything to a text, because a fence or
// a tag in it may still be open.
//
// Limits: nesting is tracked 100 levels deep (blocks.go), and an address is read for 1,024 bytes
// (links.go), so that the time is proportional to the length of the text. Cases are files in
// testdata; the fuzz targets check each promise with separate code.
package sanitize
