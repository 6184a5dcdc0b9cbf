package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// Lines prints lines of the contract to whoever started this program.
type Lines struct {
	mutex sync.Mutex
	file  *os.File
}

// NewLines keeps the real stdout for lines; from here on whatever else is printed there goes to stderr.
func NewLines() (*Lines, error) {
	kept, err := unix.FcntlInt(1, unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, err
	}
	if err := unix.Dup3(2, 1, 0); err != nil {
		return nil, err
	}
	return &Lines{file: os.NewFile(uintptr(kept), "lines")}, nil
}

// Print writes one line in one system call. Where nobody reads any more this program has no purpose left, and ends.
func (l *Lines) Print(line any) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(line); err != nil {
		panic(err) // a value that this program made
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if _, err := l.file.WriteString(hidden(text.String())); err != nil {
		os.Exit(1)
	}
}

var secrets atomic.Pointer[strings.Replacer]

// Hide has `***` for these texts in whatever is printed from now on, as they are or as JSON has them.
func Hide(texts []string) {
	var pairs []string
	for _, text := range texts {
		escaped, _ := json.Marshal(text)
		pairs = append(pairs, text, "***", string(escaped[1:len(escaped)-1]), "***")
	}
	secrets.Store(strings.NewReplacer(pairs...))
}

func hidden(text string) string {
	if replacer := secrets.Load(); replacer != nil {
		return replacer.Replace(text)
	}
	return text
}

// Complain says one line on stderr.
func Complain(format string, arguments ...any) {
	words := strings.Join(strings.Fields(hidden(fmt.Sprintf(format, arguments...))), " ")
	fmt.Fprintln(os.Stderr, strings.ToValidUTF8(words, "\uFFFD"))
}

// UseNoProxy takes the proxies out of this program's environment: nobody stands between the two ends.
func UseNoProxy() {
	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); strings.HasSuffix(strings.ToLower(name), "_proxy") {
			os.Unsetenv(name)
		}
	}
}
