//go:build !linux

package launch

import "errors"

// nicePages fails: only on Linux renderers are copies of one process.
func nicePages(int, int) error { return errors.ErrUnsupported }
