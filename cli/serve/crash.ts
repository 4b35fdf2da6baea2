import { writeSync } from 'node:fs'
import { isatty } from 'node:tty'
import { placeOf, saidBy, thrownOf } from '../../plugins/shared/terminal/error-lines.ts'
import { failureText } from '../../plugins/shared/terminal/lines.ts'
import { paintFor } from '../../plugins/shared/terminal/paint.ts'
import { type Crash, isSameCrash, type News } from './protocol.ts'

/**
 * Shows the error that ends the application, instead of the runtime, which would show the framework's line that has thrown, and the
 * same error again for each attempt. An application that handles such errors itself is left alone.
 *
 * @param before Returns the failure of the previous version.
 */
export function showCrashes(before: () => Crash | undefined, send: (news: News) => void): void {
  process.on('uncaughtExceptionMonitor', (error: unknown) => {
    if (process.listenerCount('uncaughtException') > 0) return
    // Added after all other listeners for failures, such as error trackers.
    process.once('uncaughtException', () => {
      const chain = thrownOf(error)
      const place = placeOf(chain)
      const failure = { said: saidBy(chain), ...(place !== undefined && { place }) }
      send({ framework: 'crashed', failure })
      if (!isSameCrash(failure, before())) show(`${failureText(error, paintFor(isatty(2)))}\n`)
      // The exit code of the runtime.
      process.exit(1)
    })
  })
}

function show(text: string): void {
  try {
    // Written synchronously: after its end, this process writes nothing more.
    writeSync(2, text)
  } catch {
    process.stderr.write(text)
  }
}
