package git_test

import (
	"os"
	"testing"

	"github.com/org/foreman-action/internal/testkit/ramdir"
)

func TestMain(m *testing.M) { os.Exit(ramdir.Tests{M: m, Setenv: os.Setenv}.Run()) }
