//go:build cluster

package main

// maxAllBytes is the limit for all packages. NATS and its dependencies allocate 290 KiB of it. Two thirds of that are tables of its server,
// which every program that imports the server needs.
const maxAllBytes = 2<<20 + 384<<10

var buildFlags = []string{"-tags", "cluster"}
