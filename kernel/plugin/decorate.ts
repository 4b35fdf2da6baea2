import { defineError } from '../support/errors.ts'

const DecorateError = defineError(
  'DecorateError',
  500,
  (target: string, member: string, plugin: string) =>
    `the plugin "${plugin}" decorates the ${target} with "${member}", which is there already. Choose another name`,
)

/** Installs members on the class of one server's requests or responses. */
export function decorate(prototype: object, target: string, members: PropertyDescriptorMap, plugin: string): void {
  for (const [name, descriptor] of Object.entries(members)) {
    if (Object.hasOwn(prototype, name)) throw DecorateError(target, name, plugin)
    Object.defineProperty(prototype, name, { configurable: true, ...descriptor })
  }
}
