import module from 'node:module'
import { isMainThread } from 'node:worker_threads'
import { requestInspector } from '../../plugins/shared/development/inspector-request.ts'
import { setLogForm } from '../../plugins/shared/terminal/form.ts'
import { channelTo, takeVariable } from '../process/channel.ts'
import { registerTypeScript } from '../typescript/register.ts'
import { showCrashes } from './crash.ts'
import { bringHandover } from './handover.ts'
import { holdListening } from './hold.ts'
import { type Crash, type News, type Order, variable } from './protocol.ts'
import { warmUp } from './warm.ts'

/**
 * Runs in the application's process before its first module (`--import`, `--preload`). It loads only the application's own copy
 * of the framework, so that a new version does not have to wait for that.
 */
const parent = takeVariable(variable)
// From Node.js 22.1 on: half of the modules of a start belong to packages, which do not change (0.30 s instead of 0.42).
;(module as { enableCompileCache?(): unknown }).enableCompileCache?.()
// Processes and threads of the application inherit the flag, but not the variable.
if (parent !== undefined && isMainThread) await attend(Number(parent))
else await registerTypeScript().catch(giveUp)

/** Prepares everything, and returns when it is time to load the application. */
async function attend(parent: number): Promise<void> {
  const { orders, send } = channelTo<Order, News>(parent, ['SIGINT', 'SIGTERM', 'SIGHUP'], ['SIGINT'])
  // The supervisor is waiting for the first version; later ones are prepared before there is a change.
  let isEarly = true
  const load = orders.next('load').finally(() => {
    isEarly = false
  })
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
  showCrashes(() => before, send)
  const restore = bringHandover(send)
  const { open, isComplete } = await holdListening(send, orders.next('shown'))
  // After the framework's own modules, which then do not pass through the hooks.
  const failure = await registerTypeScript().then(
    () => undefined,
    (error: Error) => error,
  )
  if (!isComplete || failure !== undefined) send({ framework: 'unfit' })
  if (isEarly) await warmUp()
  const { inspect, inspector: token, log, failure: shown } = await load
  before = shown
  setLogForm(log)
  if (token !== undefined) requestInspector({ token })
  clearInterval(alive)
  // An application that has no work left ends, as it would without a channel.
  ;(process as { channel?: { unref?(): void } }).channel?.unref?.()
  if (failure !== undefined) giveUp(failure)
  await loadFiles()
  const inspector = async () => (await import('node:inspector')).open()
  if (inspect === 'at once') await inspector()
  void go
    .then(({ left }) => {
      // A later failure is not a failure of the start.
      before = undefined
      restore(left)
      return inspect === 'later' ? inspector() : undefined
    })
    .then(open, open)
}

/** Loads `.env` and its siblings: the application's first module finds their variables in `process.env`, as with `framework/env`. */
async function loadFiles(): Promise<void> {
  try {
    const { loadEnvironment } = await import('../../plugins/shared/environment/process.ts')
    loadEnvironment()
  } catch (error) {
    fail(error as Error)
  }
}

/** Fails, unless the module is JavaScript, which does not need a compiler. */
function giveUp(error: Error): void {
  if (/\.[cm]?tsx?$/.test(process.argv[1] ?? '')) fail(error)
}

function fail({ message }: Error): void {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}
