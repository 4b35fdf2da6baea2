/**
 * The work that one check may do, in steps of about ten nanoseconds. With most schemas, the work is in proportion to the value.
 * Where a schema contains itself in several branches (`anyOf` of two kinds of nodes), a small value can take twice as much work for
 * each level of nesting, and the check of a body of 1 kB would never end.
 *
 * Steps are counted and not time: a value that is refused on a busy machine is refused on every machine.
 */
const leastSteps = 1_500_000
/** A value with many parts may take this many steps for each part: the limits of bodies can be raised. */
const stepsOfPart = 30

/** The remaining steps of the running check; only one runs at a time. */
export const budget = {
  left: 0,
  /** The parts that defaults may have added to the value: these add no steps. */
  added: 0,
  /** What the check has changed in the value, and how it was. */
  changes: [] as Change[],
  /** Compiled code calls this before it changes a member. */
  changing,
  /** Compiled code calls this where a branch has failed, with the number of changes before it: they are taken back. */
  undo,
  /** Compiled code calls this when no steps are left. */
  spent,
}

let checked: unknown
let isExtended = false

/** Thrown out of a check that takes too much work. */
export class BudgetExceeded {}

/** Must be called before a check. */
export function beginBudget(value: unknown): void {
  budget.left = leastSteps
  budget.added = 0
  checked = value
  isExtended = false
}

/** Must be called after a check, so that nothing keeps the value. */
export function endBudget(): void {
  checked = undefined
  if (budget.changes.length > 0) budget.changes = []
}

interface Change {
  readonly object: object
  readonly key: PropertyKey
  readonly before: PropertyDescriptor | undefined
}

function changing(object: object, key: PropertyKey): void {
  budget.changes.push({ object, key, before: Object.getOwnPropertyDescriptor(object, key) })
}

function undo(mark: number): void {
  for (let i = budget.changes.length; i > mark; i--) {
    const { object, key, before } = budget.changes.pop()!
    if (before === undefined) Reflect.deleteProperty(object, key)
    else Object.defineProperty(object, key, before)
  }
}

/** Counts the steps of work whose amount is only known while it is being done. */
export function spend(steps: number): void {
  budget.left -= steps
  if (budget.left < 0) spent()
}

function spent(): void {
  if (!isExtended) {
    isExtended = true
    budget.left += Math.max(0, (partsOf(checked) - budget.added) * stepsOfPart - leastSteps)
  }
  if (budget.left < 0) throw new BudgetExceeded()
}

/** The number of parts of a value; a string counts as one part per 16 characters. Not recursive: the nesting may be unlimited. */
export function partsOf(value: unknown): number {
  let parts = 0
  const seen = new Set<object>()
  const open = [value]
  while (open.length > 0) {
    const one = open.pop()
    parts++
    if (typeof one === 'string') parts += one.length >> 4
    else if (typeof one === 'object' && one !== null && !seen.has(one)) {
      seen.add(one)
      for (const part of Object.values(one)) open.push(part)
    }
  }
  return parts
}
