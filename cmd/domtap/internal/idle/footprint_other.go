//go:build !linux

package idle

import (
	"errors"
	"time"
)

var errNotHere = errors.New("only Linux takes pages of the program away from a process")

func processorTime() (time.Duration, error) { return 0, errNotHere }

func dropProgramPages() error { return errNotHere }
