import type { Declared } from './declarations.ts'

/**
 * One job of this process, and whether it is running in any service: a service that takes over a job from another one respects the
 * job's `overlap` while the last run in the other service continues.
 */
export class Activity {
  /** Returns the handle's declaration. Only for handles: a method has a declaration in each service, with its own instance. */
  readonly ofHandle: (() => Declared) | undefined
  readonly #runs = new Set<object>()
  readonly #waiting: (() => void)[] = []

  constructor(ofHandle?: () => Declared) {
    this.ofHandle = ofHandle
  }

  get isBusy(): boolean {
    return this.#runs.size > 0
  }

  /** Begins a run, and returns the function that ends it; a second call of that function does nothing. */
  begin(): () => void {
    const run = {}
    this.#runs.add(run)
    return () => {
      if (this.#runs.delete(run) && !this.isBusy) for (const goOn of this.#waiting.splice(0)) goOn()
    }
  }

  /** Calls the function once no run is active. */
  whenFree(goOn: () => void): void {
    this.#waiting.push(goOn)
  }
}
