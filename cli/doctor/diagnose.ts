import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Kernel } from '../../kernel/index.ts'
import { within } from '../../kernel/support/within.ts'
import { isProduction } from '../../plugins/shared/environment/node-env.ts'
import { watchLostErrors, withLostErrors } from '../application/guard.ts'
import type { Application } from '../application/load.ts'
import { CommandFailure } from '../failure.ts'
import { describeFailure } from '../typescript/failure.ts'
import { Examination } from './examine.ts'
import type { ProjectView } from './view.ts'

export interface Diagnosis {
  /** The module with the server. */
  readonly entry: string
  readonly network: boolean
  /** The timeout of the boot. */
  readonly seconds: number
  boot(server: Kernel): Promise<Kernel>
  /** Shows the findings once and returns the exit code. */
  report(examination: Examination): number
}

/**
 * Imports, boots, examines and closes an application, and reports its problems. Whatever the application does, there is a report: if it
 * ends the process, one with the findings so far.
 */
export async function diagnose(
  { entry, network, seconds, boot, report }: Diagnosis,
  load: () => Promise<Application>,
): Promise<number> {
  const examination = new Examination()
  const view = { folder: process.cwd(), file: resolve(entry), server: undefined as Kernel | undefined, booted: false }
  // Determined late: importing the application may have read NODE_ENV from a file.
  const now = (): ProjectView => ({ ...view, production: isProduction() })
  let work: 'imported' | 'booted' | 'examined' | 'closed' = 'imported'

  const onExit = (code: number) => {
    // A close hook is allowed to end the process.
    if (work !== 'closed')
      examination.fails(new CommandFailure(`${entry} ended the process with code ${code} while it was ${work}`))
    // Nothing can be awaited any more.
    if (work === 'imported' || work === 'booted') examination.lookAtProject(now())
    process.exitCode = report(examination)
  }
  process.once('exit', onExit)
  const stop = watchLostErrors((error) => {
    examination.fails(new CommandFailure(`nothing catches an error: ${describeFailure(error)}`))
  })
  try {
    try {
      view.server = (await load()).server
      work = 'booted'
      const late = () => {
        throw new CommandFailure(`${entry} has not booted after ${seconds} s: a hook waits for what never comes`)
      }
      await withLostErrors(() => within(boot(view.server!), seconds * 1_000, late))
      view.booted = true
    } catch (error) {
      // A typing mistake is not a fault of the application.
      if (error instanceof CommandFailure && (error.exitCode === 2 || !existsSync(entry))) throw error
      examination.fails(error)
    }
    work = 'examined'
    examination.lookAtProject(now())
    await examination.askPlugins(now(), network)
    work = 'closed'
    if (view.booted) await view.server?.close().catch((error: unknown) => examination.fails(error))
    return report(examination)
  } finally {
    stop()
    process.off('exit', onExit)
  }
}
