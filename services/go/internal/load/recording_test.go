package load

import (
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"orch/internal/probe"
)

func TestSamplesThatNobodyWaitedForAreRows(t *testing.T) {
	for _, hasSeveral := range []bool{false, true} {
		made, err := NewFiller(filepath.Join(t.TempDir(), "record"), 1000, hasSeveral)
		if err != nil {
			t.Fatal(err)
		}
		if err := made.Fill(1000); err != nil {
			t.Fatal(err)
		}
		looked, alike := made.worker.looked, made.worker.alike
		if isOneByOne := looked == 1000; isOneByOne == hasSeveral || (alike > 900) != hasSeveral {
			t.Errorf("%d were looked at, %d known by their bytes", looked, alike)
		}
		if err := made.Close(); err != nil {
			t.Error(err)
		}
	}
	rows, err := NewRows(filepath.Join(t.TempDir(), "record"), 10)
	if err != nil {
		t.Fatal(err)
	}
	if err := rows.Fill(10); err != nil || rows.file.Rows() != 10 {
		t.Fatalf("%d rows, %v", rows.file.Rows(), err)
	}
	if err := rows.Close(); err != nil {
		t.Fatal(err)
	}
}

// BenchmarkRecording is what a sample costs beside its request: two readings of the clock, and its row (rows); these,
// verifying a reply of known bytes, and the books (in-flight); and one reading of the clock by itself.
func BenchmarkRecording(b *testing.B) {
	b.Run("rows", func(b *testing.B) {
		made, err := NewRows(filepath.Join(b.TempDir(), "record"), int64(b.N))
		recordAll(b, made, err)
	})
	for _, concurrency := range []int{1, 2} {
		b.Run("in-flight="+strconv.Itoa(concurrency), func(b *testing.B) {
			made, err := NewFiller(filepath.Join(b.TempDir(), "record"), int64(b.N), concurrency > 1)
			recordAll(b, made, err)
		})
	}
	b.Run("clock", func(b *testing.B) {
		perTime(b, func(samples int64) error {
			for range samples {
				latestNS = probe.Now()
			}
			return nil
		})
	})
}

var latestNS int64

// perTime reports the CPU time of each as well: this machine may do other work meanwhile.
func perTime(b *testing.B, fill func(samples int64) error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	b.ResetTimer()
	before := probe.ThreadCPUSeconds()
	if err := fill(int64(b.N)); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric((probe.ThreadCPUSeconds()-before)*1e9/float64(b.N), "cpu-ns/op")
}

func recordAll(b *testing.B, made interface {
	Fill(samples int64) error
	Close() error
}, err error) {
	if err != nil {
		b.Fatal(err)
	}
	perTime(b, made.Fill)
	b.StopTimer()
	if err := made.Close(); err != nil {
		b.Fatal(err)
	}
}
