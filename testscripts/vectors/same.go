package vectors

import (
	"reflect"
	"testing"
	"time"

	"github.com/dpl-project/dpl/protocol/observe"
)

// CheckNoticesEveryField checks that same notices a change of each field.
func CheckNoticesEveryField[T any](t *testing.T, same func(a, b T) bool) {
	for _, field := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		if !field.IsExported() || field.Anonymous {
			continue
		}

		var changed, zero T
		switch f := reflect.ValueOf(&changed).Elem().FieldByIndex(field.Index); f.Kind() {
		case reflect.String:
			f.SetString("x")
		case reflect.Int, reflect.Int64:
			f.SetInt(1)
		case reflect.Bool:
			f.SetBool(true)
		case reflect.Pointer:
			f.Set(reflect.New(f.Type().Elem()))
		case reflect.Slice:
			f.Set(reflect.MakeSlice(f.Type(), 1, 1))
		case reflect.Struct:
			switch v := f.Addr().Interface().(type) {
			case *time.Time:
				*v = time.Unix(1, 0)
			case *observe.Process:
				v.PID = 1
			case *observe.Beat:
				v.MonotonicMs = 1
			case *observe.Notice:
				v.Note = "x"
			default:
				if f.NumField() == 0 || !f.Field(0).CanInt() {
					t.Fatalf("%s is of an unexpected type", field.Name)
				}
				f.Field(0).SetInt(1)
			}
		default:
			t.Fatalf("%s is of an unexpected type", field.Name)
		}

		if same(changed, zero) {
			t.Errorf("a change of %s is not noticed", field.Name)
		}
	}
}
