package contract

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	mostNested  = 100
	longestLine = 1 << 20 // bytes, without its end
)

// Defaulter is a part of a line with values that are not its type's zero values.
type Defaulter interface{ SetDefaults() }

// parse reads one JSON object. Numbers stay as they are written, and no key may occur twice.
func parse(text []byte) (map[string]any, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	value, err := parseValue(decoder, 0)
	if err == nil {
		if _, after := decoder.Token(); after != io.EOF {
			err = errors.New("something stands behind its end")
		}
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("it ends too early")
	}
	if err != nil {
		return nil, fmt.Errorf("a line is one JSON object: %w", err)
	}
	object, ok := value.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("a line is one JSON object, not %s", Quoted(fmt.Sprint(value)))
	}
	return object, nil
}

func parseValue(decoder *json.Decoder, depth int) (any, error) {
	if depth > mostNested {
		return nil, errors.New("nested too deeply")
	}
	token, err := decoder.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('{'):
		return parseObject(decoder, depth)
	case json.Delim('['):
		found := []any{}
		for decoder.More() {
			value, err := parseValue(decoder, depth+1)
			if err != nil {
				return nil, err
			}
			found = append(found, value)
		}
		_, err = decoder.Token()
		return found, err
	}
	return token, nil
}

func parseObject(decoder *json.Decoder, depth int) (any, error) {
	found := map[string]any{}
	for decoder.More() {
		token, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		key, ok := token.(string)
		if !ok {
			return nil, fmt.Errorf("%v is no key", token)
		}
		if _, twice := found[key]; twice {
			return nil, fmt.Errorf("the key %s occurs twice", Quoted(key))
		}
		if found[key], err = parseValue(decoder, depth+1); err != nil {
			return nil, err
		}
	}
	_, err := decoder.Token()
	return found, err
}

// FirstLine gives the first line of a program's stdin, or all there is; an error for more than a line may have.
func FirstLine(stdin *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		piece, err := stdin.ReadSlice('\n')
		line = append(line, piece...)
		switch {
		case len(bytes.TrimSuffix(line, []byte("\n"))) > longestLine:
			return nil, errors.New("the line has more than 1 MiB")
		case errors.Is(err, bufio.ErrBufferFull):
		case err == nil || errors.Is(err, io.EOF):
			return line, nil
		default:
			return nil, err
		}
	}
}

// Read decodes the first line of a program's stdin into one of the kind that it should be of. `reader` names the program.
func Read(stdin *bufio.Reader, kind, reader string, into any) error {
	text, err := FirstLine(stdin)
	if err != nil {
		return err
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return errors.New("stdin ended before a line came")
	}
	if !utf8.Valid(text) {
		return errors.New("the line is not UTF-8")
	}
	found, err := parse(text)
	if err != nil {
		return err
	}
	if hasHalfAPair(text) {
		return errors.New("a line is one JSON object: a text in it has half of a surrogate pair")
	}
	said, isOfKind := found["type"].(string)
	isOfKind = isOfKind && said == kind
	// A type that is not known may be one of another version, which is then what is wrong.
	if version := found["contract"]; version != nil || isOfKind {
		if number, ok := version.(json.Number); !ok || number.String() != strconv.Itoa(Version) {
			theirs := "does not say which"
			if version != nil {
				theirs = "speaks " + shown(version)
			}
			return fmt.Errorf("this %s speaks contract %d; the orchestrator %s", reader, Version, theirs)
		}
	}
	if !isOfKind {
		return fmt.Errorf("the orchestrator's line has type %s; known here: %s", shown(found["type"]), kind)
	}
	delete(found, "type")
	delete(found, "contract")
	if err := decode(found, reflect.ValueOf(into).Elem(), "", ""); err != nil {
		return fmt.Errorf("the orchestrator's line `%s` is not of the contract: %w", kind, err)
	}
	return nil
}

// hasHalfAPair tells whether an escape in valid JSON stands for half of a surrogate pair: encoding/json reads U+FFFD there.
func hasHalfAPair(text []byte) bool {
	for at := 0; at < len(text)-1; at++ {
		if text[at] != '\\' {
			continue
		}
		at++ // what is escaped
		if text[at] != 'u' {
			continue
		}
		half := escaped(text[at+1:])
		if !utf16.IsSurrogate(half) {
			continue
		}
		rest, isEscape := bytes.CutPrefix(text[at+5:], []byte(`\u`))
		if !isEscape || utf16.DecodeRune(half, escaped(rest)) == utf8.RuneError {
			return true
		}
		at += 10
	}
	return false
}

// escaped reads the four digits of an escape.
func escaped(digits []byte) rune {
	value, err := strconv.ParseUint(string(digits[:min(4, len(digits))]), 16, 32)
	if err != nil {
		return utf8.RuneError
	}
	return rune(value)
}

