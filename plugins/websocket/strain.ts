import type { Closing } from './socket-route.ts'

/**
 * What a socket keeps while one side is slower than the other, or while it begins or ends. Most sockets never have it: with
 * all of it in each, one took 1.8 kB on Bun in place of 1.4.
 */
export class Strain {
  queue: (string | Uint8Array)[] | undefined = undefined
  queued = 0
  isPaused = false
  /** With 'wait': more waits for the client than it may, so no message of its is handled. */
  isSlow = false
  /** More messages wait for their handler than may. */
  isFull = false
  bufferedAtPing = 0
  look: ReturnType<typeof setInterval> | undefined = undefined
  waiting: (() => void)[] | undefined = undefined
  /** Asked for before the connection was open. */
  closeWith: Closing | undefined = undefined
  /** The connection has ended while a handler was at work. */
  ended: Closing | undefined = undefined
}
