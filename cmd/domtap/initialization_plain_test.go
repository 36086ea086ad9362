//go:build !cluster

package main

// maxAllBytes is the limit for all packages.
const maxAllBytes = 2 << 20

var buildFlags []string
