//go:build !linux

package idle

import (
	"errors"
	"time"
)

var errUnsupported = errors.New("only Linux takes pages of the program away from a process")

func processorTime() (time.Duration, error) { return 0, errUnsupported }

func dropProgramPages() error { return errUnsupported }
