import type { AnyClass } from './notes.ts'

type ClassWork = (cls: AnyClass) => void

/**
 * The work to do for a class whose compiler does not report when its last decorator has run: with `experimentalDecorators`,
 * and with compilers of the standard form without `addInitializer`.
 *
 * It is done after each decorator and undone before the next, so that a policy above a controller applies just like one
 * below it. If a decorator throws, the work stays undone: a route of that class would lack that decorator's effect.
 */
export class Completion {
  readonly #work: { readonly run: ClassWork; readonly undo: ClassWork | undefined }[] = []
  #done = 0

  add(run: ClassWork, undo?: ClassWork): void {
    this.#work.push({ run, undo })
  }

  /** Runs one decorator of the class. */
  around(cls: AnyClass, decorate: () => void): void {
    this.#undo(cls)
    try {
      decorate()
      for (const { run } of this.#work) {
        run(cls)
        this.#done++
      }
    } catch (error) {
      this.#undo(cls)
      throw error
    }
  }

  #undo(cls: AnyClass): void {
    while (this.#done > 0) this.#work[--this.#done]!.undo?.(cls)
  }
}

const completions = new WeakMap<object, Completion>()

export function completionOf(cls: AnyClass): Completion {
  const there = completions.get(cls.prototype)
  if (there !== undefined) return there
  const made = new Completion()
  completions.set(cls.prototype, made)
  return made
}
