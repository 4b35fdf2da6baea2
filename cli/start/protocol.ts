import type { Reply } from '../process/channel.ts'

/** The variable with the supervisor's data for a worker. */
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
  /** The leading worker has ended: this one leads. */
  | { readonly framework: 'lead' }
  /** A question of another worker to the one that leads. */
  | { readonly framework: 'question'; readonly number: number; readonly topic: string; readonly question?: unknown }
  /** The response to a question of this worker: the port to bind, that of the leading worker, or none to a server that has closed. */
  | ({ readonly framework: 'answer' } & Reply)

/** A message from a worker. */
export type News =
  /** Its event loop is running; sent every second. */
  | { readonly framework: 'alive' }
  /** It asks for a port on which all workers listen; `nth`, a counter of these requests, distinguishes requests for any free port. */
  | {
      readonly framework: 'share'
      readonly number: number
      readonly nth: number
      readonly host: string
      readonly port: number
    }
  /** It asks the leading worker. */
  | { readonly framework: 'ask'; readonly number: number; readonly topic: string; readonly question?: unknown }
  /** The response of the leading worker. */
  | ({ readonly framework: 'answered' } & Reply)
  /** All its servers listen. */
  | { readonly framework: 'listening' }
  /** One of its servers does not. */
  | { readonly framework: 'failed' }
  /** One of its servers has closed; it waits for the response. */
  | { readonly framework: 'closed'; readonly number: number }

/** Timeout of a response in milliseconds. */
export const responseMs = 5000

/** Milliseconds between two signs of life. */
export const beatMs = 1000
