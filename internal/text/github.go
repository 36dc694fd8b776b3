package text

import "strings"

// FindsPulls reports whether a query in GitHub's search syntax asks for pull requests. A search
// finds either pull requests or issues, never both.
func FindsPulls(query string) bool {
	for word := range strings.FieldsSeq(strings.ToLower(query)) {
		switch strings.TrimLeft(word, "(") {
		case "is:pr", "is:pull-request", "type:pr", "type:pull-request":
			return true
		}
	}
	return false
}

// Sorts reports whether a query in GitHub's search syntax has its own sort.
func Sorts(query string) bool {
	for word := range strings.FieldsSeq(strings.ToLower(query)) {
		if strings.HasPrefix(word, "sort:") {
			return true
		}
	}
	return false
}

// SameLogin reports whether an account's login is the one that name stands for. A person may have
// written name: with "@", in other letter case, or without the "[bot]" at the end of an app's login.
// GitHub permits brackets only in logins of apps. An empty login or name stands for no account.
func SameLogin(login, name string) bool {
	name = strings.TrimPrefix(strings.TrimSpace(name), "@")
	return login != "" && name != "" && (strings.EqualFold(login, name) || strings.EqualFold(login, name+"[bot]"))
}
