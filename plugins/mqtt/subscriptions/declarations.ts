import type { MqttPublishOptions, MqttSubscribeOptions } from '../messages/message-options.ts'
import type { CheckMessage } from '../messages/schema.ts'
import type { Filter } from '../topics/filter.ts'

/** A subscription that was declared: by a call, or by a method of a class. */
export interface Declared {
  readonly filter: Filter
  readonly options: MqttSubscribeOptions
  readonly check: CheckMessage | undefined
  readonly handler: (...args: readonly unknown[]) => unknown
}

/** What has a connection. */
export interface Runner {
  /** Whether it handles what this process declares. */
  readonly isConsumer: boolean
  /** Resolves when the broker has agreed, or cannot be asked now. */
  adopt(declared: Declared): Promise<void>
  drop(declared: Declared): Promise<void>
  publish(topic: string, message: unknown, options?: MqttPublishOptions): Promise<void>
}

/** The subscriptions of this process, with who runs them. */
const declarations = new Map<Declared, Runner | undefined>()
/** Those with a connection, the oldest first: a subscription runs in one of them, not in each. */
const runners: Runner[] = []

/** Those that take nothing new: what their handlers publish still goes through them. */
const leaving = new Set<Runner>()

/** Services that are connected, or will be. */
const prospects = new Set<object>()

/** A service will handle what is declared, until `expectNoRunner`. */
export function expectRunner(service: object): void {
  prospects.add(service)
}

export function expectNoRunner(service: object): void {
  prospects.delete(service)
}

export const isRunnerExpected = (): boolean => prospects.size > 0

const consumer = () => runners.find((runner) => runner.isConsumer && !leaving.has(runner))

/** The connection through which this process publishes. */
export const publisher = (): Runner | undefined => runners.find((runner) => !leaving.has(runner)) ?? runners[0]

export async function declare(declared: Declared): Promise<void> {
  const runner = consumer()
  declarations.set(declared, runner)
  try {
    await runner?.adopt(declared)
  } catch (error) {
    declarations.delete(declared)
    throw error
  }
}

export async function withdraw(declared: Declared): Promise<void> {
  const runner = declarations.get(declared)
  declarations.delete(declared)
  await runner?.drop(declared)
}

/** What nobody runs goes to this one. It may be called before there is a connection, and again. */
export function claim(runner: Runner): Declared[] {
  if (!runner.isConsumer) return []
  const claimed = [...declarations].filter(([, by]) => by === undefined).map(([declared]) => declared)
  for (const declared of claimed) declarations.set(declared, runner)
  return claimed
}

export function openRunner(runner: Runner): void {
  runners.push(runner)
}

export function closeRunner(runner: Runner): void {
  const index = runners.indexOf(runner)
  if (index !== -1) runners.splice(index, 1)
  leaving.delete(runner)
}

/** Its subscriptions go to the next one, or wait for one. */
export function leaveRunner(runner: Runner): void {
  if (runners.includes(runner)) leaving.add(runner)
  for (const [declared, by] of declarations) if (by === runner) declarations.set(declared, undefined)
  const next = consumer()
  // Nobody waits for these: what fails is told where subscriptions fail.
  if (next !== undefined) for (const declared of claim(next)) next.adopt(declared).catch(() => {})
}
