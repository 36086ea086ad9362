package testenv

import (
	"context"
	"io/fs"
	"net/http"
	"os"
	"strconv"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/status"
)

// Pages serves handlers by their patterns on loopback and returns the base URL.
func Pages(t testing.TB, handlers map[string]http.HandlerFunc) string {
	t.Helper()
	return Serve(t, muxOf(handlers))
}

// PagesWithFiles serves handlers as Pages does, and also the files below pages/.
func PagesWithFiles(t testing.TB, files fs.FS, handlers map[string]http.HandlerFunc) string {
	t.Helper()
	mux := muxOf(handlers)
	mux.Handle("/pages/", http.FileServerFS(files))
	return Serve(t, mux)
}

func muxOf(handlers map[string]http.HandlerFunc) *http.ServeMux {
	mux := http.NewServeMux()
	for pattern, h := range handlers {
		mux.HandleFunc(pattern, h)
	}
	return mux
}

// HTML returns a handler that serves a page from a string.
func HTML(page string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("content-type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(page))
	}
}

// Patience limits a wait for something that must happen. It is longer than any busy machine needs, so that only a fault fails a test.
const Patience = 3 * time.Minute

// Long reports whether the test runs in make test-long, which sets DOMTAP_LONG.
func Long() bool { return os.Getenv("DOMTAP_LONG") != "" }

// Steps returns the value of DOMTAP_STEPS, which make test-long sets from STEPS. If it is not set, Steps returns the argument.
func Steps(otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv("DOMTAP_STEPS")); err == nil {
		return n
	}
	return otherwise
}

// Size returns the size of a test: short for make test, or long for make test-long.
func Size(short, long int) int {
	if Long() {
		return long
	}
	return short
}

// Await checks every 20 ms whether a condition is met, until it is. After Patience it fails the test. It may be called in the test's
// cleanup, when the context of the test has ended.
func Await(t testing.TB, what string, met func() bool) {
	t.Helper()
	again, end := time.NewTicker(20*time.Millisecond), time.NewTimer(Patience)
	defer again.Stop()
	defer end.Stop()
	for !met() {
		select {
		case <-again.C:
		case <-end.C:
			t.Fatalf("%s: not within %v", what, Patience)
		}
	}
}

// Within returns the test's context with a deadline.
func Within(t testing.TB, limit time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	t.Cleanup(cancel)
	return ctx
}

// Reason returns the ErrorInfo reason of an error, or an empty string if there is none.
func Reason(err error) string {
	for _, detail := range status.Convert(err).Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok {
			return info.GetReason()
		}
	}
	return ""
}
