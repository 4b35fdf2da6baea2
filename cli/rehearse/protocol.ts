import type { ApiDocument } from '../sdk/document.ts'

/** A hook that runs while an instance closes. */
export interface RunHook {
  /** Such as `the close hook of "pool"`. */
  readonly name: string
  /** Whether the plugin is one of the application, and not of the framework. */
  readonly isOwn: boolean
  /** Milliseconds that it took; missing until it has settled. */
  readonly ms?: number
  readonly error?: string
}

/** How an instance closed. */
export interface Closing {
  readonly ms: number
  /** Such as `exit code 0`. */
  readonly ended: string
  readonly hooks: readonly RunHook[]
}

/** A message from an instance to the rehearsal. */
export type Report =
  | { readonly framework: 'hook'; readonly number: number; readonly hook: RunHook }
  /** A request has failed while the instance closes. */
  | { readonly framework: 'failure'; readonly path: string; readonly message: string }
  /** An engine has accepted messages. */
  | { readonly framework: 'accepted'; readonly queue: string; readonly count: number }
  /** A job begins so many milliseconds after the instance has stopped its intake. */
  | { readonly framework: 'late'; readonly job: string; readonly ms: number }
  /** A job has ended; its id is the same in all instances. */
  | { readonly framework: 'job'; readonly job: string; readonly id: string; readonly failed: boolean }

/** The topics of questions to an instance. */
export const topics = { routes: 'rehearse.routes', left: 'rehearse.left' } as const

/** The routes of an instance, with their description if it has one. */
export interface Described {
  readonly routes: readonly { readonly method: string; readonly path: string; readonly isSocket: boolean }[]
  readonly document?: ApiDocument
}

/** How many messages the queues of an instance still have; those of a queue in memory are in one instance. */
export type Left = readonly { readonly queue: string; readonly kind: string; readonly count: number }[]
