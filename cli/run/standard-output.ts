/**
 * Sets where the log plugin of an application that is imported afterwards writes, instead of standard output. The plugin bypasses
 * the stream, and may belong to another copy of the package, so it reads a symbol.
 */
export function sendLogsTo(stream: 'stdout' | 'stderr'): void {
  Object.assign(globalThis, { [Symbol.for('framework.log.toStandardError')]: stream === 'stderr' })
}

let isApplications = false

/** Leaves standard output to the application from here on: a command that keeps running has no separate result. */
export function leaveOutputToApplication(): void {
  isApplications = true
}

/**
 * Reserves standard output for the result of the command, from here on to the end of the process: even the output of the application's
 * timers and `exit` listeners goes to standard error.
 */
export function keepOutputFromApplication(): void {
  if (redirected++ === 0) redirectOutput()
}

let redirected = 0
let giveBack = () => {}

function redirectOutput(): () => void {
  const { write } = process.stdout
  const { log, info, debug } = console
  process.stdout.write = process.stderr.write.bind(process.stderr) as typeof write
  // On Bun and Deno, the console does not use the stream.
  Object.assign(console, { log: console.error, info: console.error, debug: console.error })
  return () => {
    process.stdout.write = write
    Object.assign(console, { log, info, debug })
  }
}

/**
 * Sends the application's standard output to standard error while a function runs, so that standard output has only the result.
 * Several functions may run at the same time; the last one restores it.
 */
export async function quietly<Result>(run: () => Promise<Result>): Promise<Result> {
  if (isApplications) return run()
  if (redirected++ === 0) giveBack = redirectOutput()
  try {
    return await run()
  } finally {
    if (--redirected === 0) giveBack()
  }
}
