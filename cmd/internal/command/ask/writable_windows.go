package ask

// changeable returns true: here nothing says that a user could not change a file.
func (found) changeable() (bool, error) { return true, nil }

func (found) planted() (bool, error) { return false, nil }
