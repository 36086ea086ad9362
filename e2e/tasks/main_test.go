// Package tasks solves ten tasks on small applications over MCP, as an agent does: a scripted policy that sees only the answers of the
// server.
//
// TestTasks has the policy use domtap. It fails if a task is not solved, if the answer to an action does not state the action's effect, or
// if a diff costs more than its page. TestSideBySide has the same policy use Playwright MCP on the same tasks, if DOMTAP_PLAYWRIGHT_MCP is
// set and scripts/install-playwright-mcp has installed it. TestRoutes replays the shortest solutions with domtap do. All print a table of
// calls, tokens and outcomes.
package tasks

import (
	"os"
	"testing"

	"github.com/domtap/domtap/internal/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }
