import type { Declared } from './declarations.ts'

/**
 * One job of this process, whichever service runs it, and whether it is running: a service that takes it over from another respects
 * its `overlap` while the last run in the other goes on.
 */
export class Activity {
  /** The declaration by its handle; a method has one in each service, with an instance of its own. */
  readonly ofHandle: (() => Declared) | undefined
  readonly #runs = new Set<object>()
  readonly #waiting: (() => void)[] = []

  constructor(ofHandle?: () => Declared) {
    this.ofHandle = ofHandle
  }

  get isBusy(): boolean {
    return this.#runs.size > 0
  }

  /** Returns the function that ends this run; a second call does nothing. */
  begin(): () => void {
    const run = {}
    this.#runs.add(run)
    return () => {
      if (this.#runs.delete(run) && !this.isBusy) for (const goOn of this.#waiting.splice(0)) goOn()
    }
  }

  /** Calls once no run is active. */
  whenFree(goOn: () => void): void {
    this.#waiting.push(goOn)
  }
}
