import { createRequire } from 'node:module'
import type { DestinationStream, pino as Pino } from 'pino'
import type { LogStream } from './options.ts'

// Loaded on the first line and synchronously: a logger cannot wait, and importing the framework costs nothing.
const load = createRequire(import.meta.url)

/** Lines that wait for a sink that does not take them; more are dropped, since a log may not eat the memory. */
const maxWaiting = 16 * 1024 * 1024

/** Where pino writes to, and how to empty it. */
export interface Sink {
  readonly destination: DestinationStream
  flush(): void
}

export function loadPino(): typeof Pino {
  return (load('pino') as { pino: typeof Pino }).pino
}

/** A stream of the application's; what it throws or emits is not the server's end. */
function guarded(stream: LogStream): Sink {
  const emitter = stream as LogStream & { on?: (event: string, listener: () => void) => unknown }
  emitter.on?.('error', () => {})
  return {
    destination: {
      write(line) {
        try {
          stream.write(line)
        } catch {
          // There is nowhere left to tell it.
        }
      },
    },
    flush() {},
  }
}

/**
 * Standard output, written asynchronously: a reader that stops reading blocks a synchronous write, and with it every
 * request. What is waiting is written out on exit.
 */
function standardOutput(pino: typeof Pino): Sink {
  const destination = pino.destination({ dest: 1, sync: false, maxLength: maxWaiting })
  // A closed pipe or a full disk ends the log, not the server.
  destination.on('error', () => {})
  return {
    destination,
    flush() {
      try {
        destination.flushSync()
      } catch {
        // It never opened, or is closed already: there is nothing to write out.
      }
    },
  }
}

/** pino-pretty, if somebody looks on and has installed it. */
function readable(): Sink | undefined {
  if (process.env.NODE_ENV === 'production' || !process.stdout.isTTY) return undefined
  try {
    const pretty = load('pino-pretty') as (options: object) => DestinationStream
    return { destination: pretty({ sync: true, ignore: 'pid,hostname' }), flush() {} }
  } catch (error) {
    if ((error as { code?: unknown }).code === 'MODULE_NOT_FOUND') return undefined
    throw error
  }
}

export function openSink(pino: typeof Pino, stream: LogStream | undefined): Sink {
  return stream === undefined ? (readable() ?? standardOutput(pino)) : guarded(stream)
}
