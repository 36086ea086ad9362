//go:build !linux

package launch

import "errors"

// nicePages is unsupported: only on Linux are renderers forked from one process.
func nicePages(int, int) error { return errors.ErrUnsupported }
