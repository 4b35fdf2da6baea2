import module from 'node:module'
import { isMainThread, Worker } from 'node:worker_threads'
import { registerTypeScript } from '../typescript/register.ts'
import { type Assignment, type EndSignal, isOrder, type News, type Order, variable } from './protocol.ts'

/**
 * Runs in the application's process before its first module (`--import`, `--preload`). Nothing of the framework is
 * loaded here but the class whose `listen()` has to wait: that is the application's own.
 */
const assignment = process.env[variable]
Reflect.deleteProperty(process.env, variable)
// From Node.js 22.1 on: half of the modules of a start are packages, which do not change (0.30 s in place of 0.42).
;(module as { enableCompileCache?(): unknown }).enableCompileCache?.()
// Processes and threads of the application inherit the flag, but not the assignment.
if (assignment !== undefined && isMainThread) await attend(JSON.parse(assignment) as Assignment)
// Behind the framework's own modules, which then pass no hook.
await registerTypeScript().catch((error: Error) => {
  // Modules of JavaScript need none of it.
  if (!/\.[cm]?tsx?$/.test(process.argv[1] ?? '')) return
  process.stderr.write(`${error.message}\n`)
  process.exit(1)
})

async function attend(assignment: Assignment): Promise<void> {
  const { holdListening } = await import('./hold.ts')
  const open = async () => (await import('node:inspector')).open()
  if (assignment.inspect === 'at once') await open()
  let ended = false
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      ended = true
      // A listener takes the default away, which holds until the application has one of its own.
      if (process.listenerCount(signal) === 1) process.exit(128 + { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 }[signal])
    })
  }
  const end = (signal: EndSignal) => {
    // Ctrl+C in a terminal has reached this process too, or is about to: a second signal would mean "at once".
    const send = () => void (ended || raise(signal))
    if (signal === 'SIGINT') setTimeout(send, 50)
    else send()
  }
  const go = await holdListening((news: News) => process.send?.(news))
  hearOrders((order) => {
    if (order.framework === 'stop') end(order.signal)
    else (assignment.inspect === 'later' ? open() : Promise.resolve()).then(go, go)
  })
  // Whoever started this process is gone, and with it the reason to run.
  process.on('disconnect', () => end('SIGTERM'))
  // An application that has nothing left to do ends, as it would without a channel.
  ;(process as { channel?: { unref?(): void } }).channel?.unref?.()
  watchOver(process.ppid)
}

/**
 * Without the application, which may listen on the channel too, hearing them: it takes what comes for its own. On Bun, whose
 * messages do not pass `emit`, it does hear them.
 */
function hearOrders(hear: (order: Order) => void): void {
  const { emit } = process
  process.emit = function emitToApplication(this: NodeJS.Process, ...args: [string, ...unknown[]]) {
    const [event, message] = args
    if (event !== 'message' || !isOrder(message)) return Reflect.apply(emit, this, args)
    hear(message)
    return true
  } as typeof emit
  process.on('message', (message: unknown) => {
    if (isOrder(message)) hear(message)
  })
}

/** On Windows a signal to a process is its end, without a word to its handlers. */
function raise(signal: EndSignal): void {
  if (process.platform === 'win32') process.emit(signal)
  else process.kill(process.pid, signal)
}

/**
 * Ends this process when its parent was killed and it cannot hear that because it is in an endless loop. A thread is
 * what still runs then. It leaves two seconds for the ordinary way, the end of the channel.
 */
function watchOver(parent: number): void {
  const code = `
    const { workerData: parent } = require('node:worker_threads')
    let missed = 0
    setInterval(() => {
      try { process.kill(parent, 0) } catch { if (++missed > 4) process.kill(process.pid, 'SIGKILL') }
    }, 500)`
  new Worker(code, { eval: true, workerData: parent, execArgv: [] }).unref()
}
