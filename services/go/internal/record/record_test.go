package record

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

func TestTheHeaderIsThatOfThePage(t *testing.T) {
	made := header()
	if len(made) != 512 || string(made[:8]) != "orchtime" {
		t.Fatalf("%d bytes, %q", len(made), made[:8])
	}
	for place, wanted := range []uint64{2, 512, 112, 14} {
		if found := binary.LittleEndian.Uint64(made[8+8*place:]); found != wanted {
			t.Errorf("number %d is %d, not %d", place, found, wanted)
		}
	}
	if !bytes.Equal(made[40:64], make([]byte, 24)) {
		t.Error("bytes 40 to 63 are not 0")
	}
	if name := string(bytes.TrimRight(made[64+13*32:], "\x00")); name != "sender_clock" {
		t.Errorf("the last column is %q", name)
	}
}

func readBack(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func TestARowIsFourteenLittleEndianNumbers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "record")
	made, err := Create(path, 4)
	if err != nil {
		t.Fatal(err)
	}
	place, err := made.Take(1)
	if err != nil {
		t.Fatal(err)
	}
	made.Store(place, &Row{1, -2, 3, -4, 5, 6, -1, 8, 9, 10, 11, 12, 13, 14})
	if err := made.Close(); err != nil {
		t.Fatal(err)
	}
	content := readBack(t, path)
	if len(content) != 512+112 {
		t.Fatalf("the file has %d bytes", len(content))
	}
	for column, wanted := range []int64{1, -2, 3, -4, 5, 6, -1, 8, 9, 10, 11, 12, 13, 14} {
		if found := int64(binary.LittleEndian.Uint64(content[512+8*column:])); found != wanted {
			t.Errorf("column %d is %d, not %d", column, found, wanted)
		}
	}
}

func TestOneThatStoresAloneGetsTheSamePlaces(t *testing.T) {
	path := filepath.Join(t.TempDir(), "record")
	made, err := Create(path, 1)
	if err != nil {
		t.Fatal(err)
	}
	made.ByOne()
	for place, rows := range []int64{1, 2, 1} {
		taken, err := made.Take(rows)
		if err != nil || taken != []int64{0, 1, 3}[place] {
			t.Fatalf("place %d, %v", taken, err)
		}
		made.Store(taken, &Row{Sequence: taken + 1})
	}
	if made.Rows() != 4 || made.At(3).Sequence != 4 {
		t.Errorf("%d rows, the last is %+v", made.Rows(), made.At(3))
	}
	if err := made.Close(); err != nil {
		t.Fatal(err)
	}
	if content := readBack(t, path); len(content) != 512+4*112 {
		t.Errorf("the file has %d bytes", len(content))
	}
}

func TestRowsThatWereNeverStoredAreZero(t *testing.T) {
	path := filepath.Join(t.TempDir(), "record")
	made, err := Create(path, 10)
	if err != nil {
		t.Fatal(err)
	}
	if content := readBack(t, path); len(content) != 512+10*112 || !bytes.Equal(content[512:], make([]byte, 10*112)) {
		t.Fatalf("%d bytes, and not all of them are 0", len(content))
	}
	if err := made.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestManyStoreAtOnceWhileTheFileGrows(t *testing.T) {
	const workers, each = 8, growRows / 4
	path := filepath.Join(t.TempDir(), "record")
	made, err := Create(path, 1)
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for worker := range workers {
		group.Go(func() {
			for number := range each {
				place, err := made.Take(1)
				if err != nil {
					t.Error(err)
					return
				}
				made.Store(place, &Row{Sequence: int64(worker*each + number + 1), Status: 9})
				made.Settle(place, 0)
			}
		})
	}
	group.Wait()
	seen := make([]bool, workers*each+1)
	for place := range made.Rows() {
		row := made.At(place)
		if seen[row.Sequence] || row.Sequence == 0 || row.Status != 0 {
			t.Fatalf("row %d is %+v", place, row)
		}
		seen[row.Sequence] = true
	}
	if err := made.Close(); err != nil {
		t.Fatal(err)
	}
	if about, err := os.Stat(path); err != nil || about.Size() != 512+workers*each*112 {
		t.Fatalf("the file: %v, %v", about, err)
	}
}

func TestAFolderThatIsNotThereIsAnError(t *testing.T) {
	if _, err := Create(filepath.Join(t.TempDir(), "nowhere", "record"), 1); err == nil {
		t.Fatal("no error")
	}
}

func BenchmarkStore(b *testing.B) {
	made, err := Create(filepath.Join(b.TempDir(), "record"), int64(b.N)+1)
	if err != nil {
		b.Fatal(err)
	}
	row := Row{Sequence: 1}
	for b.Loop() {
		place, err := made.Take(1)
		if err != nil {
			b.Fatal(err)
		}
		made.Store(place, &row)
	}
}
