package sqlstore

import (
	"reflect"
	"strconv"
)

// Statements returns all statements of this package by name, for tests of the query plans.
func Statements(d Dialect) map[string]string {
	return Named(newRecordStatements(d), newLedgerStatements(d), newCursorStatements(d), newLeadStatements(d), newSlotStatements(d))
}

// Named returns the statements in the fields of structs, at any depth, by the names of the
// fields. The names of array elements have the index appended. Empty statements are left out.
func Named(parts ...any) map[string]string {
	out := map[string]string{}
	for _, part := range parts {
		name(out, reflect.ValueOf(part))
	}
	return out
}

func name(out map[string]string, part reflect.Value) {
	for field, value := range part.Fields() {
		if value.Kind() == reflect.Pointer {
			value = value.Elem() // not valid if the pointer is nil
		}
		switch value.Kind() {
		case reflect.Struct:
			name(out, value)
		case reflect.String:
			if value.String() != "" {
				out[field.Name] = value.String()
			}
		case reflect.Array:
			for i := range value.Len() {
				if text := value.Index(i).String(); text != "" {
					out[field.Name+strconv.Itoa(i)] = text
				}
			}
		}
	}
}
