// Package week runs scripts/soak/week.sh, a bad week of a ledger, with little to do each day, and
// looks that its judge finds commands that lie. It contains only tests. make soak-week runs the script
// for long.
package week
