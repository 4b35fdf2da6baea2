import type { Child } from './child.ts'

/** A process that has everything ready but the application, and is the next version. */
export interface Spare {
  /** Starts one where there is none. */
  keep(): void
  /** Gives it away, where there is one. */
  take(): Child | undefined
  /** Ends it: what it has read is no longer so. */
  drop(): void
}

export function makeSpare(spawn: () => Child): Spare {
  let spare: Child | undefined
  const drop = () => {
    spare?.kill()
    spare = undefined
  }
  return {
    drop,
    take() {
      const child = spare
      spare = undefined
      return child
    },
    keep() {
      if (spare !== undefined) return
      const child = spawn()
      spare = child
      void child.unfit.then(() => spare === child && drop())
      void child.ended.then(() => {
        if (spare === child) spare = undefined
      })
    },
  }
}
