package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/domtap/domtap/internal/testenv"
)

// Limits for the allocations of the program's packages before main starts, because every command waits for them. Other modules account for
// half of it. Tables and regular expressions that few commands need are created on demand: see internal/lazyregexp.
const maxOwnBytes = 128 << 10 // without the generated descriptions of the messages

func TestInitializationIsSmall(t *testing.T) {
	command := exec.CommandContext(t.Context(), testenv.Program(t, buildFlags...), "version")
	command.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	var trace strings.Builder
	command.Stderr = &trace
	if err := command.Run(); err != nil {
		t.Fatal(err)
	}
	own, all := 0, 0
	for lines := bufio.NewScanner(strings.NewReader(trace.String())); lines.Scan(); {
		var name string
		var at, took float64
		var bytes int
		if n, _ := fmt.Sscanf(lines.Text(), "init %s @%g ms, %g ms clock, %d bytes", &name, &at, &took, &bytes); n != 4 {
			continue
		}
		all += bytes
		if strings.HasPrefix(name, "github.com/domtap/domtap/") && !strings.Contains(name, "/gen/") {
			own += bytes
			if bytes > maxOwnBytes/4 {
				t.Errorf("%s allocates %d bytes when it is initialized", name, bytes)
			}
		}
	}
	t.Logf("%d bytes, %d of them for packages of this module", all, own)
	if own == 0 || own > maxOwnBytes || all > maxAllBytes {
		t.Errorf("packages allocate %d bytes, and %d of them those of this module; want at most %d and %d\n%s", all, own, maxAllBytes, maxOwnBytes, trace.String())
	}
}
