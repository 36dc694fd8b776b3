package validate

import (
	"regexp"
	"slices"
)

// A hint is a part of a command's output, and the Debian package whose lack it shows.
type hint struct {
	output *regexp.Regexp
	debian string
}

// header returns the hint of a missing header file, whose name is an expression.
func header(name, debian string) hint {
	return hint{regexp.MustCompile(`fatal error: ['"<]?` + name + `|` + name + `['">]?:? (?:No such file|file not found|not found)`), debian}
}

// library returns the hint of a missing library of the linker or of pkg-config.
func library(name, debian string) hint {
	return hint{regexp.MustCompile(`cannot find -l` + name + `\b|(?i:package '?` + name + `'?,? (?:required|was not found)|No package '` + name + `' found)`), debian}
}

// hints are in the order in which packages are suggested.
var hints = []hint{
	header(`X11/[A-Za-z0-9_./]+\.h`, "libx11-dev"), library(`(?:X11|x11)`, "libx11-dev"),
	header(`ffi\.h`, "libffi-dev"), library(`(?:libffi|ffi)`, "libffi-dev"),
	header(`openssl/[a-z0-9_]+\.h`, "libssl-dev"), library(`(?:openssl|ssl|libssl)`, "libssl-dev"),
	header(`zlib\.h`, "zlib1g-dev"), library(`(?:zlib|z)`, "zlib1g-dev"),
	header(`sqlite3\.h`, "libsqlite3-dev"), library(`sqlite3`, "libsqlite3-dev"),
	header(`libpq-fe\.h`, "libpq-dev"), library(`(?:libpq|pq)`, "libpq-dev"),
	header(`alsa/[a-z]+\.h`, "libasound2-dev"), library(`(?:alsa|asound)`, "libasound2-dev"),
	header(`GL/[a-z]+\.h`, "libgl1-mesa-dev"), library(`(?:gl|GL)`, "libgl1-mesa-dev"),
	header(`Python\.h`, "python3-dev"),
	header(`curl/curl\.h`, "libcurl4-openssl-dev"), library(`(?:libcurl|curl)`, "libcurl4-openssl-dev"),
	header(`gtk/gtk\.h`, "libgtk-3-dev"), library(`gtk\+-3\.0`, "libgtk-3-dev"),
	missing(`make`, "make"), missing(`gcc`, "gcc"), missing(`g\+\+`, "g++"), missing(`git`, "git"), missing(`cmake`, "cmake"),
	missing(`pkg-config`, "pkg-config"),
}

// missing returns the hint for a missing program.
func missing(name, debian string) hint {
	return hint{regexp.MustCompile(`(?m)(?:^|[\s:"'])` + name + `["']?: (?:not found|command not found|No such file or directory|executable file not found)|exec: "` + name + `": executable file not found`), debian}
}

// systemPackages returns the Debian packages that are missing according to a command's output.
// They are only suggested, never installed.
func systemPackages(output string) []string {
	var found []string
	for _, h := range hints {
		if h.output.MatchString(output) && !slices.Contains(found, h.debian) {
			found = append(found, h.debian)
		}
	}
	return found
}

// lacking matches the error of a shell that does not find a program.
var lacking = regexp.MustCompile(`(?m)^(?:/bin/)?(?:ba|da)?sh: (?:line )?[0-9]+: ([A-Za-z0-9._+-]{1,60}): (?:command )?not found$|` +
	`^make(?:\[[0-9]+\])?: ([A-Za-z0-9._+-]{1,60}): No such file or directory$`)

// missingProgram returns the program that a shell did not find; empty for none.
func missingProgram(output string) string {
	match := lacking.FindStringSubmatch(output)
	if match == nil {
		return ""
	}
	return match[1] + match[2]
}
