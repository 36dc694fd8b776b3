// Package picture connects each picture in the documentation with the text from which it was made.
// The PNG contains the SHA-256 of this text, and the text is in a file beside it. So a test
// without Chromium can check that picture and text belong together.
package picture
