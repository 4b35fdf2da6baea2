import type { Version } from './child.ts'

/** A process that has loaded everything except the application, and will become the next version. */
export interface Spare {
  /** Starts a spare process if there is none. */
  keep(): void
  /** Returns the spare process for use, if there is one. */
  take(): Version | undefined
  /** Ends the spare process, whose packages are outdated. */
  drop(): void
}

export function makeSpare(spawn: () => Version): Spare {
  let spare: Version | undefined
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
