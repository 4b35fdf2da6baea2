import type { PluginNode } from '../../kernel/inspect/tree.ts'
import type { HandedOver } from '../../plugins/toolkit/handover.ts'
import type { Page } from '../../plugins/toolkit/pages.ts'
import type { LogForm } from '../../plugins/toolkit/readable/form.ts'
import type { EndSignal } from '../process/ending.ts'
import { isNamed } from '../process/orders.ts'

/** The variable that tells a child the number of this process; gone before the application reads the environment. */
export const variable = 'FRAMEWORK_SERVE'

/** When the inspector of Node.js opens: before the application is loaded, or with the go, for another has its port. */
export type Inspect = 'at once' | 'later'

/** What a version has ended by. */
export interface Crash {
  readonly said: string
  /** Where in the application, so far as that is known. */
  readonly place?: string
}

/** What goes with the word to load the application. */
export interface Load {
  readonly inspect?: Inspect
  /** The token of the inspector, where servers are to have one. */
  readonly inspector?: string
  readonly log: LogForm
  /** What the version before it has failed with, which was shown. */
  readonly failure?: Crash
}

/** Texts that stores keep, by the name of the store. */
export type StoreContents = { readonly [store: string]: HandedOver }

/** To a child. Named by its first member: an application may use the channel too. */
export type Order =
  /** The word to load the application. */
  | ({ readonly framework: 'load' } & Load)
  /** The port is free: listen, with what the version before has left. */
  | { readonly framework: 'go'; readonly left: StoreContents }
  | { readonly framework: 'stop'; readonly signal: EndSignal }

/** From a child. */
export type News =
  /** Its packages could not be read; later they may be there. */
  | { readonly framework: 'unfit' }
  /** It has booted and waits at `listen()`. */
  | { readonly framework: 'booted' }
  | {
      readonly framework: 'listening'
      readonly url: string
      readonly port: number
      readonly plugins: PluginNode
      readonly pages: readonly Page[]
    }
  /** What it ends by, and has shown, unless the version before had failed with the same. */
  | { readonly framework: 'crashed'; readonly failure: Crash }
  /** A text that a store keeps, and has no longer where there is none. */
  | {
      readonly framework: 'kept'
      readonly store: string
      readonly id: string
      readonly text?: string
      readonly until?: number
    }
  /** Another process has a port that it opens while it is loaded. */
  | { readonly framework: 'taken' }
  /** `listen()` rejects. */
  | { readonly framework: 'failed'; readonly message: string }

export const isNews = (message: unknown): message is News => isNamed(message)
export const isOrder = (message: unknown): message is Order => isNamed(message)

/** Whether a version has failed as the one before it has: with the same words, at the same place. */
export const isSameCrash = (one: Crash, other: Crash | undefined): boolean =>
  one.said === other?.said && one.place === other.place
