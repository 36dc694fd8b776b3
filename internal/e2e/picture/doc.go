// Package picture ties each picture of the documentation to the text that it was made of: the
// PNG names the SHA-256 of that text, which is a file beside it. So a test can tell that both are
// of one run, on a machine without Chromium.
package picture
