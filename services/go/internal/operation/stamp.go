package operation

import (
	"sync/atomic"
	"time"
)

// StampBytes is how long every stamp is.
const StampBytes = len("2006-01-02T15:04:05.000000+00:00")

const untilTheSecond = len("2006-01-02T15:04:05")

type second struct {
	unix int64
	text [untilTheSecond]byte
}

var latest atomic.Pointer[second] // a stamp stands in every message; most are of the same second as the one before

// AppendStamp writes a moment as ISO 8601 in UTC with six digits of the second, cut and not rounded.
func AppendStamp(to []byte, wallNS int64) []byte {
	unix := wallNS / int64(time.Second)
	cached := latest.Load()
	if cached == nil || cached.unix != unix {
		cached = &second{unix: unix}
		copy(cached.text[:], time.Unix(unix, 0).UTC().Format("2006-01-02T15:04:05"))
		latest.Store(cached)
	}
	to = append(to, cached.text[:]...)
	digits := [...]byte{'.', '0', '0', '0', '0', '0', '0'}
	rest := wallNS % int64(time.Second) / 1000
	for place := len(digits) - 1; place > 0; place-- {
		digits[place] = byte('0' + rest%10)
		rest /= 10
	}
	return append(append(to, digits[:]...), "+00:00"...)
}

// Stamp is the wall clock's reading as AppendStamp writes it.
func Stamp() string {
	var buffer [StampBytes]byte
	return string(AppendStamp(buffer[:0], time.Now().UnixNano()))
}

const stampPattern = "dddd-dd-ddTdd:dd:dd.dddddd+00:00"

func isStamp(text string) bool {
	if len(text) != len(stampPattern) {
		return false
	}
	for place := range len(text) {
		wanted, found := stampPattern[place], text[place]
		if wanted == 'd' {
			if found < '0' || found > '9' {
				return false
			}
		} else if wanted != found {
			return false
		}
	}
	return true
}
