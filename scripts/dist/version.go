package main

import (
	"regexp"
	"strings"
	"time"
)

var (
	describedCommit = regexp.MustCompile(`^[0-9a-f]{7,}$`)
	sinceTag        = regexp.MustCompile(`-([0-9]+)-(g[0-9a-f]+)$`)
	preRelease      = regexp.MustCompile(`-([A-Za-z])`)
)

// debianVersion turns described, from git describe for a commit of the time when, into a version
// that sorts as Debian expects: a commit without a tag before it comes before all releases
// (0~git20261121.abc1234), one after a tag comes between that and the next (1.2.0+14.gabc1234), and
// a pre-release before its release (1.2.0~rc.1). A changed tree, -dirty, comes after its commit.
func debianVersion(described string, when time.Time) string {
	version, dirty := strings.CutSuffix(described, "-dirty")
	if describedCommit.MatchString(version) {
		version = "0~git" + when.UTC().Format("20060102") + "." + version
	} else {
		version = strings.TrimPrefix(version, "v")
		version = sinceTag.ReplaceAllString(version, "+$1.$2")
		version = preRelease.ReplaceAllString(version, "~$1")
		version = strings.ReplaceAll(version, "-", ".")
	}

	if dirty {
		version += "+dirty"
	}
	return version
}

var (
	commitHash = regexp.MustCompile(`\.g?[0-9a-f]{7,}$`)
	candidate  = regexp.MustCompile(`~(alpha|beta|pre|rc)\.?`)
	since      = regexp.MustCompile(`\+([0-9]+)$`)
)

// alpineVersion is debianVersion in the grammar of Alpine, which has no place for the hash of a
// commit: 0_git20261121, 1.2.0_p14, 1.2.0_rc1. A changed tree has the version of its commit.
func alpineVersion(described string, when time.Time) string {
	version := strings.TrimSuffix(debianVersion(described, when), "+dirty")
	version = commitHash.ReplaceAllString(version, "")
	version = candidate.ReplaceAllString(version, "_$1")
	version = since.ReplaceAllString(version, "_p$1")
	return strings.ReplaceAll(version, "~", "_")
}
