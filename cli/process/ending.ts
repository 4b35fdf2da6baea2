import { Worker } from 'node:worker_threads'

/** Why a process ends; the application sees it as a signal. */
export type EndSignal = 'SIGTERM' | 'SIGINT' | 'SIGHUP'

/** Milliseconds in which a signal to the whole group also arrives directly. */
const groupMs = 50

/**
 * Ends this process together with its parent, and when the parent asks for it: in the way of a signal, so that an application
 * closes. Returns the function that asks.
 *
 * `grouped` are signals that the sender may also have sent to this process, such as Ctrl+C in a terminal: a second
 * one would mean "immediately".
 */
export function endWithParent(
  parent: number,
  signals: readonly EndSignal[],
  grouped: readonly EndSignal[],
): (signal: EndSignal) => void {
  let ended = false
  for (const signal of signals) {
    process.on(signal, () => {
      ended = true
      // A listener removes the default, which applies until the application has one of its own.
      if (process.listenerCount(signal) === 1) process.exit(128 + { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 }[signal])
    })
  }
  const end = (signal: EndSignal) =>
    void setTimeout(() => ended || raise(signal), grouped.includes(signal) ? groupMs : 0)
  // The parent process is gone, and with it the reason to run.
  process.on('disconnect', () => end('SIGTERM'))
  // The parent had gone before this process could listen.
  if (!process.connected) end('SIGTERM')
  watchOver(parent)
  return end
}

/** Raises a signal in this process. On Windows, sending it would end the process without calling its handlers. */
function raise(signal: EndSignal): void {
  if (process.platform === 'win32') process.emit(signal)
  else process.kill(process.pid, signal)
}

/**
 * Ends this process when its parent was killed and an endless loop keeps it from noticing. A thread
 * still runs then. It allows two seconds for the ordinary way, the end of the channel.
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
