import type { PluginNode } from '../../kernel/inspection.ts'
import type { Page } from '../../plugins/shared/development/pages.ts'
import type { HandedOver } from '../../plugins/shared/environment/handover.ts'
import type { LogForm } from '../../plugins/shared/terminal/form.ts'

/** The variable with the id of this process, for a child; it is removed before the application reads the environment. */
export const variable = 'FRAMEWORK_SERVE'

/** When the inspector of Node.js opens: before the application is loaded, or with the go, because another process has its port. */
export type Inspect = 'at once' | 'later'

/** The failure that has ended a version. */
export interface Crash {
  readonly said: string
  /** The place in the application, if that is known. */
  readonly place?: string
}

/** Strings that stores keep, by the name of the store. */
export type StoreContents = { readonly [store: string]: HandedOver }

/** A message to a child, marked by its first member: an application may also use the channel. */
export type Order =
  /** The order to load the application. */
  | {
      readonly framework: 'load'
      readonly inspect?: Inspect
      /** The token of the inspector, if servers should have one. */
      readonly inspector?: string
      readonly log: LogForm
      /** The failure of the previous version, which was shown. */
      readonly failure?: Crash
    }
  /** The port is free: listen, with the data of the previous version. */
  | { readonly framework: 'go'; readonly left: StoreContents }
  /** Its address was shown: it may go on. */
  | { readonly framework: 'shown' }

/** A message from a child. */
export type News =
  /** Its packages could not be loaded; they may be available later. */
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
  /** Its failure, which it has shown unless the previous version had failed in the same way. */
  | { readonly framework: 'crashed'; readonly failure: Crash }
  /** A string that a store keeps; without the string, the entry is removed. */
  | {
      readonly framework: 'kept'
      readonly store: string
      readonly id: string
      readonly text?: string
      readonly until?: number
    }
  /** Another process has a port that it opens while it is loaded. */
  | { readonly framework: 'taken' }
  /** `listen()` rejects, which the application may handle. */
  | { readonly framework: 'failed'; readonly message: string }

/** A change in the data of a store. */
export type Kept = Extract<News, { framework: 'kept' }>

/** Whether a version has failed like the previous one: with the same message, at the same place. */
export const isSameCrash = (one: Crash, other: Crash | undefined): boolean =>
  one.said === other?.said && one.place === other.place
