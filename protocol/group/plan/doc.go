// Package plan makes passes over a group of services (groups.md §11).
//
// [Pass] is one pass. It judges each service, plans for the group, and acts on a draft of it:
//
//	judge   what is known of each service, before anything is decided   judgements
//	plan    what the pass does about each service                       courses, which have steps
//	act     what the steps change in the group, and ask the caller for   actions
//
// The caller carries out the actions of a [Decision], such as a [Start] or a [Signal], and then
// calls [Record]. [Foresee] and [FactsOf] explain what passes will do.
//
// The package is as pure as package group, on which it builds.
package plan
