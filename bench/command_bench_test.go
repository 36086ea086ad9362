package bench

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/domtap/domtap/internal/testenv"
)

// BenchmarkCommand runs commands as processes while a daemon runs and, next to each run, a Go program that does nothing. For each command
// it reports the median time in milliseconds, the processor time, and the ratio of its time to the time of the empty program. The programs
// are built as for releases.
func BenchmarkCommand(b *testing.B) {
	b.Setenv("CGO_ENABLED", "0")
	program, nothing := testenv.Program(b), nothingProgram(b)
	d := testenv.StartDaemon(b)
	tab := d.Open(servePages(b) + "/page/100")
	for _, command := range []struct {
		name string
		args []string
	}{
		{"version", []string{"version"}},
		{"tabs", []string{"tabs", "--addr", "unix://" + d.Socket}},
		{"snapshot", []string{"snapshot", "--addr", "unix://" + d.Socket, "--tab", tab}},
	} {
		b.Run(command.name, func(b *testing.B) {
			var took, used, floor []time.Duration
			for range max(b.N, 101) {
				took, used = run(b, took, used, program, command.args...)
				floor, _ = run(b, floor, nil, nothing)
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(ms(median(took)), "ms")
			b.ReportMetric(ms(median(used)), "processor-ms")
			b.ReportMetric(float64(median(took))/float64(median(floor)), "x-nothing")
		})
	}
}

// run runs a program and appends its elapsed time and its processor time.
func run(b *testing.B, took, used []time.Duration, program string, args ...string) (tookAll, usedAll []time.Duration) {
	b.Helper()
	command := exec.CommandContext(b.Context(), program, args...)
	begun := time.Now()
	if text, err := command.CombinedOutput(); err != nil {
		b.Fatalf("%v: %v\n%s", command, err, text)
	}
	return append(took, time.Since(begun)), append(used, command.ProcessState.UserTime()+command.ProcessState.SystemTime())
}

// nothingProgram builds a program that does nothing.
func nothingProgram(b *testing.B) string {
	b.Helper()
	dir := b.TempDir()
	source, program := filepath.Join(dir, "main.go"), filepath.Join(dir, "nothing")
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	if text, err := exec.CommandContext(b.Context(), "go", "build", "-o", program, source).CombinedOutput(); err != nil {
		b.Fatalf("build: %v\n%s", err, text)
	}
	return program
}
