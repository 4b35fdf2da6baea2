import type { EndSignal } from '../process/ending.ts'
import { isNamed } from '../process/orders.ts'

/** The variable with the supervisor's data for a worker; removed before the application reads the environment. */
export const variable = 'FRAMEWORK_START'

/** Its content. */
export interface Given {
  /** The process of the supervisor. */
  readonly parent: number
  /** Whether this worker does the work that only one may do from the start. */
  readonly leads: boolean
}

/** To a worker. */
export type Order =
  | { readonly framework: 'stop'; readonly signal: EndSignal }
  /** The leading worker has ended: this one leads. */
  | { readonly framework: 'lead' }
  /** Another worker asks who leads. */
  | { readonly framework: 'question'; readonly number: number; readonly topic: string; readonly question?: unknown }
  /** The answer to that. */
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
  /** It asks for a port that all workers listen on; the number, a counter of its requests, distinguishes those for any port. */
  | { readonly framework: 'share'; readonly number: number; readonly host: string; readonly port: number }
  /** It asks the leading worker. */
  | { readonly framework: 'ask'; readonly number: number; readonly topic: string; readonly question?: unknown }
  /** It leads, and answers. */
  | { readonly framework: 'answered'; readonly number: number; readonly value?: unknown; readonly error?: string }
  /** All its servers listen. */
  | { readonly framework: 'listening' }
  /** One of its servers does not. */
  | { readonly framework: 'failed' }

export const isNews = (message: unknown): message is News => isNamed(message)
export const isOrder = (message: unknown): message is Order => isNamed(message)

/** Milliseconds between two signs of life. */
export const beatMs = 1000
