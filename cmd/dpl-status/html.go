package main

func (s *shower) page(what subject, file string) error { return nil }
