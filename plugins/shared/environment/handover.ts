import { processWide } from './process-wide.ts'

/** The data that a store of this process passes to the next process: strings by id, each with an expiry. */
export type HandedOver = readonly (readonly [id: string, text: string, until: number])[]

/** Receives the changes of a store. */
export interface HandoverWriter {
  /** Sets an entry; `until` is in milliseconds since 1970. */
  set(id: string, text: string, until: number): void
  delete(id: string): void
  /** Resolves when all changes have been received, for a writer to which that takes time. */
  sent?(): Promise<void> | undefined
}

/** Keeps the data of in-memory stores from one version of an application to the next, in development. */
export interface Handover {
  /** Opens a store; `restore` receives the data of the previous version before the server listens. */
  open(store: string, restore: (entries: HandedOver) => void): HandoverWriter
}

/** The handover, which exists only under `framework serve`. */
export const { get: handover, set: setHandover } = processWide<Handover>('handover')
