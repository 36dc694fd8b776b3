// Package sanitize is the one place where foreign text is made harmless.
//
// Every function is pure, safe for concurrent use, accepts any bytes, returns
// valid UTF-8 without control characters, and is idempotent unless its comment
// says otherwise.
//
// # How a comment is made inert
//
// Almost everything is done by one means: a zero width space (U+200B) after the
// character that would make a text act, as in "@" + U+200B + "octocat". The reader
// sees what was written, and neither GitHub nor another bot finds a name, a
// reference, a tag or a command. All such spaces of the input are dropped first and
// put in again, so a second pass changes nothing. Since no reference survives,
// closing words ("fixes #1") stand before nothing and need no treatment.
//
// # What counts as code
//
// A package name such as @types/node must stay copyable inside code, and a mention
// must not escape by looking like code to us and like text to GitHub. So code is
// left alone only where no rule of GitHub Flavored Markdown can read it otherwise:
//
//   - The text has no "<" that could begin a tag, an autolink or an HTML block (each
//     may swallow a fence or a backtick), no backslash before a backtick, and no "$$".
//   - A fence counts when it opens in the first column: there it ends every list and
//     quote and begins a block of the document itself. One that is indented by one to
//     three spaces may belong to a list or to the document, so it ends all trust in the
//     whole text. The info string must be a plain word other than "math", since
//     mathematics is not rendered as code.
//   - Code within a line counts only if, on every line outside fences, all runs of
//     backticks pair up. Then no run is left that could pair across lines. Besides,
//     the text must be free of what is read before a code span or cuts it: table bars,
//     "$", link destinations other than plain words, reference definitions, and
//     addresses that run into a backtick.
//
// In such code only slash commands are broken, since other bots do not read Markdown.
// HTML comments, our markers among them, are broken everywhere: each holds a "<" that
// ends the trust.
// Where the structure merely suggests code, foreign tags are left as they are, for
// they are shown as typed if it is code, and dropped by GitHub if it is not.
//
// # What would swallow the line after the text
//
// The caller appends its marker, an HTML comment, after a blank line. A blank line
// ends paragraphs, tables, and HTML blocks of the kinds 6 and 7 in CommonMark's
// count (<details>, <a>). A line in the first column ends lists and quotes. What
// runs on are a fence and the HTML blocks 1 to 5: <pre>, <script>, <style> and
// <textarea>, "<!--", "<?", "<!X" and "<![CDATA[". The structure of the text is
// followed line by line to see which of them is open at the end.
package sanitize
