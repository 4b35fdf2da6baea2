import { writeSync } from 'node:fs'
import module from 'node:module'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { isatty } from 'node:tty'
import { isMainThread } from 'node:worker_threads'
import { requestInspector } from '../../plugins/shared/development/inspector-request.ts'
import { placeOf, saidBy, thrownOf } from '../../plugins/shared/terminal/error-lines.ts'
import { setLogForm } from '../../plugins/shared/terminal/form.ts'
import { failureText } from '../../plugins/shared/terminal/lines.ts'
import { paintFor } from '../../plugins/shared/terminal/paint.ts'
import { safely } from '../../plugins/shared/values/safely.ts'
import { channelTo, takeVariable } from '../process/channel.ts'
import { registerTypeScript } from '../typescript/register.ts'
import { bringHandover } from './handover.ts'
import { holdListening } from './hold.ts'
import { type Crash, isSameCrash, type News, type Order, variable } from './protocol.ts'
import { warmUp } from './warm.ts'

/**
 * Runs in the application's process before its first module (`--import`, `--preload`). It loads only the application's own copy
 * of the framework, so that a new version does not have to wait for that.
 */
const parent = takeVariable(variable)
// Processes and threads of the application inherit the flag, but not the variable.
if (parent !== undefined && isMainThread) await attend(Number(parent))
else await registerTypeScript().catch(giveUp)

/** Prepares everything, and returns when it is time to load the application. */
async function attend(parent: number): Promise<void> {
  // From Node.js 22.1 on: half of the modules of a start belong to packages, which do not change (0.30 s instead of 0.42). Not in the
  // temporary folder of the system, where another user could put code.
  const { enableCompileCache } = module as { enableCompileCache?(folder: string): unknown }
  enableCompileCache?.(join(process.cwd(), 'node_modules/.cache/framework'))
  const { orders, send } = channelTo<Order, News>(parent, ['SIGINT', 'SIGTERM', 'SIGHUP'], ['SIGINT'])
  const load = orders.next('load')
  const go = orders.next('go')
  // A process that only waits for an order is not kept alive by anything else.
  const alive = setInterval(() => {}, 1 << 30)
  // Until the go; later errors are reported by the server itself.
  const reportTaken = (error: { readonly code?: unknown } | null | undefined) => {
    if (error?.code === 'EADDRINUSE') send({ framework: 'taken' })
  }
  process.on('uncaughtExceptionMonitor', reportTaken)
  void go.then(() => process.off('uncaughtExceptionMonitor', reportTaken))
  let before: Crash | undefined
  // Later failures are not failures of the start.
  const shown = orders.next('shown').finally(() => {
    before = undefined
  })
  showCrashes(() => before, send)
  const restore = bringHandover(send)
  const { open, isComplete } = await holdListening(send, shown)
  // After the framework's own modules, which then do not pass through the hooks.
  const failure = await registerTypeScript().catch((error: Error) => error)
  if (!isComplete || failure !== undefined) send({ framework: 'unfit' })
  // The supervisor is waiting for the first version, whose order this turn reads; later ones are prepared before there is a change.
  if ((await Promise.race([load, turn('early')])) === 'early') await warmUp()
  const { inspect, inspector: token, log, failure: former } = await load
  before = former
  setLogForm(log)
  if (token !== undefined) requestInspector({ token, runs: 'serve' })
  clearInterval(alive)
  // An application that has no work left ends, as it would without a channel.
  process.channel?.unref?.()
  if (failure !== undefined) giveUp(failure)
  // Loads `.env` and its siblings: the application's first module finds their variables in `process.env`, as with `framework/env`.
  await import('../../plugins/shared/environment/process.ts').then((files) => files.loadEnvironment()).catch(fail)
  const inspector = async () => (await import('node:inspector')).open()
  if (inspect === 'at once') await inspector()
  void go
    .then(({ left }) => {
      restore(left)
      return inspect === 'later' ? inspector() : undefined
    })
    .then(open, open)
}

/** Fails, unless the module is JavaScript, which does not need a compiler. */
function giveUp(error: Error): void {
  if (/\.[cm]?tsx?$/.test(process.argv[1] ?? '')) fail(error)
}

function fail({ message }: Error): void {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}

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
      const text = isSameCrash(failure, before()) ? '' : `${failureText(error, paintFor(isatty(2)))}\n`
      // Written synchronously: after its end, this process writes nothing more.
      if (safely(() => writeSync(2, text)) === undefined) process.stderr.write(text)
      // The exit code of the runtime.
      process.exit(1)
    })
  })
}
