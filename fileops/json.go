package fileops

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// encode writes one value, indented by two spaces and ending in a newline.
func encode(tokens []jsontext.Token) ([]byte, error) {
	var out bytes.Buffer
	e := jsontext.NewEncoder(&out, jsontext.WithIndent("  "))
	for _, token := range tokens {
		if err := e.WriteToken(token); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), nil
}

// readObject reads one object, and nothing after it. For each member it calls member, which has to read the value.
func readObject(d *jsontext.Decoder, member func(name string) error) error {
	if err := readKind(d, '{'); err != nil {
		return err
	}
	for {
		name, err := d.ReadToken()
		if err != nil {
			return err
		}
		if name.Kind() == '}' {
			break
		}
		if err := member(name.String()); err != nil {
			return err
		}
	}
	switch _, err := d.ReadToken(); err {
	case io.EOF:
		return nil
	case nil:
		return errors.New("something follows the object")
	default:
		return err
	}
}

func readKind(d *jsontext.Decoder, kinds ...jsontext.Kind) error {
	_, err := readToken(d, kinds...)
	return err
}

func readToken(d *jsontext.Decoder, kinds ...jsontext.Kind) (jsontext.Token, error) {
	token, err := d.ReadToken()
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return token, err
	}
	for _, kind := range kinds {
		if token.Kind() == kind {
			return token, nil
		}
	}
	return token, fmt.Errorf("%s: unexpected %s", d.StackPointer(), token.Kind())
}

func readInt(d *jsontext.Decoder) (int, error) {
	token, err := readToken(d, '0')
	if err != nil {
		return 0, err
	}
	n, err := token.Int()
	return int(n), err
}

func readString(d *jsontext.Decoder, to *string) error {
	token, err := readToken(d, '"')
	if err == nil {
		*to = token.String()
	}
	return err
}

func readBool(d *jsontext.Decoder, to *bool) error {
	token, err := readToken(d, 't', 'f')
	if err == nil {
		*to = token.Bool()
	}
	return err
}

func readStrings(d *jsontext.Decoder, to *[]string) error {
	if err := readKind(d, '['); err != nil {
		return err
	}
	for d.PeekKind() != ']' {
		var s string
		if err := readString(d, &s); err != nil {
			return err
		}
		*to = append(*to, s)
	}
	return readKind(d, ']')
}
