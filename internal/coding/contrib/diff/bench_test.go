//go:build unix

package diff_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/coding/contrib/contract"
	"github.com/org/foreman-action/internal/coding/contrib/controller"
	"github.com/org/foreman-action/internal/coding/contrib/diff"
	"github.com/org/foreman-action/internal/coding/contrib/status"
)

// prose returns about size bytes of text: lines of random words.
func prose(random *rand.Rand, size int) string {
	var b strings.Builder
	for b.Len() < size {
		for range 4 + random.IntN(8) {
			fmt.Fprintf(&b, "%x ", random.Uint32N(1<<20))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// filled checks out a repository with a number of files of about size bytes each. With -short, it
// has a tenth of the files.
func filled(b *testing.B, files, size int) *rig {
	b.Helper()
	if testing.Short() {
		files /= 10
	}
	r := newRig(b)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range files {
		r.write(r.upstream, filepath.Join(fmt.Sprintf("folder%d", i%100), fmt.Sprintf("file%d.txt", i)), prose(random, size))
	}
	r.commit(r.upstream)
	r.git(r.upstream, "gc", "--quiet")
	r.checkout()
	return r
}

// cpu runs the rounds of a benchmark and reports the processor time of each, including git's. On a
// busy machine, wall-clock time is not comparable.
func cpu(b *testing.B, round func()) {
	b.Helper()
	used := func() time.Duration {
		total := time.Duration(0)
		for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
			var u syscall.Rusage
			if err := syscall.Getrusage(who, &u); err != nil {
				b.Fatal(err)
			}
			total += time.Duration(u.Utime.Nano() + u.Stime.Nano())
		}
		return total
	}
	before := used()
	for b.Loop() {
		round()
	}
	b.ReportMetric(float64((used()-before).Microseconds())/float64(b.N)/1000, "cpu-ms/op")
}

// BenchmarkStatus makes the document of "status" for 10,000 files, some of them changed. It uses a
// token, so that it does not measure gh.
func BenchmarkStatus(b *testing.B) {
	r := filled(b, 10_000, 300)
	random := rand.New(rand.NewPCG(3, 4))
	for i := range 8 {
		r.write(r.dir(), fmt.Sprintf("folder%d/new%d.txt", i, i), prose(random, 1000))
		r.write(r.dir(), fmt.Sprintf("folder%d/file%d.txt", i, i), prose(random, 1000))
	}
	r.write(r.session.Controller.Root, controller.ConfigPath, "{}")
	r.session.Environ = append(r.session.Environ, "GITHUB_TOKEN=t")
	git, err := exec.LookPath("git")
	if err != nil {
		b.Fatal(err)
	}
	bin := b.TempDir()
	if err := os.Symlink(git, filepath.Join(bin, "git")); err != nil {
		b.Fatal(err)
	}
	b.Setenv("PATH", bin)
	cpu(b, func() {
		if d, err := status.Run(b.Context(), r.session); err != nil || d.State != contract.StateReadyForDiff {
			b.Fatal(d, err)
		}
	})
}

// BenchmarkDiff records a patch of 300 added lines in a repository of 1,000 files.
func BenchmarkDiff(b *testing.B) {
	r := filled(b, 1000, 3000)
	random := rand.New(rand.NewPCG(3, 4))
	for i := range 6 {
		lines := strings.SplitAfter(prose(random, 5000), "\n")
		r.write(r.dir(), fmt.Sprintf("new%d.txt", i), strings.Join(lines[:50], ""))
	}
	cpu(b, func() {
		if d, err := diff.Run(b.Context(), r.session); err != nil || len(d.ChangedFiles) != 6 {
			b.Fatal(d, err)
		}
	})
}

// BenchmarkDuplicates searches 100 MB for 50 lines.
func BenchmarkDuplicates(b *testing.B) {
	r := filled(b, 2000, 50_000)
	r.write(r.dir(), "new.txt", prose(rand.New(rand.NewPCG(3, 4)), 10_000))
	cpu(b, func() {
		if _, err := diff.Run(b.Context(), r.session); err != nil {
			b.Fatal(err)
		}
	})
}
