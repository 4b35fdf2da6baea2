/** What a store of this process gives to the process after it: texts by id, each until some time. */
export type HandedOver = readonly (readonly [id: string, text: string, until: number])[]

/** Where a store says what has changed in it. */
export interface HandoverWriter {
  /** `until`: milliseconds since 1970. */
  set(id: string, text: string, until: number): void
  delete(id: string): void
}

/** Keeps what stores have in memory from one version of an application to the next, while it is developed. */
export interface Handover {
  /** `restore` gets what the version before has left, before the server listens. */
  open(store: string, restore: (entries: HandedOver) => void): HandoverWriter
}

// A development server brings it before it loads the application, which may have another copy of this package.
const mark = Symbol.for('framework.handover')

export function setHandover(handover: Handover): void {
  Object.assign(globalThis, { [mark]: handover })
}

/** There is one under `framework serve`, and nowhere else. */
export function handover(): Handover | undefined {
  return (globalThis as { readonly [mark]?: Handover })[mark]
}
