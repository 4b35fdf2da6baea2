/** Internal route options: what decorators ask of the plugin for a route. */
export const checks = Symbol('framework.controllers.checks')
export const serialized = Symbol('framework.controllers.serialized')
