import type { EndSignal } from '../process/ending.ts'
import { isNamed } from '../process/orders.ts'

/** The variable that tells a worker of its supervisor; gone before the application reads the environment. */
export const variable = 'FRAMEWORK_START'

/** What is in it. */
export interface Given {
  /** The process of the supervisor. */
  readonly parent: number
  /** Whether this worker does from the start what only one may do. */
  readonly leads: boolean
}

/** To a worker. */
export type Order =
  | { readonly framework: 'stop'; readonly signal: EndSignal }
  /** Who did what only one may do has ended: it is yours. */
  | { readonly framework: 'lead' }
  /** Another worker asks who leads. */
  | { readonly framework: 'question'; readonly number: number; readonly topic: string; readonly question?: unknown }
  /** What that has answered. */
  | { readonly framework: 'answer'; readonly number: number; readonly value?: unknown; readonly error?: string }
  /** The port to bind, or why there is none. */
  | {
      readonly framework: 'shared'
      readonly number: number
      readonly port: number
      readonly error?: { readonly code: string; readonly message: string }
    }

/** From a worker. */
export type News =
  /** Its event loop runs: every second. */
  | { readonly framework: 'alive' }
  /** It asks for a port that all workers listen on; the number, how many it has asked for, tells those apart that take any. */
  | { readonly framework: 'share'; readonly number: number; readonly host: string; readonly port: number }
  /** It asks the one that leads. */
  | { readonly framework: 'ask'; readonly number: number; readonly topic: string; readonly question?: unknown }
  /** It leads, and answers. */
  | { readonly framework: 'answered'; readonly number: number; readonly value?: unknown; readonly error?: string }
  /** All its servers listen. */
  | { readonly framework: 'listening' }
  /** A server of it does not. */
  | { readonly framework: 'failed' }

export const isNews = (message: unknown): message is News => isNamed(message)
export const isOrder = (message: unknown): message is Order => isNamed(message)

/** Milliseconds between two signs of life. */
export const beatMs = 1000
