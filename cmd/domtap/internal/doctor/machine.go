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

// Approximate requirements of a daemon. Memory is measured and rounded up. Files and shared memory are cautious estimates.
const (
	// filesPerTab is the number of files per tab that the browser's largest process and the daemon keep open together. filesAtLeast is the
	// number without any tab.
	filesPerTab, filesAtLeast = 20, 400
	browserMemory             = 200 << 20
	tabMemory                 = 20 << 20
	// shmPerTab is the shared memory that a tab's graphics need.
	shmPerTab = 4 << 20
	diskFree  = 1 << 30
	// certificateSoon is the time before expiry at which a certificate causes a warning.
	certificateSoon = 14 * 24 * time.Hour
)

func checkFiles(_ context.Context, p *Subject) Finding {
	soft, hard, err := fileLimits()
	if err != nil {
		return Finding{"files", OK, "the limit of open files is unknown on this system", ""}
	}
	return filesFinding(soft, hard, p.MaxTabs)
}

func filesFinding(soft, hard uint64, tabs int) Finding {
	need := uint64(filesAtLeast + filesPerTab*tabs)
	found := fmt.Sprintf("a process may open %d files; %d tabs need about %d", soft, tabs, need)
	switch {
	case soft >= need:
		return Finding{"files", OK, found, ""}
	case hard >= need: // Go and Chromium raise their soft limit to the hard limit by themselves
		return Finding{"files", OK, fmt.Sprintf("%s; the limit can be raised to %d", found, hard), ""}
	}
	return Finding{"files", Warn, found, fmt.Sprintf("raise the limit (ulimit -n %d; LimitNOFILE= in a unit), or allow fewer tabs with --max-tabs", need)}
}

func checkShm(_ context.Context, p *Subject) Finding {
	total, _, err := space("/dev/shm")
	if err != nil {
		return Finding{"shm", OK, "not used on this system", ""}
	}
	return shmFinding(total, p.MaxTabs)
}

func shmFinding(total uint64, tabs int) Finding {
	found := fmt.Sprintf("/dev/shm has %d MiB", total>>20)
	if total >= min(uint64(tabs)*shmPerTab, 512<<20) {
		return Finding{"shm", OK, found, ""}
	}
	return Finding{"shm", Warn, found + ", too little for " + strconv.Itoa(tabs) + " tabs: pages may crash",
		"enlarge it (docker run --shm-size 1g; an emptyDir of medium Memory), or start with --chrome-flag disable-dev-shm-usage"}
}

func checkMemory(_ context.Context, p *Subject) Finding {
	for _, path := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		if limit, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64); err == nil && limit < 1<<50 {
			return memoryFinding(limit, p.MaxTabs)
		}
	}
	return Finding{"memory", OK, "not limited by a control group", ""}
}

func memoryFinding(limit uint64, tabs int) Finding {
	need := uint64(browserMemory + tabs*tabMemory)
	found := fmt.Sprintf("the control group allows %d MiB; %d small tabs need about %d", limit>>20, tabs, need>>20)
	if limit >= need {
		return Finding{"memory", OK, found, ""}
	}
	return Finding{"memory", Warn, found, "allow more memory, or fewer tabs with --max-tabs; at the limit, the kernel kills a process of the browser"}
}

func checkDisk(_ context.Context, p *Subject) Finding {
	dir := p.Places.State
	for dir != filepath.Dir(dir) { // the nearest directory that exists
		if _, err := os.Stat(dir); err == nil {
			break
		}
		dir = filepath.Dir(dir)
	}
	_, free, err := space(dir)
	if err != nil {
		return Finding{"disk", OK, "the free space is unknown on this system", ""}
	}
	found := fmt.Sprintf("%d MiB are free in %s", free>>20, dir)
	if free < diskFree {
		return Finding{"disk", Warn, found, "free some space, or choose another directory with --state-dir for profiles and downloads"}
	}
	return Finding{"disk", OK, found, ""}
}

// built is a time in the past. A clock that shows an earlier time is wrong.
var built = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func checkClock(context.Context, *Subject) Finding { return clockFinding(time.Now()) }

func clockFinding(now time.Time) Finding {
	if now.Before(built) {
		return Finding{"clock", Fail, "the clock shows " + now.UTC().Format(time.DateTime), "set the clock, because the validity of certificates depends on it"}
	}
	return Finding{"clock", OK, now.UTC().Format(time.DateTime) + " UTC", ""}
}

func checkCertificate(_ context.Context, p *Subject) Finding {
	if p.Certificate == "" {
		return Finding{"tls", OK, "no certificate, so only this machine can connect", ""}
	}
	text, err := os.ReadFile(p.Certificate)
	if err != nil {
		return Finding{"tls", Fail, err.Error(), "name another file with --tls-cert"}
	}
	return certificateFinding(text, time.Now())
}

func certificateFinding(text []byte, now time.Time) Finding {
	block, _ := pem.Decode(text)
	if block == nil {
		return Finding{"tls", Fail, "the certificate is not a PEM file", "name another file with --tls-cert"}
	}
	c, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return Finding{"tls", Fail, "invalid certificate: " + err.Error(), "name another file with --tls-cert"}
	}
	until := c.NotAfter.UTC().Format(time.DateTime)
	switch {
	case now.After(c.NotAfter):
		return Finding{"tls", Fail, "the certificate expired at " + until, "renew the certificate, then restart the daemon"}
	case now.Before(c.NotBefore):
		return Finding{"tls", Fail, "the certificate is not valid before " + c.NotBefore.UTC().Format(time.DateTime), "check the clock, or wait"}
	case now.Add(certificateSoon).After(c.NotAfter):
		return Finding{"tls", Warn, "the certificate expires at " + until, "renew the certificate, then restart the daemon"}
	}
	return Finding{"tls", OK, "the certificate is valid until " + until, ""}
}
