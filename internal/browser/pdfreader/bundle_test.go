package pdfreader

import (
	"bytes"
	"compress/gzip"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/evanw/esbuild/pkg/api"
)

var update = flag.Bool("update", false, "write pdfjs.js.gz from the package pdfjs-dist in DOMTAP_PDFJS/node_modules")

// TestBundleIsThatOfThePackage compares the bundle with the result of bundling the package pdfjs-dist. To update PDF.js, run
//
//	npm install --prefix DIR pdfjs-dist@VERSION
//	DOMTAP_PDFJS=DIR go generate ./internal/browser/pdfreader
func TestBundleIsThatOfThePackage(t *testing.T) {
	dir := os.Getenv("DOMTAP_PDFJS")
	if dir == "" {
		t.Skip("DOMTAP_PDFJS is not set")
	}
	built := api.Build(api.BuildOptions{
		EntryPoints: []string{"entry.mjs"}, NodePaths: []string{filepath.Join(dir, "node_modules")}, Bundle: true, Format: api.FormatIIFE, Platform: api.PlatformBrowser,
		MinifyWhitespace: true, MinifyIdentifiers: true, MinifySyntax: true, LegalComments: api.LegalCommentsNone, Define: map[string]string{"import.meta.url": `""`},
	})
	if len(built.Errors) > 0 || len(built.OutputFiles) != 1 {
		t.Fatal(built.Errors)
	}
	if *update {
		var b bytes.Buffer
		w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
		if _, err := w.Write(built.OutputFiles[0].Contents); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("pdfjs.js.gz", b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if script, err := bundle(); err != nil || script != string(built.OutputFiles[0].Contents) {
		t.Errorf("pdfjs.js.gz is not the bundle of the package (%v): go generate ./internal/browser/pdfreader", err)
	}
}
