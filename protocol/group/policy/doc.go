// Package policy decides about restarts, limits and budgets from values alone: it knows no service,
// no group and no pass.
//
//   - [Exit] is how a process has ended. [Exit.Classify] returns what that means (supervision.md
//     supervision.md §20).
//   - [History] is what has become of a service. It says when the service restarts, and when it is
//     given up instead (§21).
//   - [Limit] and [Charge] limit the failures of a group in a time (§21.3).
//   - [Budget] limits what a service may spend (§27.2), and [ActionFor] says what follows a
//     violation (§27.4).
//
// Package group keeps these values in the records of services, and package plan asks for decisions.
package policy
