package operation

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
)

// DecodeDocument reads any JSON value: whole numbers as int64 where they fit, others as float64, and a whole number beyond
// 64 bits as it is written.
func DecodeDocument(text []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, errors.New("more than one JSON value")
	}
	return withNumbers(value)
}

func withNumbers(value any) (any, error) {
	var err error
	switch value := value.(type) {
	case json.Number:
		return numberOf(string(value))
	case []any:
		for place, item := range value {
			if value[place], err = withNumbers(item); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for key, item := range value {
			switch item.(type) {
			case json.Number, []any, map[string]any:
				if value[key], err = withNumbers(item); err != nil {
					return nil, err
				}
			}
		}
	}
	return value, nil
}

func numberOf(text string) (any, error) {
	for place := range len(text) {
		if letter := text[place]; letter == '.' || letter == 'e' || letter == 'E' {
			return strconv.ParseFloat(text, 64)
		}
	}
	if whole, err := strconv.ParseInt(text, 10, 64); err == nil {
		return whole, nil
	}
	return json.Number(text), nil
}

// Compact encodes a value as JSON without spaces.
func Compact(value any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), nil
}

// isSame tells whether two documents are equal. A whole number and a double stand for each other where they are equal.
func isSame(one, other any) bool {
	switch one := one.(type) {
	case map[string]any:
		fields, ok := other.(map[string]any)
		if !ok || len(fields) != len(one) {
			return false
		}
		for key, value := range one {
			if found, has := fields[key]; !has || !isSame(value, found) {
				return false
			}
		}
		return true
	case []any:
		items, ok := other.([]any)
		if !ok || len(items) != len(one) {
			return false
		}
		for place, value := range one {
			if !isSame(value, items[place]) {
				return false
			}
		}
		return true
	case int64:
		switch other := other.(type) {
		case int64:
			return one == other
		case float64:
			return float64(one) == other && int64(other) == one
		}
		return false
	case float64:
		switch other := other.(type) {
		case int64:
			return float64(other) == one && int64(one) == other
		case float64:
			return one == other
		}
		return false
	}
	return one == other // text, flag, null, and a whole number beyond 64 bits
}
