import { type ClassMark, decorator, type MethodMark, Notes, routeDecorator } from 'framework/kernel'
import type { Equal, Expect } from './expect.ts'

const notes = new Notes<string>()
const both = decorator({ name: 'both', class: (on) => notes.add(on, 'a'), method: (on) => notes.add(on, 'b') })
const classes = decorator({ name: 'classes', class: (on) => on.whenDefined((cls) => cls.name) })
type Job = (payload: string) => Promise<void>
const jobs = decorator<Job>({ name: 'jobs', method: (on) => notes.add(on, String(on.name)) })
const cached = routeDecorator('cached', { apidoc: { summary: 'cached' } })

export type Checks = [
  Expect<Equal<typeof both, ClassMark & MethodMark>>,
  Expect<Equal<typeof classes, ClassMark>>,
  Expect<Equal<typeof jobs, MethodMark<Job>>>,
]

@both
@classes
@cached
export class Good {
  @both any(_a: number, _b: string) {}
  @cached symbol() {}
  @jobs async run(payload: string) {
    await payload
  }
  @jobs async fewer() {}
  // @ts-expect-error another payload
  @jobs async wrong(payload: number) {
    await payload
  }
  // @ts-expect-error not for methods
  @classes method() {}
  // @ts-expect-error a field
  @both field = 1
}

// @ts-expect-error not for classes
@jobs
export class Wrong {}

// @ts-expect-error no route option
routeDecorator('typo', { apidocs: {} })
// @ts-expect-error another kind of note
decorator({ name: 'note', method: (on) => notes.add(on, 1) })
