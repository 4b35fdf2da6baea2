import type { Logger } from '../../kernel/index.ts'
import { type AnyClass, type DecoratedMethod, decorator, type MethodMark } from '../shared/decorators/decorator.ts'
import { QueueHandlerError } from '../shared/engines/errors.ts'
import { madeIn } from '../shared/values/memoize.ts'
import { instanceStandIn, memberUsed } from '../shared/work/service-classes.ts'
import type { QueueHandler } from './batch.ts'

/** A method that receives the messages of a queue. */
export type QueueMethod<Payload> = (payload: Payload, ...rest: never[]) => unknown

// Handlers of one class share one instance.
const instances = new WeakMap<AnyClass, object>()

const instanceOf = (cls: AnyClass): object => madeIn(instances, cls, () => new (cls as new () => object)())

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
  const method = ({ name, owner, value, whenCreated }: DecoratedMethod) => {
    if (owner !== undefined) return declare((...args) => call(instanceOf(owner), name, args))
    let newest: object | undefined
    const member = memberUsed(value)
    const lack = member === undefined ? undefined : noInstance(queue, name, member)
    if (lack !== undefined) lacking.add(lack)
    const absent = instanceStandIn({}, (one) => noInstance(queue, name, one))
    whenCreated?.((instance) => {
      newest = instance
      if (lack !== undefined) lacking.delete(lack)
    })
    declare((...args) =>
      newest === undefined ? Reflect.apply(value, absent, args as never) : call(newest, name, args),
    )
  }
  return decorator<QueueMethod<Payload>>({ name: 'subscribeMethod', method })
}
