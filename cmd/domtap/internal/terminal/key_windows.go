package terminal

import (
	"fmt"
	"os"

	"golang.org/x/sys/windows"
)

var consoleWindow = windows.NewLazySystemDLL("kernel32.dll").NewProc("GetConsoleWindow")

// Key identifies the terminal of this process by its console, or by its parent process if there is no console.
func Key() string {
	if consoleWindow.Find() == nil {
		if window, _, _ := consoleWindow.Call(); window != 0 {
			return fmt.Sprintf("console %d", window)
		}
	}
	return fmt.Sprintf("parent %d", os.Getppid())
}
