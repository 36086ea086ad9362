package adapters

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/internal/browser/capture"
)

// Documents implements driver.Documents.
type Documents struct {
	Capture *capture.Capture
	// Folder returns the folder on this machine that holds the session's downloads. It is empty if the browser keeps them elsewhere.
	Folder func() string
	// ReadPDF reads the text of a PDF in a page of its own.
	ReadPDF func(ctx context.Context, data []byte) ([]byte, error)
}

// PDF implements driver.Documents.
func (d Documents) PDF(ctx context.Context, data []byte) ([]byte, error) {
	if err := d.Capture.Unmasked(unmasked); err != nil {
		return nil, err
	}
	return d.ReadPDF(ctx, data)
}

// unmasked is the reason why documents are not read in a session with masks.
const unmasked = "nothing can be masked in PDFs and downloaded files: use a session without --mask"

// Downloaded implements driver.Documents. A remote browser reports the path, so only files directly in the session's folder are read.
func (d Documents) Downloaded(_ context.Context, path string, limit int) ([]byte, error) {
	if err := d.Capture.Unmasked(unmasked); err != nil {
		return nil, err
	}
	dir := d.Folder()
	if dir == "" || path == "" || filepath.Dir(path) != filepath.Clean(dir) {
		return nil, apierr.Unknown("download", "the file of the download is not in the session's folder on the daemon's machine: a remote browser keeps its own downloads")
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, gone(err)
	}
	defer root.Close()
	file, err := root.Open(filepath.Base(path))
	if err != nil {
		return nil, gone(err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, int64(limit)+1))
	if err != nil {
		return nil, gone(err)
	}
	if len(data) > limit {
		return nil, apierr.Exceeded("document_bytes", limit, "the file has more than %d MB: read it at %s", limit/1_000_000, path)
	}
	return data, nil
}

// gone returns the error of a file that cannot be read.
func gone(err error) error {
	found := apierr.Unknown("download", "the file of the download cannot be read: download it again")
	if !errors.Is(err, fs.ErrNotExist) {
		found.Err = err
	}
	return found
}
