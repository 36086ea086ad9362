// Package delivery compares the results of actions with the events that the page received, over random steps on a page
// that moves, re-renders, reuses, renames, covers and removes its controls (scene.html).
//
//   - ok means that the target element received the complete action.
//   - No other element receives anything. The first event of a step reaches the element of the ref, as the caller read it last, or no
//     element.
//   - If an action is reported as not delivered, the page received nothing of it.
//
// The test takes ten seconds. DOMTAP_STEPS=20000 sets the number of steps, DOMTAP_SEED=N repeats the random choices of a run, and -v prints
// how often each case occurred.
package delivery

import (
	"os"
	"testing"

	"github.com/domtap/domtap/internal/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }
