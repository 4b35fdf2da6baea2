import type { EndSignal } from '../process/ending.ts'
import { isNamed } from '../process/orders.ts'

/** The variable with the supervisor's data for a worker; it is removed before the application reads the environment. */
export const variable = 'FRAMEWORK_START'

/** The content of the variable. */
export interface Given {
  /** The process of the supervisor. */
  readonly parent: number
  /** Whether this worker does the work that only one may do from the start. */
  readonly leads: boolean
}

/** A message to a worker. */
export type Order =
  | { readonly framework: 'stop'; readonly signal: EndSignal }
  /** The leading worker has ended: this one leads. */
  | { readonly framework: 'lead' }
  /** A question of another worker to the one that leads. */
  | { readonly framework: 'question'; readonly number: number; readonly topic: string; readonly question?: unknown }
  /** The answer to a question of this worker. */
  | { readonly framework: 'answer'; readonly number: number; readonly value?: unknown; readonly error?: string }
  /** The port to bind, or why there is none. */
  | {
      readonly framework: 'shared'
      readonly number: number
      readonly port: number
      readonly error?: { readonly code: string; readonly message: string }
    }

/** A message from a worker. */
export type News =
  /** Its event loop is running; sent every second. */
  | { readonly framework: 'alive' }
  /** It asks for a port on which all workers listen; the number, a counter of its requests, distinguishes requests for any free port. */
  | { readonly framework: 'share'; readonly number: number; readonly host: string; readonly port: number }
  /** It asks the leading worker. */
  | { readonly framework: 'ask'; readonly number: number; readonly topic: string; readonly question?: unknown }
  /** The answer of the leading worker. */
  | { readonly framework: 'answered'; readonly number: number; readonly value?: unknown; readonly error?: string }
  /** All its servers listen. */
  | { readonly framework: 'listening' }
  /** One of its servers does not. */
  | { readonly framework: 'failed' }

export const isNews = (message: unknown): message is News => isNamed(message)
export const isOrder = (message: unknown): message is Order => isNamed(message)

/** Milliseconds between two signs of life. */
export const beatMs = 1000
