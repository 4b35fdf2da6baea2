import type { ServiceStore, Services } from '../../../kernel/index.ts'

/** Work that has begun or waits to begin. */
export interface OpenWork {
  /** Which work: `the message 7 of the queue "receipts"`. */
  readonly what: string
  /** When it begins by itself, if that is later: it waits for the clock. */
  readonly due?: Date | undefined
  /** Whether it is left to another process. */
  readonly isElsewhere?: boolean
}

declare module '../../../kernel/plugin/define.ts' {
  interface PluginData {
    /** The work of this plugin that is not over, other than what its `work` reports. For `settled()` of `framework/testing`. */
    openWork?(services: ServiceStore & Partial<Services>): readonly OpenWork[] | Promise<readonly OpenWork[]>
  }
}
