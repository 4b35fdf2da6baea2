import type { PluginNode } from '../../kernel/plugin/tree.ts'

/** The variable that tells the preload of a child what it is in; gone before the application reads the environment. */
export const variable = 'FRAMEWORK_SERVE'

/** What it says. */
export interface Assignment {
  /** Opens the inspector of Node.js, at once or, where another version still holds its port, with the go. */
  readonly inspect?: 'at once' | 'later'
}

/** Why a process ends; the application sees it as a signal. */
export type EndSignal = 'SIGTERM' | 'SIGINT' | 'SIGHUP'

/** To a child. Named by its first member: an application may use the channel too. */
export type Order =
  /** The port is free: listen. */
  { readonly framework: 'go' } | { readonly framework: 'stop'; readonly signal: EndSignal }

/** From a child. */
export type News =
  /** It has booted and waits at `listen()`. */
  | { readonly framework: 'booted' }
  | { readonly framework: 'listening'; readonly url: string; readonly port: number; readonly plugins: PluginNode }
  /** `listen()` rejects. */
  | { readonly framework: 'failed'; readonly message: string }

export const isNews = (message: unknown): message is News => isNamed(message)
export const isOrder = (message: unknown): message is Order => isNamed(message)

const isNamed = (message: unknown) => typeof message === 'object' && message !== null && 'framework' in message
