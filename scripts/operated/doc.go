// Package operated runs a group of services under a real cron, disturbs it in every way, and
// compares the answers of DPL with the processes. It contains only tests.
//
// The group has redis, a migration, an HTTP server with a health check, a worker, a service that
// keeps ending, and one whose log can fill the disk. A crontab in a container makes passes every
// two seconds, and the passes give alerts to a hook. A disturbance kills or stops processes of a
// service, its keeper, a pass or the whole container. It boots the container with another boot id,
// or with a clock that is behind. It fills the disk, breaks the hook, replaces the commands, keeps
// cron from making passes, or begins a maintenance.
//
// Several times a second the rig looks at the processes, asks DPL, and looks again. If the truth
// was the same before and after, it judges the answers:
//
//   - dpl-status, --check, --why, the page and the metrics say that a service is alive if, and only
//     if, the process that the registry names lives;
//   - a service is ready only if its health check has succeeded since its start;
//   - the group is healthy if, and only if, no service is in trouble and passes are made.
//
// An answer may be wrong in one look, and not in two in a row. No service ever has two starts at
// the same time, and the migration succeeds once. After each disturbance the group comes back. In
// the end each death has raised one alert, and the hook has got each alert.
//
// TestOperated takes two minutes, and with DPL_SOAK=1 an hour. DPL_SEED repeats the choices of a
// run. TestJudge checks that the rig finds false answers.
package operated
