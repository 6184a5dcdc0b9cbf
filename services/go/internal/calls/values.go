package calls

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

// member is one of an object, whose order a request keeps.
type member struct {
	key   string
	value any
}

// object is that of JSON. Other values are texts, numbers as they are written, flags, nil, and lists.
type object []member

func (o object) get(key string) any {
	for _, each := range o {
		if each.key == key {
			return each.value
		}
	}
	return nil
}

func (o object) text(key string) string {
	text, _ := o.get(key).(string)
	return text
}

func (o object) object(key string) object {
	inner, _ := o.get(key).(object)
	return inner
}

// parse reads one JSON value.
func parse(decoder *json.Decoder) (any, error) {
	token, err := decoder.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('{'):
		made := object{}
		for decoder.More() {
			key, err := decoder.Token()
			if err != nil {
				return nil, err
			}
			value, err := parse(decoder)
			if err != nil {
				return nil, err
			}
			made = append(made, member{key.(string), value})
		}
		_, err = decoder.Token()
		return made, err
	case json.Delim('['):
		made := []any{}
		for decoder.More() {
			value, err := parse(decoder)
			if err != nil {
				return nil, err
			}
			made = append(made, value)
		}
		_, err = decoder.Token()
		return made, err
	}
	return token, nil
}

// MarshalJSON writes the members in their order.
func (o object) MarshalJSON() ([]byte, error) {
	var text bytes.Buffer
	text.WriteByte('{')
	for place, each := range o {
		if place > 0 {
			text.WriteByte(',')
		}
		text.Write(compact(each.key))
		text.WriteByte(':')
		text.Write(compact(each.value))
	}
	text.WriteByte('}')
	return text.Bytes(), nil
}

// compact is a value as JSON without spaces.
func compact(value any) []byte {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(err) // a value that was parsed
	}
	return []byte(unescaped.Replace(strings.TrimSuffix(text.String(), "\n")))
}

// unescaped has the separators of lines, which encoding/json escapes, as they are; not where their backslash is escaped.
var unescaped = strings.NewReplacer(`\\`, `\\`, `\u2028`, "\u2028", `\u2029`, "\u2029")

var placeOf = regexp.MustCompile(`\$\{([A-Za-z_][\p{L}\p{N}_]*)\}|\{([A-Za-z_][\p{L}\p{N}_]*)(:number)?\}`)

// secretsIn notes the names of variables of the environment in the texts of a value.
func secretsIn(value any, into map[string]bool) {
	switch value := value.(type) {
	case string:
		for _, each := range placeOf.FindAllStringSubmatch(value, -1) {
			if each[1] != "" {
				into[each[1]] = true
			}
		}
	case []any:
		for _, item := range value {
			secretsIn(item, into)
		}
	case object:
		for _, each := range value {
			secretsIn(each.key, into)
			secretsIn(each.value, into)
		}
	}
}

// filler puts the values of a row, and of the environment, into templates.
type filler struct {
	row    object
	secret func(string) (string, bool)
}

// fill gives a template with its values: a text that is one column alone becomes its value.
func (f *filler) fill(template any) (any, error) {
	switch template := template.(type) {
	case string:
		if whole := placeOf.FindStringSubmatch(template); whole != nil && whole[0] == template && whole[2] != "" {
			value, err := f.column(whole[2])
			if err == nil && whole[3] != "" {
				return numberOf(value)
			}
			return value, err
		}
		return f.text(template, nil)
	case []any:
		made := make([]any, len(template))
		for place, item := range template {
			var err error
			if made[place], err = f.fill(item); err != nil {
				return nil, err
			}
		}
		return made, nil
	case object:
		made := make(object, len(template))
		for place, each := range template {
			key, err := f.fill(each.key)
			if err != nil {
				return nil, err
			}
			if made[place].key, err = Written(key); err != nil {
				return nil, err
			}
			if made[place].value, err = f.fill(each.value); err != nil {
				return nil, err
			}
		}
		return made, nil
	}
	return template, nil
}

// text fills a template in which values stand as text, as `quote` writes them.
func (f *filler) text(template string, quote func(string) string) (string, error) {
	var fault error
	made := placeOf.ReplaceAllStringFunc(template, func(place string) string {
		names := placeOf.FindStringSubmatch(place)
		if names[1] != "" {
			value, has := f.secret(names[1])
			if !has {
				fault = errors.Join(fault, noValue(names[1]))
			}
			return value
		}
		value, err := f.column(names[2])
		text := ""
		if err == nil {
			text, err = Written(value)
		}
		if fault = errors.Join(fault, err); quote != nil {
			return quote(text)
		}
		return text
	})
	return made, fault
}

func (f *filler) column(name string) (any, error) {
	for _, each := range f.row {
		if each.key == name {
			return each.value, nil
		}
	}
	return nil, noValue(name)
}

func noValue(name string) error {
	return fmt.Errorf("no value for '%s', nor has the environment", name)
}

// Written is a value as a text has it: JSON's words for true, false and null.
func Written(value any) (string, error) {
	switch value := value.(type) {
	case nil:
		return "null", nil
	case string:
		return value, nil
	case bool:
		return strconv.FormatBool(value), nil
	case json.Number:
		return value.String(), nil
	case int64:
		return strconv.FormatInt(value, 10), nil
	case float64:
		return float(value), nil
	}
	return "", errors.New("a list or an object is no text")
}

// numberOf reads the number that a value is, or is the text of.
func numberOf(value any) (json.Number, error) {
	if number, isNumber := value.(json.Number); isNumber {
		return number, nil
	}
	text, _ := value.(string)
	if whole, isWhole := new(big.Int).SetString(strings.TrimSpace(text), 10); isWhole {
		return json.Number(whole.String()), nil
	}
	double, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || math.IsInf(double, 0) || math.IsNaN(double) {
		return "", fmt.Errorf("%.60q is no number", text)
	}
	return json.Number(float(double)), nil
}

// float writes a double with its shortest digits: with an exponent below 0.0001 and from 10^16 on, else with a point.
func float(value float64) string {
	if size := math.Abs(value); size != 0 && (size < 1e-4 || size >= 1e16) {
		return strconv.FormatFloat(value, 'e', -1, 64)
	}
	text := strconv.FormatFloat(value, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}
