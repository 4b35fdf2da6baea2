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

/** A message from an instance to the rehearsal. */
export type Report =
  /** The hooks of closing that have begun so far. */
  | { readonly framework: 'hooks'; readonly hooks: readonly RunHook[] }
  /** A queue has accepted messages. */
  | { readonly framework: 'accepted'; readonly queue: string; readonly count: number }
  /** A job has begun although the instance has stopped its intake. */
  | { readonly framework: 'late'; readonly job: string }
  /** A job has ended; its id is the same in all instances. */
  | { readonly framework: 'job'; readonly job: string; readonly id: string; readonly failed: boolean }

/** The topic of the question to an instance for its state. */
export const topic = 'rehearse'

export interface State {
  readonly routes: readonly { readonly method: string; readonly path: string; readonly isSocket: boolean }[]
  /** How many messages its queues still have. */
  readonly queues: readonly { readonly queue: string; readonly kind: string; readonly count: number }[]
}
