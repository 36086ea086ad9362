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
		"enough files":        {filesFinding(65536, 65536, 100), OK},
		"files can be raised": {filesFinding(1024, 65536, 100), OK},
		"too few files":       {filesFinding(1024, 1024, 100), Warn},
		"few files, few tabs": {filesFinding(1024, 1024, 10), OK},
		"a container's shm":   {shmFinding(64<<20, 100), Warn},
		"shm":                 {shmFinding(1<<30, 100), OK},
		"shm for few":         {shmFinding(64<<20, 10), OK},
		"little memory":       {memoryFinding(512<<20, 100), Warn},
		"memory":              {memoryFinding(4<<30, 100), OK},
		"clock":               {clockFinding(noon), OK},
		"clock of 1970":       {clockFinding(time.Unix(0, 0)), Fail},
		"certificate":         {certificateFinding(certificate(t, noon), noon), OK},
		"ends soon":           {certificateFinding(certificate(t, noon), noon.Add(80*24*time.Hour)), Warn},
		"has ended":           {certificateFinding(certificate(t, noon), noon.Add(91*24*time.Hour)), Fail},
		"has not begun":       {certificateFinding(certificate(t, noon), noon.Add(-time.Hour)), Fail},
		"no certificate":      {certificateFinding([]byte("x"), noon), Fail},
	} {
		if c.found.Status != c.want || c.found.Found == "" || (c.want != OK) != (c.found.Remedy != "") {
			t.Errorf("%s: %+v, want %s", name, c.found, c.want)
		}
	}
}

// certificate returns a certificate that is valid for 90 days.
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
