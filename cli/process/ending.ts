import { Worker } from 'node:worker_threads'

/** Why a process ends; the application sees it as a signal. */
export type EndSignal = 'SIGTERM' | 'SIGINT' | 'SIGHUP'

/** Milliseconds in which a signal that was for the whole group arrives by itself. */
const groupMs = 50

/**
 * Ends this process with the one that has started it, and when that asks for it: as a signal does, so that an application
 * closes. Gives what asks.
 *
 * `grouped` are the signals that who sends them may have sent to this process too, Ctrl+C in a terminal for one: a second
 * one would mean "at once".
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
      // A listener takes the default away, which holds until the application has one of its own.
      if (process.listenerCount(signal) === 1) process.exit(128 + { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 }[signal])
    })
  }
  const end = (signal: EndSignal) => {
    const send = () => void (ended || raise(signal))
    if (grouped.includes(signal)) setTimeout(send, groupMs)
    else send()
  }
  // The process that started this one is gone, and with it the reason to run.
  process.on('disconnect', () => end('SIGTERM'))
  // It was gone before this process could listen.
  if (!process.connected) end('SIGTERM')
  watchOver(parent)
  return end
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
