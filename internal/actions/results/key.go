package results

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// prefix returns the prefix of the keys of an issue. It ends with a slash, so that the prefix of
// issue 7 does not match the keys of issue 71.
func prefix(issue int) string { return fmt.Sprintf("foreman/v1/i%d/", issue) }

func key(issue, number int) string { return fmt.Sprintf("%s%010d", prefix(issue), number) }

// parseKey returns the number in a key of the issue. The error is errOddKey if the key has our
// prefix but no number.
func parseKey(text string, issue int) (int, error) {
	digits, ok := strings.CutPrefix(text, prefix(issue))
	n, err := strconv.Atoi(digits)
	switch {
	case !ok:
		return 0, errors.New("the cache service returned an entry whose key has another prefix")
	case err != nil || n < 1 || key(issue, n) != text:
		return 0, errOddKey
	}
	return n, nil
}

var errOddKey = errors.New("the key of the newest entry has no valid number")

// defaultVersion returns the version that distinguishes our entries from those of other programs.
func defaultVersion() string {
	sum := sha256.Sum256([]byte("foreman-memory-v1"))
	return hex.EncodeToString(sum[:])
}
