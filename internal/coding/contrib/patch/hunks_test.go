package patch

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/coding/git"
)

const twoFiles = `diff --git a/a b/a
index 1..2 100644
--- a/a
+++ b/a
@@ -1,2 +1,3 @@ func x
 one
-two
+diff --git a/b b/b
+@@ -1 +1 @@
@@ -9 +10,0 @@
-nine
\ No newline at end of file
diff --git a/b b/b
new file mode 100644
GIT binary patch
literal 2
JcmZQz1ONa700IC2

`

func TestParse(t *testing.T) {
	t.Parallel()
	got, err := parse([]byte(twoFiles))
	want := []section{
		{added: []line{{2, []byte("diff --git a/b b/b")}, {3, []byte("@@ -1 +1 @@")}}, deleted: [][]byte{[]byte("two"), []byte("nine")}},
		{binary: true},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(section{}, line{})); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for text, want := range map[string]string{
		"x\n":                                       `the patch begins with "x", not with diff --git`,
		"diff --git a b\n@@ -1 +1 @@\n+x\n":         "the patch ends in the middle of a hunk",
		"diff --git a b\n@@ -1 +1 @@\n+x\nx\n":      `the patch has the invalid line "x" in a hunk`,
		"diff --git a b\n@@ -1\n":                   `the patch has the invalid hunk header "@@ -1"`,
		"diff --git a b\n@@ -x +1 @@\n":             `the patch has a hunk with the invalid range "-x"`,
		"diff --git a b\n@@ -1,-1 +1 @@\n":          `the patch has a hunk with the invalid range "-1,-1"`,
		"diff --git a b\n@@ +1 -1 @@\n+x\n-y\n":     "the patch has a hunk with the invalid range \"+1\"\nthe patch has a hunk with the invalid range \"-1\"",
		"diff --git a b\n@@ -1,2 +1,0 @@\n-x\n+y\n": "the patch has the invalid line \"+y\" in a hunk",
	} {
		if _, err := parse([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

func TestSplit(t *testing.T) {
	t.Parallel()
	sections, err := split([]byte(twoFiles), []git.Raw{{Status: "T"}})
	if err != nil || len(sections) != 1 || !sections[0].binary || len(sections[0].added) != 2 {
		t.Errorf("got %+v, %v", sections, err)
	}
	for _, changes := range [][]git.Raw{{{Status: "M"}}, {{Status: "M"}, {Status: "T"}}} {
		if _, err := split([]byte(twoFiles), changes); err == nil {
			t.Errorf("%d files: no error", len(changes))
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"", twoFiles, "diff --git a b\n@@ -1 +1 @@\n-x\n+y\n", "diff --git a b\n@@ -1,999999999 +1 @@\n", "@@"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		sections, err := parse(data)
		if err != nil {
			return
		}
		lines := 0
		for _, s := range sections {
			lines += len(s.added) + len(s.deleted)
			for _, l := range s.added {
				if strings.Contains(string(l.text), "\n") || l.number < 0 {
					t.Fatalf("got %+v", s)
				}
			}
		}
		if lines > strings.Count(string(data), "\n")+1 {
			t.Fatalf("%d lines of %q", lines, data)
		}
	})
}
