// Package sanitize makes foreign text harmless.
package sanitize
