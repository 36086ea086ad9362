package doctor

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"testing"
	"time"
)

func TestTheMachineIsJudged(t *testing.T) {
	noon := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		found Finding
		want  string
	}{
		"enough files":        {judgeFiles(65536, 65536, 100), OK},
		"files can be raised": {judgeFiles(1024, 65536, 100), OK},
		"too few files":       {judgeFiles(1024, 1024, 100), Warn},
		"few files, few tabs": {judgeFiles(1024, 1024, 10), OK},
		"a container's shm":   {judgeShm(64<<20, 100), Warn},
		"shm":                 {judgeShm(1<<30, 100), OK},
		"shm for few":         {judgeShm(64<<20, 10), OK},
		"little memory":       {judgeMemory(512<<20, 100), Warn},
		"memory":              {judgeMemory(4<<30, 100), OK},
		"clock":               {judgeClock(noon), OK},
		"clock of 1970":       {judgeClock(time.Unix(0, 0)), Fail},
		"certificate":         {judgeCertificate(certificate(t, noon), noon), OK},
		"ends soon":           {judgeCertificate(certificate(t, noon), noon.Add(80*24*time.Hour)), Warn},
		"has ended":           {judgeCertificate(certificate(t, noon), noon.Add(91*24*time.Hour)), Fail},
		"has not begun":       {judgeCertificate(certificate(t, noon), noon.Add(-time.Hour)), Fail},
		"no certificate":      {judgeCertificate([]byte("x"), noon), Fail},
	} {
		if c.found.Status != c.want || c.found.Found == "" || (c.want != OK) != (c.found.Do != "") {
			t.Errorf("%s: %+v, want %s", name, c.found, c.want)
		}
	}
}

// certificate is one that is good for 90 days.
func certificate(t *testing.T, from time.Time) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: from, NotAfter: from.Add(90 * 24 * time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}
