package doctor

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// What a daemon takes, about: memory as it was measured, rounded up; files and shared memory estimated on the safe side.
const (
	// filesPerTab is how many files a tab keeps open in the browser's largest process and the daemon together; filesAtLeast is what they
	// have without one.
	filesPerTab, filesAtLeast = 20, 400
	browserMemory             = 200 << 20
	tabMemory                 = 20 << 20
	// shmPerTab is what the pictures of a tab take of shared memory.
	shmPerTab = 4 << 20
	diskFree  = 1 << 30
	// certificateSoon is how long before its end a certificate is told of.
	certificateSoon = 14 * 24 * time.Hour
)

func checkFiles(_ context.Context, p *Patient) Finding {
	soft, hard, err := fileLimits()
	if err != nil {
		return Finding{"files", OK, "the limit of open files is not known here", ""}
	}
	return judgeFiles(soft, hard, p.MaxTabs)
}

func judgeFiles(soft, hard uint64, tabs int) Finding {
	need := uint64(filesAtLeast + filesPerTab*tabs)
	found := fmt.Sprintf("a process may open %d files; %d tabs take about %d", soft, tabs, need)
	switch {
	case soft >= need:
		return Finding{"files", OK, found, ""}
	case hard >= need: // Go raises the soft limit to the hard one by itself, and Chromium its own
		return Finding{"files", OK, fmt.Sprintf("%s, and the limit may be raised to %d", found, hard), ""}
	}
	return Finding{"files", Warn, found, fmt.Sprintf("raise the limit (ulimit -n %d; LimitNOFILE= in a unit), or allow fewer tabs with --max-tabs", need)}
}

func checkShm(_ context.Context, p *Patient) Finding {
	total, _, err := space("/dev/shm")
	if err != nil {
		return Finding{"shm", OK, "there is no /dev/shm here, and none is needed", ""}
	}
	return judgeShm(total, p.MaxTabs)
}

func judgeShm(total uint64, tabs int) Finding {
	found := fmt.Sprintf("/dev/shm has %d MiB", total>>20)
	if total >= min(uint64(tabs)*shmPerTab, 512<<20) {
		return Finding{"shm", OK, found, ""}
	}
	return Finding{"shm", Warn, found + ", which is little for " + strconv.Itoa(tabs) + " tabs: pages may crash",
		"make it larger (docker run --shm-size 1g; an emptyDir of medium Memory), or start with --chrome-flag disable-dev-shm-usage"}
}

func checkMemory(_ context.Context, p *Patient) Finding {
	for _, path := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		if limit, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64); err == nil && limit < 1<<50 {
			return judgeMemory(limit, p.MaxTabs)
		}
	}
	return Finding{"memory", OK, "no control group bounds it", ""}
}

func judgeMemory(limit uint64, tabs int) Finding {
	need := uint64(browserMemory + tabs*tabMemory)
	found := fmt.Sprintf("the control group may take %d MiB; %d small tabs take about %d", limit>>20, tabs, need>>20)
	if limit >= need {
		return Finding{"memory", OK, found, ""}
	}
	return Finding{"memory", Warn, found, "allow more memory, or fewer tabs with --max-tabs: at the limit the kernel kills a process of the browser"}
}

func checkDisk(_ context.Context, p *Patient) Finding {
	dir := p.Places.State
	for dir != filepath.Dir(dir) { // what is not there yet is made below what is
		if _, err := os.Stat(dir); err == nil {
			break
		}
		dir = filepath.Dir(dir)
	}
	_, free, err := space(dir)
	if err != nil {
		return Finding{"disk", OK, "how much is free is not known here", ""}
	}
	found := fmt.Sprintf("%d MiB are free in %s", free>>20, dir)
	if free < diskFree {
		return Finding{"disk", Warn, found, "make room, or choose another place with --state-dir: profiles and downloads are kept there"}
	}
	return Finding{"disk", OK, found, ""}
}

// built is a time that has passed: a clock before it is wrong.
var built = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func checkClock(context.Context, *Patient) Finding { return judgeClock(time.Now()) }

func judgeClock(now time.Time) Finding {
	if now.Before(built) {
		return Finding{"clock", Fail, "the clock says " + now.UTC().Format(time.DateTime), "set it: certificates of sites and the daemon's own are judged by it"}
	}
	return Finding{"clock", OK, now.UTC().Format(time.DateTime) + " UTC", ""}
}

func checkCertificate(_ context.Context, p *Patient) Finding {
	if p.Certificate == "" {
		return Finding{"tls", OK, "no certificate is set: only this machine can call", ""}
	}
	text, err := os.ReadFile(p.Certificate)
	if err != nil {
		return Finding{"tls", Fail, err.Error(), "name another with --tls-cert"}
	}
	return judgeCertificate(text, time.Now())
}

func judgeCertificate(text []byte, now time.Time) Finding {
	block, _ := pem.Decode(text)
	if block == nil {
		return Finding{"tls", Fail, "the file of the certificate is no PEM file", "name another with --tls-cert"}
	}
	c, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return Finding{"tls", Fail, "the certificate cannot be read: " + err.Error(), "name another with --tls-cert"}
	}
	until := c.NotAfter.UTC().Format(time.DateTime)
	switch {
	case now.After(c.NotAfter):
		return Finding{"tls", Fail, "the certificate ended at " + until, "renew it, then start the daemon anew"}
	case now.Before(c.NotBefore):
		return Finding{"tls", Fail, "the certificate begins at " + c.NotBefore.UTC().Format(time.DateTime), "check the clock, or wait"}
	case now.Add(certificateSoon).After(c.NotAfter):
		return Finding{"tls", Warn, "the certificate ends at " + until, "renew it, then start the daemon anew"}
	}
	return Finding{"tls", OK, "the certificate is good until " + until, ""}
}
