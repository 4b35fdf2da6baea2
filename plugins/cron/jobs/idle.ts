import type { Kernel } from '../../../kernel/index.ts'
import { declarations, reportStarted } from './declarations.ts'
import { importedJobs, shownJob } from './handle.ts'

const remedy = 'register the plugin "cron" (background: { crons: […] }), or call CronService.run()'

/** Reports the jobs that nothing runs, when a server boots in a process that has neither the plugin nor a service. */
export function reportIdleJobs(server: Kernel): void {
  if (declarations.expected.size > 0) return
  reportStarted(server.logger, remedy)
  importedJobs.report(
    server.logger,
    (method) => `${shownJob(method)} was imported, but nothing in this process runs it: ${remedy}`,
  )
}
