import type { Logger } from '../../kernel/index.ts'
import { decorator, type MethodMark } from '../shared/decorators/decorator.ts'
import { QueueHandlerError } from '../shared/engines/errors.ts'
import { madeIn } from '../shared/values/memoize.ts'
import { instanceStandIn, memberUsed } from '../shared/work/service-classes.ts'
import type { QueueHandler } from './batch.ts'

/** A method that receives the messages of a queue. */
export type QueueMethod<Payload> = (payload: Payload, ...rest: never[]) => unknown

interface MethodContext {
  readonly name: PropertyKey
  addInitializer(run: (this: object) => void): void
}

// Handlers of one class share one instance.
const instances = new WeakMap<object, object>()

const instanceOf = (prototype: object): object =>
  madeIn(instances, prototype, () => new (prototype.constructor as new () => object)())

const call = (instance: object, name: PropertyKey, args: readonly unknown[]): unknown =>
  (instance as Record<PropertyKey, (...args: readonly unknown[]) => unknown>)[name]!(...args)

const noInstance = (queue: string, method: PropertyKey, member: string) =>
  QueueHandlerError(
    queue,
    `the method ${String(method)} uses this.${member}, but its class has no instance. Create one at startup: new …()`,
  )

/** The errors of methods that name a member of their instance, until there is one. */
const lacking = new Set<Error>()

/** Logs each method that has no instance although it needs one, once. Called when the workers start. */
export function reportLacking(log: Logger): void {
  for (const error of lacking) log.error({ err: error }, error.message)
  lacking.clear()
}

/**
 * Makes a method the handler of a queue, under either decorator protocol.
 *
 * Standard decorators do not know the class until there is an instance, so the newest instance is used. Legacy decorators do, so
 * an instance is created without arguments when the first message comes.
 */
export function methodDecorator<Payload>(
  queue: string,
  declare: (handler: QueueHandler<Payload>) => void,
): MethodMark<QueueMethod<Payload>> {
  // Refuses everything but instance methods, with the same message as every other decorator.
  const mark = decorator({ name: 'subscribeMethod', method: () => {} }) as (...args: readonly unknown[]) => void
  return (first: unknown, second: unknown, third?: unknown): void => {
    mark(first, second, third)
    if (typeof second !== 'object' || second === null) {
      const [prototype, name] = [first as object, second as PropertyKey]
      declare((...args) => call(instanceOf(prototype), name, args))
      return
    }
    const { name, addInitializer } = second as MethodContext
    let newest: object | undefined
    const method = first as (...args: readonly unknown[]) => unknown
    const member = memberUsed(method)
    const lack = member === undefined ? undefined : noInstance(queue, name, member)
    if (lack !== undefined) lacking.add(lack)
    const absent = instanceStandIn({}, (one) => noInstance(queue, name, one))
    addInitializer?.call(second, function remember() {
      newest = this
      if (lack !== undefined) lacking.delete(lack)
    })
    declare((...args) => (newest === undefined ? method.apply(absent, args) : call(newest, name, args)))
  }
}
