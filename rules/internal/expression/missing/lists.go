package missing

// Strings returns the elements of a list of strings. Missing elements are left out, and a missing list
// has none.
func Strings(v any) ([]string, bool) {
	switch x := v.(type) {
	case nil:
		return nil, true
	case []string:
		return x, true
	case []any:
		list := make([]string, 0, len(x))
		for _, e := range x {
			s, ok := e.(string)
			switch {
			case ok:
				list = append(list, s)
			case e != nil:
				return nil, false
			}
		}
		return list, true
	}
	return nil, false
}

// Flat returns the elements of a list of strings. An element may be a list of strings itself. Flat
// stops when it has at least most elements.
func Flat(v any, most int) ([]string, bool) {
	nested, ok := v.([]any)
	if !ok {
		return Strings(v)
	}
	var list []string
	for _, e := range nested {
		one, ok := e.(string)
		items := []string{one}
		if !ok {
			items, ok = Strings(e)
		}
		if !ok {
			return nil, false
		}
		if list = append(list, items...); len(list) >= most {
			break
		}
	}
	return list, true
}
