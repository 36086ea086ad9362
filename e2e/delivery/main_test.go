// Package delivery holds what answers to actions say against what the page itself received, over random steps on a page
// that moves, renders anew, reuses, renames, covers and takes away what is acted on (scene.html).
//
//   - ok means that the page's own element received the whole action.
//   - No element is touched that was not named: the first event of a step reaches the element of the ref, as the caller
//     was told of it last, or nothing.
//   - What is answered as not delivered at all was not received.
//
// The test takes ten seconds. DOMTAP_STEPS=20000 makes that many steps, DOMTAP_SEED=N repeats the chances of a run; -v
// prints what was met.
package delivery

import (
	"os"
	"testing"

	"github.com/domtap/domtap/internal/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }
