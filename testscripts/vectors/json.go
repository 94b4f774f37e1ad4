package vectors

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/dpl-project/dpl/protocol/wire"
)

// Lost returns the first place where the text got lacks a member of the text want that is not a
// default, or "". It examines the written text, because members that Decode forgets would be
// missing on both sides.
func Lost(t *testing.T, want, got string) string {
	return lost(jsonValue(t, want), jsonValue(t, got), "")
}

func sameJSON(t *testing.T, a, b string) bool {
	return reflect.DeepEqual(jsonValue(t, a), jsonValue(t, b))
}

// jsonValue returns the value of text with json.Numbers, which keep their text.
func jsonValue(t *testing.T, text string) (value any) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&value); err != nil {
		t.Fatal(err)
	}
	return value
}

func lost(want, got any, path string) string {
	switch want := want.(type) {
	case map[string]any:
		got, _ := got.(map[string]any)
		for name, value := range want {
			other, ok := got[name]
			switch {
			case !ok && (isDefault(name, value) || name == "supervisorId" &&
				strings.HasSuffix(path, "/supervisorHeartbeats/"+value.(string))):
			case !ok:
				return path + "/" + name
			default:
				if place := lost(value, other, path+"/"+name); place != "" {
					return place
				}
			}
		}
		return ""
	case []any:
		got, _ := got.([]any)
		if len(got) != len(want) {
			return path
		}
		for i := range want {
			if place := lost(want[i], got[i], path+"/"+strconv.Itoa(i)); place != "" {
				return place
			}
		}
		return ""
	case string:
		a, err := wire.ParseTime(want)
		if text, ok := got.(string); ok && err == nil {
			if b, err := wire.ParseTime(text); err == nil && a.Equal(b) {
				return ""
			}
		}
	}

	if !reflect.DeepEqual(want, got) {
		return path
	}

	return ""
}

func isDefault(name string, value any) bool {
	switch value := value.(type) {
	case bool:
		return value == (name == "failOnCrash")
	case string:
		return value == "" || name == "status" && value == "alive" || name == "orphanPolicy" &&
			value == "crash" || name == "readiness" && value == "ready" || name == "state" &&
			value == "active"
	case json.Number:
		return value == "0"
	case []any:
		return len(value) == 0
	case map[string]any:
		for name, value := range value {
			if !isDefault(name, value) {
				return false
			}
		}
		return true
	}

	return value == nil
}
