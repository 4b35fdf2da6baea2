import { relative } from 'node:path'

/** The types of `async_hooks`. */
export const kinds = {
  Timeout: 'timer',
  Immediate: 'immediate',
  TCPSERVERWRAP: 'server',
  PIPESERVERWRAP: 'server',
  TCPWRAP: 'socket',
  PIPEWRAP: 'pipe',
  UDPWRAP: 'UDP socket',
  PROCESSWRAP: 'child process',
  WORKER: 'worker',
  FSEVENTWRAP: 'file watcher',
  STATWATCHER: 'file watcher',
  MESSAGEPORT: 'message port',
} as const

/** What a resource is. `interval`: a timer that goes on. `immediate`: a loop of `setImmediate`. */
export type LeakKind = (typeof kinds)[keyof typeof kinds] | 'interval'

/** A resource that is still in use. */
export interface Leak {
  /** What it is. */
  readonly kind: LeakKind
  /** The plugin whose `provide`, `setup`, hook or handler has made it, or has begun what made it; `undefined` if none has. */
  readonly plugin: string | undefined
  /** `file:line:column` of the code that made it: the first frame outside the framework and of packages, or the nearest one. */
  readonly place: string
  /** The address that a socket is connected to. */
  readonly to?: string | undefined
  /** How many of this kind the same code has made. */
  readonly count: number
}

/** A leak in a line, with the file relative to the working directory. */
export function lineOf({ kind, plugin, place, to, count }: Leak): string {
  const short = relative(process.cwd(), place)
  const what = `${count === 1 ? '' : `${count} × `}${kind}${to === undefined ? '' : ` to ${to}`}`
  const whose = plugin === undefined ? '' : ` of the plugin "${plugin}"`
  return `${what}${whose}, made at ${short.startsWith('..') ? place : short}`
}