// decode stores a parsed value. The tags of a struct's fields say what the schema does: `line` is the key, `must` that it
// is required, `within` the least and the greatest number, `one` the values of a text.
func decode(raw any, into reflect.Value, path string, tag reflect.StructTag) error {
	wrong := func(what string) error {
		return fmt.Errorf("%s: %s is no %s", strings.TrimPrefix(path, "."), shown(raw), what)
	}
	switch into.Kind() {
	case reflect.Pointer:
		if raw == nil {
			into.SetZero()
			return nil
		}
		made := reflect.New(into.Type().Elem())
		if err := decode(raw, made.Elem(), path, tag); err != nil {
			return err
		}
		into.Set(made)
	case reflect.Struct:
		fields, ok := raw.(map[string]any)
		if !ok {
			return wrong("object")
		}
		return decodeFields(fields, into, path)
	case reflect.Map:
		return decodeMap(raw, into, path, tag)
	case reflect.Slice:
		items, ok := raw.([]any)
		if !ok {
			return wrong("list")
		}
		made := reflect.MakeSlice(into.Type(), len(items), len(items))
		for place, item := range items {
			if err := decode(item, made.Index(place), fmt.Sprintf("%s.%d", path, place), ""); err != nil {
				return err
			}
		}
		into.Set(made)
	case reflect.String:
		text, ok := raw.(string)
		if !ok {
			return wrong("text")
		}
		if one := tag.Get("one"); one != "" && !slices.Contains(strings.Split(one, "|"), text) {
			return wrong("one of " + strings.ReplaceAll(one, "|", ", "))
		}
		into.SetString(text)
	case reflect.Bool:
		flag, ok := raw.(bool)
		if !ok {
			return wrong("true or false")
		}
		into.SetBool(flag)
	default:
		return decodeNumber(raw, into, path, tag)
	}
	return nil
}

func decodeFields(fields map[string]any, into reflect.Value, path string) error {
	if defaulter, ok := into.Addr().Interface().(Defaulter); ok {
		defaulter.SetDefaults()
	}
	known := 0
	for place := range into.NumField() {
		tag := into.Type().Field(place).Tag
		key := tag.Get("line")
		raw, given := fields[key]
		if !given {
			if tag.Get("must") != "" {
				return fmt.Errorf("%s is missing", strings.TrimPrefix(path+"."+key, "."))
			}
			continue
		}
		known++
		if err := decode(raw, into.Field(place), path+"."+key, tag); err != nil {
			return err
		}
	}
	if known == len(fields) {
		return nil
	}
	for key := range fields {
		isKnown := false
		for place := range into.NumField() {
			isKnown = isKnown || into.Type().Field(place).Tag.Get("line") == key
		}
		if !isKnown {
			return fmt.Errorf("%s is not known", Quoted(strings.TrimPrefix(path+"."+key, ".")))
		}
	}
	return nil
}

func decodeMap(raw any, into reflect.Value, path string, tag reflect.StructTag) error {
	if raw == nil && tag.Get("null") != "" {
		return nil
	}
	fields, ok := raw.(map[string]any)
	if !ok {
		return fmt.Errorf("%s: %s is no object", strings.TrimPrefix(path, "."), shown(raw))
	}
	made := reflect.MakeMap(into.Type())
	for key, value := range fields {
		item := reflect.New(into.Type().Elem()).Elem()
		if err := decode(value, item, path+"."+key, ""); err != nil {
			return err
		}
		made.SetMapIndex(reflect.ValueOf(key), item)
	}
	into.Set(made)
	return nil
}

func decodeNumber(raw any, into reflect.Value, path string, tag reflect.StructTag) error {
	path = strings.TrimPrefix(path, ".")
	number, ok := raw.(json.Number)
	if !ok {
		return fmt.Errorf("%s: %s is no number", path, shown(raw))
	}
	value, err := number.Float64()
	if err != nil || math.IsInf(value, 0) {
		return fmt.Errorf("%s: %s is no finite number", path, number)
	}
	least, most, bounded := strings.Cut(tag.Get("within"), "..")
	if into.Kind() == reflect.Float64 {
		if bounded && (value < float(least) || value > float(most)) {
			return fmt.Errorf("%s: %s is not from %s to %s", path, number, least, most)
		}
		into.SetFloat(value)
		return nil
	}
	whole, err := strconv.ParseInt(number.String(), 10, 64)
	if err != nil {
		return fmt.Errorf("%s: %s is no whole number", path, number)
	}
	if bounded && (whole < integer(least) || whole > integer(most)) {
		return fmt.Errorf("%s: %s is not from %s to %s", path, number, least, most)
	}
	into.SetInt(whole)
	return nil
}

func integer(text string) int64 {
	value, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		panic(err) // a tag of this program
	}
	return value
}

func float(text string) float64 {
	value, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic(err)
	}
	return value
}

func shown(value any) string {
	if value == nil {
		return "nothing"
	}
	text, err := json.Marshal(value)
	if err != nil {
		return "what cannot be shown"
	}
	return Quoted(string(text))
}

// Quoted cuts words of somebody else for a message: on one line, and no longer than needed.
func Quoted(text string) string { return OnOneLine(text, 200) }

// Message cuts all that a program says at its end.
func Message(err error) string { return OnOneLine(err.Error(), 900) }

// OnOneLine gives the words of a text on one line, with at most so many characters.
func OnOneLine(text string, most int) string {
	isBetween := func(char rune) bool { return unicode.IsSpace(char) || unicode.IsControl(char) }
	text = strings.ToValidUTF8(strings.Join(strings.FieldsFunc(hidden(text), isBetween), " "), "\uFFFD")
	if characters := []rune(text); len(characters) > most {
		text = string(characters[:most-3]) + "..."
	}
	return text
}
