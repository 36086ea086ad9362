//go:build cluster

package main

// maxAllBytes is the bound for all packages. NATS and what it alone needs allocate 290 KiB of it, two thirds of that the tables of its
// server, which no program that imports the server can do without.
const maxAllBytes = 2<<20 + 384<<10

var buildFlags = []string{"-tags", "cluster"}
