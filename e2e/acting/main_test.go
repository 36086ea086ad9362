package acting

import (
	"os"
	"testing"

	"github.com/domtap/domtap/internal/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }
