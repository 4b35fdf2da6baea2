import { writeSync } from 'node:fs'
import { isatty } from 'node:tty'
import { placeOf, saidBy, thrownOf } from '../../plugins/toolkit/readable/failure.ts'
import { failureText } from '../../plugins/toolkit/readable/lines.ts'
import { paintFor } from '../../plugins/toolkit/readable/paint.ts'
import { type Crash, isSameCrash, type News } from './protocol.ts'

/**
 * Shows what the application ends by, in place of the runtime: that shows the line of the framework which has thrown, and the
 * same again for each attempt. An application that hears of such failures itself is left alone.
 *
 * @param before what the version before has failed with
 */
export function showCrashes(before: () => Crash | undefined, tell: (news: News) => void): void {
  process.on('uncaughtExceptionMonitor', (error: unknown) => {
    if (process.listenerCount('uncaughtException') > 0) return
    // After all others that watch for failures, tools that report them for one.
    process.once('uncaughtException', () => {
      const chain = thrownOf(error)
      const place = placeOf(chain)
      const failure = { said: saidBy(chain), ...(place !== undefined && { place }) }
      tell({ framework: 'crashed', failure })
      if (!isSameCrash(failure, before())) show(`${failureText(error, paintFor(isatty(2)))}\n`)
      // As it would end.
      process.exit(1)
    })
  })
}

function show(text: string): void {
  try {
    // At once: nothing is written any more when this process has ended.
    writeSync(2, text)
  } catch {
    process.stderr.write(text)
  }
}
