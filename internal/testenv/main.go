package testenv

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// atOnce is how many parallel tests of a package run at once, unless -parallel says otherwise. The default of go test is the number of
// processors, but tests with a browser mostly wait.
const atOnce = "6"

// Main runs the tests of a package and returns its exit code. It ends the daemons that the tests shared. Remains of these daemons and
// leaked goroutines of domtap fail the package.
func Main(m *testing.M) int {
	if !flag.Parsed() {
		_ = flag.Set("test.parallel", atOnce) // the flag exists, and it is a number
	}
	life := &lifetime{}
	shared.Lock()
	shared.life, shared.daemons = life, map[string]*sharedDaemon{}
	shared.Unlock()
	code := m.Run()
	if !life.end() && code == 0 {
		code = 1
	}
	if left := goroutines(); code == 0 && left != "" {
		fmt.Fprintf(os.Stderr, "goroutines are left behind:\n%s\n", left)
		return 1
	}
	return code
}

// goroutines returns the stacks of the goroutines that run code of domtap or chromedp, after waiting for them to end.
func goroutines() string {
	deadline := time.Now().Add(5 * time.Second)
	for {
		buf := make([]byte, 1<<22)
		var left []string
		for stack := range strings.SplitSeq(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
			ours := strings.Contains(stack, "domtap/domtap/") || strings.Contains(stack, "chromedp")
			if ours && !strings.Contains(stack, ".TestMain(") {
				left = append(left, stack)
			}
		}
		if len(left) == 0 || time.Now().After(deadline) {
			return strings.Join(left, "\n\n")
		}
		runtime.Gosched()
	}
}
