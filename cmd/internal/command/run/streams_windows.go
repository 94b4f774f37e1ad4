package run

func apart(held, pids []int) []int { return nil }

func unread(held []int) bool { return true }

func stillWriting([]int, int, string) []int { return nil }
